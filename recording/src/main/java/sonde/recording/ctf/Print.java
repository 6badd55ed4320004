package sonde.recording.ctf;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ftrace.Packed;
import sonde.recording.ftrace.TextBuffer;

/**
 * A step of writing an event: text that is always the same, then a field. Steps are made once for
 * each class of events.
 */
final class Print {
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

    private static final Packed OPEN = Packed.of("{ ");
    private static final Packed CLOSE = Packed.of(" }");
    private static final Packed END = Packed.of(" ]");
    // How elements of arrays begin, by their index.
    private static final Packed[] INDEXES = indexes(64);

    private final Packed before;
    private final Kind kind;
    private final int at;
    private final int charBytes;
    private final @Nullable Shape shape;
    private final @Nullable Node node;
    private final Print[][] options;

    private Print(
            byte[] before,
            Kind kind,
            @Nullable Node node,
            @Nullable Shape shape,
            Print[][] options) {
        this.before = new Packed(before);
        this.kind = kind;
        this.at = node == null ? -1 : node.at;
        this.node = node;
        this.charBytes =
                node != null && node.type instanceof FieldClass.Text text
                        ? Layout.inPlace(text)
                        : 0;
        this.shape = shape;
        this.options = options;
    }

    private static Packed[] indexes(int count) {
        Packed[] indexes = new Packed[count];
        for (int i = 0; i < count; i++) {
            indexes[i] = Packed.of((i == 0 ? " [" : ", [") + i + "] = ");
        }
        return indexes;
    }

    /** The steps for an event: its name and its structures. */
    static Print[] of(Plan.Event event) {
        Maker maker = new Maker();
        maker.pending.append(event.name).append(": ");
        boolean first = true;
        for (Node root : new Node[] {event.packet, event.common, event.specific, event.payload}) {
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
    private static final class Maker {
        private final List<Print> prints = new ArrayList<>();
        private final StringBuilder pending = new StringBuilder();

        private void add(Kind kind, Node node, @Nullable Shape shape, Print[][] options) {
            byte[] before = pending.toString().getBytes(StandardCharsets.UTF_8);
            prints.add(new Print(before, kind, node, shape, options));
            pending.setLength(0);
        }

        Print[] end() {
            if (!pending.isEmpty()) {
                byte[] before = pending.toString().getBytes(StandardCharsets.UTF_8);
                prints.add(new Print(before, Kind.NOTHING, null, null, new Print[0][]));
            }
            return prints.toArray(Print[]::new);
        }

        private static Print[] steps(Node node) {
            Maker maker = new Maker();
            maker.field(node);
            return maker.end();
        }

        void field(Node node) {
            switch (node.type) {
                case FieldClass.Bits bits -> integer(node);
                case FieldClass.VariableInteger variable -> integer(node);
                case FieldClass.Real real -> add(Kind.REAL, node, null, new Print[0][]);
                case FieldClass.Text text -> {
                    Kind kind = Layout.inPlace(text) > 0 ? Kind.CHARS : Kind.TEXT;
                    add(kind, node, null, new Print[0][]);
                }
                case FieldClass.WideInteger wide -> add(Kind.DIGITS, node, null, new Print[0][]);
                case FieldClass.Blob blob -> add(Kind.BLOB, node, null, new Print[0][]);
                case FieldClass.Structure structure -> {
                    pending.append('{');
                    boolean first = true;
                    for (Node child : node.children) {
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
                    Shape shape = integers ? Shape.of(array.element()) : null;
                    add(integers ? Kind.INTEGERS : Kind.VALUES, node, shape, new Print[0][]);
                }
                case FieldClass.Variant variant -> {
                    Print[][] options = new Print[node.children.size()][];
                    for (int i = 0; i < options.length; i++) {
                        options[i] = steps(node.children.get(i));
                    }
                    add(Kind.VARIANT, node, null, options);
                }
                case FieldClass.Optional optional -> {
                    Print[][] options = {steps(node.children.get(0))};
                    add(Kind.OPTIONAL, node, null, options);
                }
            }
        }

        private void integer(Node node) {
            add(Kind.INTEGER, node, Shape.of(node.type), new Print[0][]);
        }
    }

    static void run(Print[] prints, TextBuffer out, Batch batch, int row) {
        for (Print print : prints) {
            out.put(print.before);
            print.field(out, batch, row);
        }
    }

    private void field(TextBuffer out, Batch batch, int row) {
        switch (kind) {
            case NOTHING -> {}
            case INTEGER -> {
                if (shape != null) {
                    shape.append(out, shape.value(batch, row, at));
                }
            }
            case REAL -> Reals.append(out, Double.longBitsToDouble(batch.u64(row, at)));
            case TEXT -> Quoted.append(out, batch, row, batch.u32(row, at), batch.u32(row, at + 4));
            case CHARS -> Quoted.append(out, batch, row, at, charBytes);
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
                    run(options[choice], out, batch, row);
                    out.put(CLOSE);
                }
            }
        }
    }

    private void integers(TextBuffer out, Batch batch, int row) {
        Shape of = shape;
        if (of == null) {
            return;
        }
        int from = batch.u32(row, at);
        int count = batch.u32(row, at + 4) / of.storedBytes;
        out.put('[');
        for (int i = 0; i < count; i++) {
            if (i < INDEXES.length) {
                out.put(INDEXES[i]);
            } else {
                out.put(", [").decimal(i).put("] = ");
            }
            of.append(out, of.value(batch, row, from + i * of.storedBytes));
        }
        out.put(END);
    }

    private void blob(TextBuffer out, Batch batch, int row) {
        int from = batch.u32(row, at);
        TextValues.blob(out, batch.bytes(row, from, batch.u32(row, at + 4)));
    }
}
