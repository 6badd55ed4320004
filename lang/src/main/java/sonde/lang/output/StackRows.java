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
     *     line with that name and the parts behind it, {@code NAME=0} a stack with the name that it
     *     has in JSON, {@code --} a border
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
            for (String word : words(parts)) {
                word(word, parts, row.key());
            }
            out.put(INDENT + INDENT);
            ValueText.write(rows.value(), row.value(), 0, names, out, divisor);
            out.put("\n\n");
        }
    }

    /** An object a line: stacks as arrays of functions, then whose they are, then the value. */
    void writeJson(MapRows rows, MapOrder by, int top, long divisor) {
        List<TypeField> parts = parts(rows.key());
        for (MapRow row : rows.ordered(by, top)) {
            out.put('{');
            for (String word : words(parts)) {
                if (!word.equals(BORDER)) {
                    member(word, parts, row.key());
                }
            }
            out.put("\"value\": ");
            JsonValueText.write(rows.value(), row.value(), 0, names, out, divisor);
            out.put("}\n");
        }
    }

    private void member(String word, List<TypeField> parts, byte[] key) {
        int colon = word.indexOf(':');
        if (colon < 0) {
            TypeField part = parts.get(stack(word));
            StackType type = (StackType) part.type();
            int named = word.indexOf('=');
            out.json(named > 0 ? word.substring(0, named) : type.user() ? "user" : "kernel");
            out.put(": [");
            String between = "";
            for (String frame : StackFrames.functions(type, key, part.offsetBytes(), names)) {
                out.put(between);
                out.json(frame);
                between = ", ";
            }
            out.put("], ");
            return;
        }
        String label = word.substring(0, colon);
        for (String number : word.substring(colon + 1).split(",")) {
            TypeField part = parts.get(Integer.parseInt(number));
            boolean isNumber = part.type() instanceof IntType;
            out.json(
                    label.equals("-")
                            ? isNumber ? "pid" : "comm"
                            : label + (isNumber ? "_tid" : ""));
            out.put(": ");
            JsonValueText.write(part.type(), key, part.offsetBytes(), names, out);
            out.put(", ");
        }
    }

    private static int stack(String word) {
        return Integer.parseInt(word.substring(word.indexOf('=') + 1));
    }

    private List<String> words(List<TypeField> parts) {
        return layout.equals(List.of(BY_KIND)) ? byKind(parts) : layout;
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
            TypeField part = parts.get(stack(word));
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
