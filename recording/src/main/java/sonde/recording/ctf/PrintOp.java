package sonde.recording.ctf;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.recording.ctf.DecodePlan.EventPlan;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.FieldClass.TextClass;
import sonde.recording.ctf.schema.FieldClass.VariantClass;
import sonde.recording.ftrace.PackedText;
import sonde.recording.ftrace.TextBuffer;

/**
 * A step of writing an event: text that is always the same, then a field. Steps are made once for
 * each class of events.
 */
final class PrintOp {
    private enum Kind {
        NOTHING,
        INTEGER,
        REAL,
        TEXT,
        CHARS,
        DIGITS,
        BLOB,
        INTEGERS,
        VALUES,
        VARIANT,
        OPTIONAL,
    }

    private static final PackedText OPEN = PackedText.of("{ ");
    private static final PackedText CLOSE = PackedText.of(" }");
    private static final PackedText END = PackedText.of(" ]");
    // How elements of arrays begin, by their index.
    private static final PackedText[] INDEXES = indexes(64);

    private final PackedText before;
    private final Kind kind;
    private final int at;
    private final int charBytes;
    private final @Nullable IntegerDisplay shape;
    private final @Nullable FieldNode node;
    private final PrintOp[][] options;
    // Most integers: bytes of the payload, negative for those with a sign, shown as they are.
    private final int loads;
    private final boolean isDecimal;

    private PrintOp(
            byte[] before,
            Kind kind,
            @Nullable FieldNode node,
            @Nullable IntegerDisplay shape,
            PrintOp[][] options) {
        this.before = new PackedText(before);
        this.kind = kind;
        this.at = node == null ? -1 : node.at;
        this.node = node;
        this.charBytes =
                node != null && node.type instanceof TextClass text
                        ? PayloadLayout.inPlace(text)
                        : 0;
        this.shape = shape;
        this.options = options;
        this.loads = shape == null ? 0 : shape.signed ? -shape.storedBytes : shape.storedBytes;
        this.isDecimal = kind == Kind.INTEGER && isDecimal(shape);
    }

    private static boolean isDecimal(@Nullable IntegerDisplay shape) {
        return shape != null && shape.isDecimal();
    }

    private static PackedText[] indexes(int count) {
        PackedText[] indexes = new PackedText[count];
        for (int i = 0; i < count; i++) {
            indexes[i] = PackedText.of((i == 0 ? " [" : ", [") + i + "] = ");
        }
        return indexes;
    }

    /** The steps for an event: its name and its structures. */
    static PrintOp[] of(EventPlan event) {
        PrintCompiler maker = new PrintCompiler();
        maker.pending.append(event.name).append(": ");
        boolean first = true;
        for (FieldNode root :
                new FieldNode[] {event.packet, event.common, event.specific, event.payload}) {
            if (root != null && root.shown) {
                maker.pending.append(first ? "" : ", ");
                maker.field(root);
                first = false;
            }
        }
        maker.pending.append('\n');
        return maker.end();
    }

    /** Makes steps. */
    private static final class PrintCompiler {
        private final List<PrintOp> prints = new ArrayList<>();
        private final StringBuilder pending = new StringBuilder();

        private void add(
                Kind kind, FieldNode node, @Nullable IntegerDisplay shape, PrintOp[][] options) {
            byte[] before = pending.toString().getBytes(StandardCharsets.UTF_8);
            prints.add(new PrintOp(before, kind, node, shape, options));
            pending.setLength(0);
        }

        PrintOp[] end() {
            if (!pending.isEmpty()) {
                byte[] before = pending.toString().getBytes(StandardCharsets.UTF_8);
                prints.add(new PrintOp(before, Kind.NOTHING, null, null, new PrintOp[0][]));
            }
            return prints.toArray(PrintOp[]::new);
        }

        private static PrintOp[] steps(FieldNode node) {
            PrintCompiler maker = new PrintCompiler();
            maker.field(node);
            return maker.end();
        }

