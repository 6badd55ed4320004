package sonde.lang.output;

import java.util.ArrayList;
import java.util.List;
import sonde.lang.output.MapRows.MapOrder;
import sonde.lang.output.MapRows.MapRow;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.StackType;

/**
 * Maps of stacks as BCC's tools print them: the frames, innermost first; whose they are; the value;
 * an empty line.
 *
 * <pre>
 *     do_nanosleep
 *     clock_nanosleep
 *     -                sleep (4711)
 *         200112
 * </pre>
 */
final class StackRows {
    /** The layout of most: the kernel's frames, those of the program, then all that is no stack. */
    static final String BY_KIND = "kind";

    private static final String INDENT = "    ";
    private static final String BORDER = "--";
    private static final int LABEL_COLUMNS = 17;

    private final List<String> layout;
    private final ValueNames names;
    private final TextSink out;

    /**
     * Writes.
     *
     * @param layout {@link #BY_KIND}, or words: {@code 0} the first part of a key, {@code waker:} a
     *     line with that name and the parts behind it, {@code --} a border
     */
    StackRows(List<String> layout, ValueNames names, TextSink out) {
        this.layout = layout;
        this.names = names;
        this.out = out;
    }

    /** Writes rows, see {@link MapRows#ordered}. */
    void write(MapRows rows, MapOrder by, int top, long divisor) {
        List<TypeField> parts = parts(rows.key());
        for (MapRow row : rows.ordered(by, top)) {
            for (String word : layout.equals(List.of(BY_KIND)) ? byKind(parts) : layout) {
                word(word, parts, row.key());
            }
            out.put(INDENT + INDENT);
            ValueText.write(rows.value(), row.value(), 0, names, out, divisor);
            out.put("\n\n");
        }
    }

    private static List<TypeField> parts(ValueType key) {
        return key instanceof TupleType tuple
                ? tuple.fields()
                : TupleType.of(List.of(key)).fields();
    }

    /** Whether a key has a stack. */
    static boolean fits(ValueType key) {
        return parts(key).stream().anyMatch(part -> part.type() instanceof StackType);
    }

    private static List<String> byKind(List<TypeField> parts) {
        List<String> kernel = new ArrayList<>();
        List<String> user = new ArrayList<>();
        List<String> others = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            ValueType type = parts.get(i).type();
            (type instanceof StackType stack ? stack.user() ? user : kernel : others)
                    .add(Integer.toString(i));
        }
        kernel.addAll(user);
        if (!others.isEmpty()) {
            kernel.add("-:" + String.join(",", others));
        }
        return kernel;
    }

    private void word(String word, List<TypeField> parts, byte[] key) {
        int colon = word.indexOf(':');
        if (word.equals(BORDER)) {
            label(BORDER).put(BORDER + "\n");
        } else if (colon < 0) {
            TypeField part = parts.get(Integer.parseInt(word));
            for (String frame :
                    StackFrames.functions(
                            (StackType) part.type(), key, part.offsetBytes(), names)) {
                out.put(INDENT);
                out.foreign(frame);
                out.put('\n');
            }
        } else {
            boolean isKind = colon == 1 && word.startsWith("-");
            label(isKind ? "-" : word.substring(0, colon + 1));
            String between = "";
            for (String number : word.substring(colon + 1).split(",")) {
                TypeField part = parts.get(Integer.parseInt(number));
                boolean closes = isKind && part.type() instanceof IntType && !between.isEmpty();
                out.put(between + (closes ? "(" : ""));
                ValueText.write(part.type(), key, part.offsetBytes(), names, out);
                out.put(closes ? ")" : "");
                between = " ";
            }
            out.put('\n');
        }
    }

    private TextSink label(String label) {
        out.put(INDENT + label + " ".repeat(LABEL_COLUMNS - label.length()));
        return out;
    }
}
