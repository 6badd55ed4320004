package sonde.lang.output;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.ExtremeType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.SeriesType;

/**
 * The contents of a map at one moment.
 *
 * @param name as the script spells it, with the at sign
 * @param scalar whether the script gives no key; there is one row then, or none
 * @param key of the rows; of scalar maps not looked at
 * @param rows in any order
 */
public record MapRows(
        String name, boolean scalar, ValueType key, ValueType value, List<MapRow> rows) {
    public MapRows {
        rows = List.copyOf(rows);
    }

    /**
     * A key and its value.
     *
     * @param value of aggregates that of all CPUs together, see {@link AggregateValues#merge}
     */
    public record MapRow(byte[] key, byte[] value) {
        @Override
        public boolean equals(Object other) {
            return other instanceof MapRow that
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
    public enum MapOrder {
        /** As bpftrace does: numbers and aggregates by value, all else by key. */
        DEFAULT,
        KEY,
        KEY_DESCENDING,
        VALUE,
        VALUE_DESCENDING
    }

    /** How a row is written. */
    public enum RowForm {
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
     * @param isOfTool whether a row is one line, whatever its values hold
     */
    public record MapStyle(
            MapOrder order,
            RowForm form,
            List<String> parts,
            boolean isOfMaps,
            String remedy,
            boolean isOfTool) {
        /** As bpftrace does. */
        public static final MapStyle USUAL = new MapStyle(MapOrder.DEFAULT, RowForm.USUAL);

        public MapStyle {
            parts = List.copyOf(parts);
        }

        /** Whatever the script prints, too. */
        public MapStyle(MapOrder order, RowForm form, List<String> parts) {
            this(
                    order,
                    form,
                    parts,
                    false,
                    "Try increasing max_map_keys config or manually setting the max entries in a"
                            + " map declaration e.g. `let @a = hash(5000)`",
                    false);
        }

        /** Without parts. */
        public MapStyle(MapOrder order, RowForm form) {
            this(order, form, List.of());
        }

        /**
         * The same for people who do not see the script.
         *
         * @param maps whether maps are all there is
         * @param roomier how a map gets more room
         */
        public MapStyle ofTool(boolean maps, String roomier) {
            return new MapStyle(order, form, parts, maps, roomier, true);
        }

        /** What is said where a map has no room. */
        String full() {
            return "Map full; can't update element. " + remedy;
        }

        MapOrder order(MapOrder asked) {
            return asked == MapOrder.DEFAULT ? order : asked;
        }
    }

    /** A row and the number by which it is sorted. */
    private record WeighedRow(MapRow row, long weight) {}

    /** Whether the values take several lines. */
    boolean isTall() {
        return value instanceof HistType
                || value instanceof LhistType
                || value instanceof SeriesType;
    }

    /**
     * The rows in order.
     *
     * @param top how many: the last ones, in a descending order the first; 0 for all. Series are
     *     never left out
     */
    public List<MapRow> ordered(MapOrder order, int top) {
        Comparator<WeighedRow> byKey = (a, b) -> compareKeys(key, a.row.key, 0, b.row.key, 0);
        Comparator<WeighedRow> byValue =
                hasUnsignedWeight()
                        ? (a, b) -> Long.compareUnsigned(a.weight, b.weight)
                        : Comparator.comparingLong(WeighedRow::weight);
        if (!hasWeight()) {
            byValue = (a, b) -> compareKeys(value, a.row.value, 0, b.row.value, 0);
        }
        Comparator<WeighedRow> comparator =
                switch (order) {
                    case DEFAULT -> hasWeight() ? byValue.thenComparing(byKey) : byKey;
                    case KEY -> byKey;
                    case KEY_DESCENDING -> byKey.reversed();
                    case VALUE -> byValue.thenComparing(byKey);
                    case VALUE_DESCENDING -> byValue.reversed().thenComparing(byKey);
                };
        List<WeighedRow> weighed = new ArrayList<>(rows.size());
        for (MapRow row : rows) {
            weighed.add(new WeighedRow(row, weight(row.value)));
        }
        weighed.sort(comparator);
        int count = weighed.size();
        if (top > 0 && top < count && !(value instanceof SeriesType)) {
            boolean descending =
                    order == MapOrder.KEY_DESCENDING || order == MapOrder.VALUE_DESCENDING;
            weighed = weighed.subList(descending ? 0 : count - top, descending ? top : count);
        }
        return weighed.stream().map(WeighedRow::row).toList();
    }

    private boolean hasWeight() {
        return value instanceof AggregateType
                || value instanceof IntType
                || value instanceof EnumType;
    }

    private boolean hasUnsignedWeight() {
        return switch (value) {
            case IntType type -> !type.signed();
            // bpftrace compares extremes without their sign.
            case ExtremeType _, SeriesType _ -> true;
            case AggregateType type -> !AggregateValues.signed(type);
            case ValueType _ -> true;
        };
    }

    private long weight(byte[] bytes) {
        return switch (value) {
            case IntType type -> ValueBytes.integer(bytes, 0, type.sizeBytes(), type.signed());
            case EnumType type -> ValueText.number(type, bytes, 0);
            case SeriesType type -> SeriesTable.of(type, bytes, 0).latest();
            case AggregateType type -> AggregateValues.number(type, bytes, 0);
            case ValueType _ -> 0;
        };
    }

    /** The last interval in which a row of these series has a value. */
    long latest() {
        long latest = 0;
        for (MapRow row : rows) {
            long weight = weight(row.value);
            latest = Long.compareUnsigned(weight, latest) > 0 ? weight : latest;
        }
        return latest;
    }

    /** Integers by number with sign, texts by bytes, tuples member by member, else by bytes. */
    private static int compareKeys(ValueType type, byte[] a, int atA, byte[] b, int atB) {
        return switch (type) {
            case IntType integer when integer.sizeBytes() <= 8 ->
                    integers(integer.sizeBytes(), a, atA, b, atB);
            case EnumType constant -> integers(constant.sizeBytes(), a, atA, b, atB);
            case PointerType _ ->
                    Long.compareUnsigned(ValueBytes.u64(a, atA), ValueBytes.u64(b, atB));
            case TupleType tuple -> {
                for (TypeField field : tuple.fields()) {
                    int at = field.offsetBytes();
                    int order = compareKeys(field.type(), a, atA + at, b, atB + at);
                    if (order != 0) {
                        yield order;
                    }
                }
                yield 0;
            }
            case ValueType _ ->
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
