package sonde.lang.output;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.lang.output.MapRows.MapOrder;
import sonde.lang.output.MapRows.MapRow;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.StackType;
import sonde.lang.type.ValueType.SumType;

/**
 * Maps of stacks as flame graph tools take them: {@code comm;main;work;vfs_read 12}, the outermost
 * function first. Rows that differ only in what a line does not show, as addresses in one function,
 * are added up. Without a given order the parts of a key that are no stacks come first, then the
 * user stack, then that of the kernel.
 */
final class FoldedRows {
    /** Stands between stacks of two threads. */
    private static final String BORDER = "--";

    private final List<String> order;
    private final ValueNames names;
    private final TextSink out;
    private final TextSink text = TextSink.forRows();

    /**
     * Writes.
     *
     * @param order {@code "0"} the first part of a key, {@code "-0"} innermost first, {@code "--"}
     *     a border; none: by kind
     */
    FoldedRows(List<String> order, ValueNames names, TextSink out) {
        this.order = order;
        this.names = names;
        this.out = out;
    }

    /**
     * Writes rows.
     *
     * @param top how many, see {@link MapRows#ordered}
     */
    void write(MapRows rows, MapOrder by, int top, long divisor) {
        ValueType value =
                rows.value() instanceof IntType(int size, boolean signed, _, _) && size < 8
                        ? new IntType(8, signed)
                        : rows.value();
        Map<String, MapRow> sums = new LinkedHashMap<>();
        for (MapRow row : rows.ordered(by, 0)) {
            MapRow wide = new MapRow(row.key(), widened(rows.value(), row.value()));
            sums.merge(line(rows.key(), row.key()), wide, (a, b) -> sum(value, a, b));
        }
        Map<MapRow, String> lines = new IdentityHashMap<>();
        sums.forEach((line, row) -> lines.put(row, line));
        MapRows summed =
                new MapRows(
                        rows.name(), rows.scalar(), rows.key(), value, List.copyOf(sums.values()));
        for (MapRow row : summed.ordered(by, top)) {
            text.clear();
            value(value, row.value(), divisor);
            out.foreign(lines.get(row) + " " + text);
            out.put('\n');
        }
    }

    private String line(ValueType key, byte[] bytes) {
        List<TypeField> parts =
                key instanceof TupleType tuple
                        ? tuple.fields()
                        : TupleType.of(List.of(key)).fields();
        List<String> frames = new ArrayList<>();
        boolean isNamed = order.equals(List.of(StackRows.BY_KIND));
        for (String word : order.isEmpty() || isNamed ? byKind(parts, isNamed) : order) {
            part(word, parts, bytes, frames);
        }
        return String.join(";", frames);
    }

    private static byte[] widened(ValueType type, byte[] value) {
        if (!(type instanceof IntType(int size, boolean signed, _, _)) || size >= 8) {
            return value;
        }
        byte[] wide = new byte[8];
        ValueBytes.u64(wide, 0, ValueBytes.integer(value, 0, size, signed));
        return wide;
    }

    /** Numbers and aggregates are put together; of all else the first stays. */
    private static MapRow sum(ValueType type, MapRow one, MapRow other) {
        byte[] value = one.value();
        if (type instanceof AggregateType aggregate) {
            int size = type.sizeBytes();
            byte[] both = Arrays.copyOf(value, 2 * size);
            System.arraycopy(other.value(), 0, both, size, Math.min(size, other.value().length));
            value = AggregateValues.merge(aggregate, both, size, 2);
        } else if (type instanceof IntType) {
            value = Arrays.copyOf(value, 8);
            ValueBytes.u64(value, 0, ValueBytes.u64(value, 0) + ValueBytes.u64(other.value(), 0));
        }
        return new MapRow(one.key(), value);
    }

    /** One number: of a histogram how many values, of statistics their sum. */
    private void value(ValueType type, byte[] bytes, long divisor) {
        switch (type) {
            case HistType _, LhistType _ ->
                    text.unsigned(AggregateValues.number((AggregateType) type, bytes, 0));
            case AverageType(boolean full, boolean signed) when full ->
                    ValueText.write(new SumType(signed), bytes, 0, names, text, divisor);
            default -> ValueText.write(type, bytes, 0, names, text, divisor);
        }
    }

    /**
     * The parts of a key by kind.
     *
     * @param isNamed whether numbers (process ids) are left out, as BCC's tools do
     */
    private static List<String> byKind(List<TypeField> parts, boolean isNamed) {
        List<String> sorted = new ArrayList<>();
        for (int kind = 0; kind < 3; kind++) {
            for (int i = 0; i < parts.size(); i++) {
                ValueType type = parts.get(i).type();
                int its = type instanceof StackType stack ? stack.user() ? 1 : 2 : 0;
                if (its == kind && !(isNamed && type instanceof IntType)) {
                    sorted.add(Integer.toString(i));
                }
            }
        }
        return sorted;
    }

    private void part(String word, List<TypeField> parts, byte[] key, List<String> frames) {
        if (word.equals(BORDER)) {
            frames.add(word);
            return;
        }
        int number = Math.abs(Integer.parseInt(word));
        if (number >= parts.size()) {
            return;
        }
        TypeField field = parts.get(number);
        if (field.type() instanceof StackType stack) {
            List<String> innermostFirst =
                    StackFrames.functions(stack, key, field.offsetBytes(), names).stream()
                            .map(FoldedRows::harmless)
                            .toList();
            frames.addAll(word.startsWith("-") ? innermostFirst : innermostFirst.reversed());
        } else {
            text.clear();
            ValueText.write(field.type(), key, field.offsetBytes(), names, text);
            frames.add(harmless(text.toString()));
        }
    }

    /** A name holds no separator. */
    private static String harmless(String name) {
        return name.replace(';', ':').replace('\n', ' ');
    }
}
