package sonde.lang.output;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import sonde.lang.type.Field;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/**
 * The contents of a map at one moment.
 *
 * @param name as the script spells it, with the at sign
 * @param scalar whether the script gives no key; there is one row then, or none
 * @param key of the rows; of scalar maps not looked at
 * @param rows in any order
 */
public record MapRows(String name, boolean scalar, Type key, Type value, List<Row> rows) {
    public MapRows {
        rows = List.copyOf(rows);
    }

    /**
     * A key and its value.
     *
     * @param value of aggregates that of all CPUs together, see {@link Aggregates#merge}
     */
    public record Row(byte[] key, byte[] value) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Row that
                    && Arrays.equals(key, that.key)
                    && Arrays.equals(value, that.value);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(key);
        }

        @Override
        public String toString() {
            return Arrays.toString(key) + ": " + Arrays.toString(value);
        }
    }

    /** How rows follow each other. Equal ones follow by key. */
    public enum Order {
        /** As bpftrace does: numbers and aggregates by value, all else by key. */
        DEFAULT,
        KEY,
        KEY_DESCENDING,
        VALUE,
        VALUE_DESCENDING
    }

    /** How a row is written. */
    public enum Form {
        /** As bpftrace does. */
        USUAL,
        /** Comma separated values. */
        CSV,
        /** {@code comm;main;work 12}, for flame graphs; all else goes to the messages. */
        FOLDED
    }

    /**
     * How maps are printed.
     *
     * @param order where the script asks for none
     * @param form of the rows
     * @param parts in which order stacks and texts of a key are folded; none: by kind
     * @param isOfMaps whether maps are all there is: no texts that the script prints for people
     * @param remedy how a map gets more room
     */
    public record Style(
            Order order, Form form, List<String> parts, boolean isOfMaps, String remedy) {
        /** As bpftrace does. */
        public static final Style USUAL = new Style(Order.DEFAULT, Form.USUAL);

        public Style {
            parts = List.copyOf(parts);
        }

        /** Whatever the script prints, too. */
        public Style(Order order, Form form, List<String> parts) {
            this(
                    order,
                    form,
                    parts,
                    false,
                    "Try increasing max_map_keys config or manually setting the max entries in a"
                            + " map declaration e.g. `let @a = hash(5000)`");
        }

        /** Without parts. */
        public Style(Order order, Form form) {
            this(order, form, List.of());
        }

        /**
         * The same for people who do not see the script.
         *
         * @param maps whether maps are all there is
         * @param roomier how a map gets more room
         */
        public Style ofTool(boolean maps, String roomier) {
            return new Style(order, form, parts, maps, roomier);
        }

        /** What is said where a map has no room. */
        String full() {
            return "Map full; can't update element. " + remedy;
        }

        Order order(Order asked) {
            return asked == Order.DEFAULT ? order : asked;
        }
    }

    /** By what a row is sorted. */
    private record Weighed(Row row, long weight) {}

    /** Whether the values take several lines. */
    boolean isTall() {
        return value instanceof Type.Hist
                || value instanceof Type.Lhist
                || value instanceof Type.Series;
    }

    /**
     * The rows in order.
     *
     * @param top how many: the last ones, in a descending order the first; 0 for all. Series are
     *     never left out
     */
    public List<Row> ordered(Order order, int top) {
        Comparator<Weighed> byKey = (a, b) -> compareKeys(key, a.row.key, 0, b.row.key, 0);
        Comparator<Weighed> byValue =
                hasUnsignedWeight()
                        ? (a, b) -> Long.compareUnsigned(a.weight, b.weight)
                        : Comparator.comparingLong(Weighed::weight);
        if (!hasWeight()) {
            byValue = (a, b) -> compareKeys(value, a.row.value, 0, b.row.value, 0);
        }
        Comparator<Weighed> comparator =
                switch (order) {
                    case DEFAULT -> hasWeight() ? byValue.thenComparing(byKey) : byKey;
                    case KEY -> byKey;
                    case KEY_DESCENDING -> byKey.reversed();
                    case VALUE -> byValue.thenComparing(byKey);
                    case VALUE_DESCENDING -> byValue.reversed().thenComparing(byKey);
                };
        List<Weighed> weighed = new ArrayList<>(rows.size());
        for (Row row : rows) {
            weighed.add(new Weighed(row, weight(row.value)));
        }
        weighed.sort(comparator);
        int count = weighed.size();
        if (top > 0 && top < count && !(value instanceof Type.Series)) {
            boolean descending = order == Order.KEY_DESCENDING || order == Order.VALUE_DESCENDING;
            weighed = weighed.subList(descending ? 0 : count - top, descending ? top : count);
        }
        return weighed.stream().map(Weighed::row).toList();
    }

    private boolean hasWeight() {
        return value instanceof Type.Aggregate
                || value instanceof Type.Int
                || value instanceof Type.Enum;
    }

    private boolean hasUnsignedWeight() {
        return switch (value) {
            case Type.Int type -> !type.signed();
            // bpftrace compares extremes without their sign.
            case Type.Extreme _, Type.Series _ -> true;
            case Type.Aggregate type -> !Aggregates.signed(type);
            case Type _ -> true;
        };
    }

    private long weight(byte[] bytes) {
        return switch (value) {
            case Type.Int type -> ValueBytes.integer(bytes, 0, type.sizeBytes(), type.signed());
            case Type.Enum type -> ValueText.number(type, bytes, 0);
            case Type.Series type -> SeriesTable.of(type, bytes, 0).latest();
            case Type.Aggregate type -> Aggregates.number(type, bytes, 0);
            case Type _ -> 0;
        };
    }

    /** Of series: the last interval that any row has a value of. */
    long latest() {
        long latest = 0;
        for (Row row : rows) {
            long weight = weight(row.value);
            latest = Long.compareUnsigned(weight, latest) > 0 ? weight : latest;
        }
        return latest;
    }

    /** Integers by number with sign, texts by bytes, tuples member by member, else by bytes. */
    private static int compareKeys(Type type, byte[] a, int atA, byte[] b, int atB) {
        return switch (type) {
            case Type.Int integer when integer.sizeBytes() <= 8 ->
                    integers(integer.sizeBytes(), a, atA, b, atB);
            case Type.Enum constant -> integers(constant.sizeBytes(), a, atA, b, atB);
            case Type.Pointer _ ->
                    Long.compareUnsigned(ValueBytes.u64(a, atA), ValueBytes.u64(b, atB));
            case Tuple tuple -> {
                for (Field field : tuple.fields()) {
                    int at = field.offsetBytes();
                    int order = compareKeys(field.type(), a, atA + at, b, atB + at);
                    if (order != 0) {
                        yield order;
                    }
                }
                yield 0;
            }
            case Type _ ->
                    Arrays.compareUnsigned(
                            ValueBytes.slice(a, atA, type.sizeBytes()),
                            ValueBytes.slice(b, atB, type.sizeBytes()));
        };
    }

    private static int integers(int sizeBytes, byte[] a, int atA, byte[] b, int atB) {
        return Long.compare(
                ValueBytes.integer(a, atA, sizeBytes, true),
                ValueBytes.integer(b, atB, sizeBytes, true));
    }
}
