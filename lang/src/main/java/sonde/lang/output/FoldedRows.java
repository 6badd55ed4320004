package sonde.lang.output;

import java.util.ArrayList;
import java.util.List;
import sonde.lang.type.Field;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/**
 * Maps of stacks as flame graph tools take them: {@code comm;main;work;vfs_read 12}, the outermost
 * function first, a line for each row. Without a given order the parts of a key that are no stacks
 * come first, then the user stack, then that of the kernel.
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

    /** Writes rows, a line each. */
    void write(MapRows rows, List<MapRows.Row> ordered, long divisor) {
        List<Field> parts =
                rows.key() instanceof Tuple tuple
                        ? tuple.fields()
                        : Tuple.of(List.of(rows.key())).fields();
        for (MapRows.Row row : ordered) {
            List<String> frames = new ArrayList<>();
            for (String word : order.isEmpty() ? byKind(parts) : order) {
                part(word, parts, row.key(), frames);
            }
            text.clear();
            ValueText.write(rows.value(), row.value(), 0, names, text, divisor);
            out.foreign(String.join(";", frames) + " " + text);
            out.put('\n');
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
