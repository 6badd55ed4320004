package sonde.lang.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import sonde.lang.output.MapRows.MapOrder;
import sonde.lang.output.MapRows.MapRow;
import sonde.lang.type.StructType;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.TypeField.FieldPlace;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.BytesType;
import sonde.lang.type.ValueType.CountType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.ExtremeType;
import sonde.lang.type.ValueType.FloatType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.SeriesType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.SpecialValue;
import sonde.lang.type.ValueType.StackType;
import sonde.lang.type.ValueType.SumType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;
import sonde.testkit.Json;
import sonde.testkit.Property;

/** Whatever the bytes are, there is a text without control characters, and JSON that parses. */
final class ScriptOutputPropertyTest {
    private static final ValueNames NAMES = new MachineNames();

    @Test
    void valuesOfAnyType() {
        Property.forAll(1, 3_000, ScriptOutputPropertyTest::value);
    }

    private static void value(RandomGenerator random) {
        ValueType type = any(random, 3);
        byte[] bytes = bytes(random, type);
        int offset = random.nextInt(3);
        String text = ValueText.text(type, bytes, offset, NAMES);
        assertThat(text.chars().filter(c -> c < ' ' && c != '\n' && c != '\t' || c == 0x7f))
                .isEmpty();
        Json.parse(JsonValueText.text(type, bytes, offset, NAMES));
    }

    @Test
    void mapsOfAnyType() {
        Property.forAll(1, 1_000, ScriptOutputPropertyTest::map);
    }

    private static void map(RandomGenerator random) {
        ValueType key = any(random, 1);
        ValueType value = any(random, 1);
        List<MapRow> rows = new ArrayList<>();
        boolean scalar = random.nextInt(4) == 0;
        for (int i = scalar ? random.nextInt(2) : random.nextInt(9); i > 0; i--) {
            byte[] bytes = bytes(random, value);
            if (value instanceof AggregateType aggregate) {
                bytes = AggregateValues.merge(aggregate, bytes, random.nextInt(1, 99), 3);
            }
            rows.add(new MapRow(bytes(random, key), bytes));
        }
        MapRows map = new MapRows("@\"", scalar, key, value, rows);
        MapOrder order = MapOrder.values()[random.nextInt(5)];
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
        Property.forAll(1, 3_000, ScriptOutputPropertyTest::format);
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
        List<ValueType> types = new ArrayList<>();
        for (int i = format.count() + random.nextInt(-1, 2); i > 0; i--) {
            types.add(any(random, 1));
        }
        format.check(types);
        TupleType arguments = TupleType.of(types);
        byte[] bytes = bytes(random, arguments);
        assertThat(format.render(arguments, bytes, 0, NAMES)).isNotNull();
        String line = Printed.json(out -> out.printf(format, arguments, bytes, 0));
        assertThat(Json.at(Json.parse(line.strip()), "data")).isInstanceOf(String.class);
        assertThat(StrftimeFormat.format(text.toString(), random.nextLong(), ZoneOffset.UTC))
                .isNotNull();
    }

    private static byte[] bytes(RandomGenerator random, ValueType type) {
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
    private static ValueType any(RandomGenerator random, int depth) {
        return random.nextInt(3) == 0 ? aggregate(random) : type(random, depth);
    }

    private static ValueType aggregate(RandomGenerator random) {
        boolean flag = random.nextBoolean();
        int count = random.nextInt(6);
        return switch (random.nextInt(6)) {
            case 0 -> flag ? new CountType() : new SumType(random.nextBoolean());
            case 1 -> new ExtremeType(flag, random.nextBoolean());
            case 2 -> new AverageType(flag, random.nextBoolean());
            case 3 -> new HistType(count);
            case 4 -> new LhistType(-count * 1024L, 7 * 512, 1L << random.nextInt(8, 12));
            default ->
                    new SeriesType(
                            1L << random.nextInt(40),
                            random.nextInt(1, 9),
                            flag,
                            ValueType.SeriesKind.values()[random.nextInt(5)]);
        };
    }

    private static ValueType type(RandomGenerator random, int depth) {
        boolean flag = random.nextBoolean();
        int count = random.nextInt(6);
        return switch (random.nextInt(depth > 0 ? 15 : 10)) {
            case 0 -> new IntType(1 << random.nextInt(5), flag, random.nextBoolean());
            case 1 -> new BoolType();
            case 2 -> new FloatType(8);
            case 3 -> new VoidType();
            case 4 -> new TextType(random.nextInt(40));
            case 5 -> new BytesType(random.nextInt(40));
            case 6 -> new PointerType(new VoidType(), PointerSpace.USER);
            case 7 ->
                    new EnumType("e", 1 << random.nextInt(4), flag, Map.of(0L, "N\033", -1L, "M"));
            case 8 ->
                    new SpecialType(
                            SpecialValue.values()[random.nextInt(SpecialValue.values().length)]);
            case 9 ->
                    new StackType(
                            flag,
                            ValueType.StackMode.values()[random.nextInt(4)],
                            random.nextInt(5));
            case 10, 11 -> new ArrayType(type(random, depth - 1), count);
            case 12 -> struct(random, count, depth);
            default -> {
                List<ValueType> types = new ArrayList<>();
                List<String> names = new ArrayList<>();
                for (int i = 0; i < count; i++) {
                    types.add(type(random, depth - 1));
                    names.add("n" + i);
                }
                yield flag ? TupleType.of(types) : TupleType.ofRecord(names, types);
            }
        };
    }

    private static StructType struct(RandomGenerator random, int count, int depth) {
        List<TypeField> fields = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            fields.add(
                    new TypeField(
                            random.nextInt(3) == 0 ? "" : "f" + i,
                            type(random, depth - 1),
                            random.nextInt(2_000),
                            random.nextInt(3) == 0 ? random.nextInt(65) : 0,
                            FieldPlace.values()[random.nextInt(12) == 0 ? 1 : 0]));
        }
        return new StructType("s", random.nextBoolean(), 256, 8, () -> fields);
    }
}
