package sonde.lang.output;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.lang.type.Field;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

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
    private final Names names;
    private final TextSink out;
    private final TextSink text = TextSink.forTerminal();

    /**
     * Writes.
     *
     * @param order {@code "0"} the first part of a key, {@code "-0"} innermost first, {@code "--"}
     *     a border; none: by kind
     */
    FoldedRows(List<String> order, Names names, TextSink out) {
        this.order = order;
        this.names = names;
        this.out = out;
    }

    /**
     * Writes rows.
     *
     * @param top how many, see {@link MapRows#ordered}
     */
    void write(MapRows rows, MapRows.Order by, int top, long divisor) {
        Type value =
                rows.value() instanceof Type.Int(int size, boolean signed, _, _) && size < 8
                        ? new Type.Int(8, signed)
                        : rows.value();
        Map<String, MapRows.Row> sums = new LinkedHashMap<>();
        for (MapRows.Row row : rows.ordered(by, 0)) {
            MapRows.Row wide = new MapRows.Row(row.key(), widened(rows.value(), row.value()));
            sums.merge(line(rows.key(), row.key()), wide, (a, b) -> sum(value, a, b));
        }
        Map<MapRows.Row, String> lines = new IdentityHashMap<>();
        sums.forEach((line, row) -> lines.put(row, line));
        MapRows summed =
                new MapRows(
                        rows.name(), rows.scalar(), rows.key(), value, List.copyOf(sums.values()));
        for (MapRows.Row row : summed.ordered(by, top)) {
            text.clear();
            value(value, row.value(), divisor);
            out.foreign(lines.get(row) + " " + text);
            out.put('\n');
        }
    }

    private String line(Type key, byte[] bytes) {
        List<Field> parts =
                key instanceof Tuple tuple ? tuple.fields() : Tuple.of(List.of(key)).fields();
        List<String> frames = new ArrayList<>();
        for (String word : order.isEmpty() ? byKind(parts) : order) {
            part(word, parts, bytes, frames);
        }
        return String.join(";", frames);
    }

    private static byte[] widened(Type type, byte[] value) {
        if (!(type instanceof Type.Int(int size, boolean signed, _, _)) || size >= 8) {
            return value;
        }
        byte[] wide = new byte[8];
        ValueBytes.u64(wide, 0, ValueBytes.integer(value, 0, size, signed));
        return wide;
    }

    /** Numbers and aggregates are put together; of all else the first stays. */
    private static MapRows.Row sum(Type type, MapRows.Row one, MapRows.Row other) {
        byte[] value = one.value();
        if (type instanceof Type.Aggregate aggregate) {
            int size = type.sizeBytes();
            byte[] both = Arrays.copyOf(value, 2 * size);
            System.arraycopy(other.value(), 0, both, size, Math.min(size, other.value().length));
            value = Aggregates.merge(aggregate, both, size, 2);
        } else if (type instanceof Type.Int) {
            value = Arrays.copyOf(value, 8);
            ValueBytes.u64(value, 0, ValueBytes.u64(value, 0) + ValueBytes.u64(other.value(), 0));
        }
        return new MapRows.Row(one.key(), value);
    }

    /** One number: of a histogram how many values, of statistics their sum. */
    private void value(Type type, byte[] bytes, long divisor) {
        switch (type) {
            case Type.Hist _, Type.Lhist _ ->
                    text.unsigned(Aggregates.number((Type.Aggregate) type, bytes, 0));
            case Type.Average(boolean full, boolean signed) when full ->
                    ValueText.write(new Type.Sum(signed), bytes, 0, names, text, divisor);
            default -> ValueText.write(type, bytes, 0, names, text, divisor);
        }
    }

    private static List<String> byKind(List<Field> parts) {
        List<String> sorted = new ArrayList<>();
        for (int kind = 0; kind < 3; kind++) {
            for (int i = 0; i < parts.size(); i++) {
                Type type = parts.get(i).type();
                int its = type instanceof Type.Stack stack ? stack.user() ? 1 : 2 : 0;
                if (its == kind) {
                    sorted.add(Integer.toString(i));
                }
            }
        }
        return sorted;
    }

    private void part(String word, List<Field> parts, byte[] key, List<String> frames) {
        if (word.equals(BORDER)) {
            frames.add(word);
            return;
        }
        int number = Math.abs(Integer.parseInt(word));
        if (number >= parts.size()) {
            return;
        }
        Field field = parts.get(number);
        if (field.type() instanceof Type.Stack stack) {
            List<String> innermostFirst = stack(stack, key, field.offsetBytes());
            frames.addAll(word.startsWith("-") ? innermostFirst : innermostFirst.reversed());
        } else {
            text.clear();
            ValueText.write(field.type(), key, field.offsetBytes(), names, text);
            frames.add(harmless(text.toString()));
        }
    }

    private List<String> stack(Type.Stack type, byte[] key, int at) {
        List<String> frames = new ArrayList<>();
        int pid = ValueBytes.s32(key, at);
        long[] addresses = Frames.addresses(type, key, at, names);
        if (!type.user()) {
            addresses = names.kernelPart(addresses);
        }
        for (long address : addresses) {
            String name =
                    type.user() ? names.userSymbol(address, pid) : names.kernelSymbol(address);
            frames.add(harmless(name));
        }
        return frames;
    }

    /** A name holds no separator. */
    private static String harmless(String name) {
        return name.replace(';', ':').replace('\n', ' ');
    }
}
