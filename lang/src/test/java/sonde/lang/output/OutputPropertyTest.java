package sonde.lang.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;
import sonde.testkit.Json;
import sonde.testkit.Property;

/** Whatever the bytes are, there is a text without control characters, and JSON that parses. */
final class OutputPropertyTest {
    private static final Names NAMES = new MachineNames();

    @Test
    void valuesOfAnyType() {
        Property.forAll(1, 3_000, OutputPropertyTest::value);
    }

    private static void value(RandomGenerator random) {
        Type type = any(random, 3);
        byte[] bytes = bytes(random, type);
        int offset = random.nextInt(3);
        String text = ValueText.text(type, bytes, offset, NAMES);
        assertThat(text.chars().filter(c -> c < ' ' && c != '\n' && c != '\t' || c == 0x7f))
                .isEmpty();
        Json.parse(JsonText.text(type, bytes, offset, NAMES));
    }

    @Test
    void mapsOfAnyType() {
        Property.forAll(1, 1_000, OutputPropertyTest::map);
    }

    private static void map(RandomGenerator random) {
        Type key = any(random, 1);
        Type value = any(random, 1);
        List<MapRows.Row> rows = new ArrayList<>();
        boolean scalar = random.nextInt(4) == 0;
        for (int i = scalar ? random.nextInt(2) : random.nextInt(9); i > 0; i--) {
            byte[] bytes = bytes(random, value);
            if (value instanceof Type.Aggregate aggregate) {
                bytes = Aggregates.merge(aggregate, bytes, random.nextInt(1, 99), 3);
            }
            rows.add(new MapRows.Row(bytes(random, key), bytes));
        }
        MapRows map = new MapRows("@\"", scalar, key, value, rows);
        MapRows.Order order = MapRows.Order.values()[random.nextInt(5)];
        int top = random.nextInt(5);
        long divisor = random.nextInt(3) * 500;
        Printed.text(out -> out.map(map, order, top, divisor));
        Printed.text(out -> out.mapAtEnd(map));
        for (String line : Printed.json(out -> out.map(map, order, top, divisor)).split("\n")) {
            assertThat(line.isEmpty() ? Map.of() : Json.parse(line)).isInstanceOf(Map.class);
        }
    }

    @Test
    void formatsOfAnyText() {
        Property.forAll(1, 3_000, OutputPropertyTest::format);
    }

    private static void format(RandomGenerator random) {
        String alphabet = "%%%%%%-+ #0123*.hlLjztdiouxXcspgrhrxefn\n\u00e9 ";
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(40); i > 0; i--) {
            text.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        PrintFormat format;
        try {
            format = PrintFormat.parse(text.toString());
        } catch (FormatException e) {
            assertThat(text.charAt(e.offset())).isEqualTo('%');
            return;
        }
        List<Type> types = new ArrayList<>();
        for (int i = format.count() + random.nextInt(-1, 2); i > 0; i--) {
            types.add(any(random, 1));
        }
        format.check(types);
        Tuple arguments = Tuple.of(types);
        byte[] bytes = bytes(random, arguments);
        assertThat(format.render(arguments, bytes, 0, NAMES)).isNotNull();
        String line = Printed.json(out -> out.printf(format, arguments, bytes, 0));
        assertThat(Json.at(Json.parse(line.strip()), "data")).isInstanceOf(String.class);
        assertThat(TimeFormat.format(text.toString(), random.nextLong(), ZoneOffset.UTC))
                .isNotNull();
    }

    private static byte[] bytes(RandomGenerator random, Type type) {
        int wanted = Math.min(type.sizeBytes(), 4_000) + 4;
        byte[] bytes = new byte[random.nextInt(3) == 0 ? random.nextInt(wanted) : wanted];
        random.nextBytes(bytes);
        if (random.nextInt(3) == 0) {
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = random.nextInt(4) == 0 ? bytes[i] : 0;
            }
        }
        return bytes;
    }

    /** As a whole value or in the first level of one: a histogram's text is long. */
    private static Type any(RandomGenerator random, int depth) {
        return random.nextInt(3) == 0 ? aggregate(random) : type(random, depth);
    }

    private static Type aggregate(RandomGenerator random) {
        boolean flag = random.nextBoolean();
        int count = random.nextInt(6);
        return switch (random.nextInt(6)) {
            case 0 -> flag ? new Type.Count() : new Type.Sum(random.nextBoolean());
            case 1 -> new Type.Extreme(flag, random.nextBoolean());
            case 2 -> new Type.Average(flag, random.nextBoolean());
            case 3 -> new Type.Hist(count);
            case 4 -> new Type.Lhist(-count * 1024L, 7 * 512, 1L << random.nextInt(8, 12));
            default ->
                    new Type.Series(
                            1L << random.nextInt(40),
                            random.nextInt(1, 9),
                            flag,
                            Type.SeriesKind.values()[random.nextInt(5)]);
        };
    }

    private static Type type(RandomGenerator random, int depth) {
        boolean flag = random.nextBoolean();
        int count = random.nextInt(6);
        return switch (random.nextInt(depth > 0 ? 15 : 10)) {
            case 0 -> new Type.Int(1 << random.nextInt(5), flag, random.nextBoolean());
            case 1 -> new Type.Bool();
            case 2 -> new Type.Float(8);
            case 3 -> new Type.Void();
            case 4 -> new Type.Text(random.nextInt(40));
            case 5 -> new Type.Bytes(random.nextInt(40));
            case 6 -> new Type.Pointer(new Type.Void(), Type.Space.USER);
            case 7 ->
                    new Type.Enum("e", 1 << random.nextInt(4), flag, Map.of(0L, "N\033", -1L, "M"));
            case 8 ->
                    new Type.Named(
                            Type.Special.values()[random.nextInt(Type.Special.values().length)]);
            case 9 ->
                    new Type.Stack(
                            flag, Type.StackMode.values()[random.nextInt(4)], random.nextInt(5));
            case 10, 11 -> new Type.Array(type(random, depth - 1), count);
            case 12 -> struct(random, count, depth);
            default -> {
                List<Type> types = new ArrayList<>();
                List<String> names = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    types.add(type(random, depth - 1));
                    names.add("n" + i);
                }
                yield flag ? Tuple.of(types) : Tuple.ofRecord(names, types);
            }
        };
    }

    private static Struct struct(RandomGenerator random, int count, int depth) {
        List<Field> fields = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            fields.add(
                    new Field(
                            random.nextInt(3) == 0 ? "" : "f" + i,
                            type(random, depth - 1),
                            random.nextInt(2_000),
                            random.nextInt(3) == 0 ? random.nextInt(65) : 0,
                            Field.Place.values()[random.nextInt(12) == 0 ? 1 : 0]));
        }
        return new Struct("s", random.nextBoolean(), 256, 8, () -> fields);
    }
}