        void field(FieldNode node) {
            switch (node.type) {
                case BitField bits -> integer(node);
                case FieldClass.VariableInteger variable -> integer(node);
                case FieldClass.Real real -> add(Kind.REAL, node, null, new PrintOp[0][]);
                case TextClass text -> {
                    Kind kind = PayloadLayout.inPlace(text) > 0 ? Kind.CHARS : Kind.TEXT;
                    add(kind, node, null, new PrintOp[0][]);
                }
                case FieldClass.WideInteger wide -> add(Kind.DIGITS, node, null, new PrintOp[0][]);
                case FieldClass.Blob blob -> add(Kind.BLOB, node, null, new PrintOp[0][]);
                case StructureClass structure -> {
                    pending.append('{');
                    boolean first = true;
                    for (FieldNode child : node.children) {
                        if (child.shown) {
                            pending.append(first ? " " : ", ").append(child.name).append(" = ");
                            first = false;
                            field(child);
                        }
                    }
                    pending.append(" }");
                }
                case FieldClass.Array array -> {
                    boolean integers = node.isIntegers();
                    IntegerDisplay shape = integers ? IntegerDisplay.of(array.element()) : null;
                    add(integers ? Kind.INTEGERS : Kind.VALUES, node, shape, new PrintOp[0][]);
                }
                case VariantClass variant -> {
                    PrintOp[][] options = new PrintOp[node.children.size()][];
                    for (int i = 0; i < options.length; i++) {
                        options[i] = steps(node.children.get(i));
                    }
                    add(Kind.VARIANT, node, null, options);
                }
                case FieldClass.Optional optional -> {
                    PrintOp[][] options = {steps(node.children.get(0))};
                    add(Kind.OPTIONAL, node, null, options);
                }
            }
        }

        private void integer(FieldNode node) {
            add(Kind.INTEGER, node, IntegerDisplay.of(node.type), new PrintOp[0][]);
        }
    }

    static void run(PrintOp[] prints, int from, int to, TextBuffer out, Batch batch, int row) {
        for (int i = from; i < to; i++) {
            PrintOp print = prints[i];
            out.put(print.before);
            if (print.isDecimal) {
                print.decimal(out, batch, row, print.at);
            } else {
                print.field(out, batch, row);
            }
        }
    }

    /** Where an integer that is shown as it is begins in a payload. */
    int startOfInteger() {
        return at;
    }

    /** Where it ends; of any other field beyond every payload. */
    int endOfInteger() {
        return isDecimal && at >= 0 ? at + Math.abs(loads) : Integer.MAX_VALUE;
    }

    private void decimal(TextBuffer out, Batch batch, int row, int offset) {
        long value = load(batch, row, offset);
        if (loads < 0) {
            out.decimal(value);
        } else {
            out.unsigned(value);
        }
    }

    private long load(Batch batch, int row, int offset) {
        return switch (loads) {
            case 1 -> batch.u8(row, offset);
            case 2 -> batch.u16(row, offset);
            case 4 -> batch.u32(row, offset) & 0xffff_ffffL;
            case -1 -> (byte) batch.u8(row, offset);
            case -2 -> (short) batch.u16(row, offset);
            case -4 -> batch.u32(row, offset);
            default -> batch.u64(row, offset);
        };
    }

    private void field(TextBuffer out, Batch batch, int row) {
        switch (kind) {
            case NOTHING -> {}
            case INTEGER -> {
                if (shape != null) {
                    shape.append(out, shape.value(batch, row, at));
                }
            }
            case REAL -> RealNumbers.append(out, Double.longBitsToDouble(batch.u64(row, at)));
            case TEXT ->
                    QuotedText.append(out, batch, row, batch.u32(row, at), batch.u32(row, at + 4));
            case CHARS -> QuotedText.append(out, batch, row, at, charBytes);
            case DIGITS -> out.raw(batch, row, batch.u32(row, at), batch.u32(row, at + 4));
            case BLOB -> blob(out, batch, row);
            case INTEGERS -> integers(out, batch, row);
            case VALUES -> {
                if (node != null) {
                    int from = batch.u32(row, node.valuesAt);
                    int size = batch.u32(row, node.valuesAt + 4);
                    TextValues.append(out, node, new ValueReader(batch.bytes(row, from, size), 0));
                }
            }
            case VARIANT, OPTIONAL -> {
                int choice = batch.u16(row, at) - 1;
                if (choice < 0) {
                    out.put("<none>");
                } else {
                    out.put(OPEN);
                    run(options[choice], 0, options[choice].length, out, batch, row);
                    out.put(CLOSE);
                }
            }
        }
    }

    private void integers(TextBuffer out, Batch batch, int row) {
        IntegerDisplay of = shape;
        if (of == null) {
            return;
        }
        int from = batch.u32(row, at);
        int count = batch.u32(row, at + 4) / of.storedBytes;
        out.put('[');
        boolean decimal = isDecimal(of);
        for (int i = 0; i < count; i++) {
            if (i < INDEXES.length) {
                out.put(INDEXES[i]);
            } else {
                out.put(", [").decimal(i).put("] = ");
            }
            int place = from + i * of.storedBytes;
            if (decimal) {
                decimal(out, batch, row, place);
            } else {
                of.append(out, of.value(batch, row, place));
            }
        }
        out.put(END);
    }

    private void blob(TextBuffer out, Batch batch, int row) {
        int from = batch.u32(row, at);
        TextValues.blob(out, batch.bytes(row, from, batch.u32(row, at + 4)));
    }
}
