package sonde.recording.ctf;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.recording.ctf.DecodePlan.EventPlan;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.BitMeaning;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.FieldClass.TextClass;
import sonde.recording.ctf.schema.FieldClass.VariantClass;
import sonde.recording.ftrace.JsonBytes;
import sonde.recording.ftrace.RowText;
import sonde.recording.ftrace.TextBuffer;
import sonde.recording.ftrace.ThreadNames;

/**
 * Writes events as JSON, an object a line, keys as {@link sonde.recording.ftrace.EventJson}. The
 * fields are those of the event type, but only those that the row has: of a variant the chosen
 * option. A field with names for its values has them beside it as {@code NAME.label}, several
 * joined by {@code |}.
 */
final class CtfJson implements RowText {
    private final DecodePlan plan;
    private final LttngThreadNames names;
    private final @Nullable JsonShape[] shown;

    /** What a type's lines share. */
    private record JsonShape(byte[] name, List<JsonMember> members) {}

    /**
     * A field, or a choice between lists of them.
     *
     * @param key with quotes and colon; of a choice empty
     */
    private record JsonMember(
            byte[] key,
            byte[] labelKey,
            FieldNode node,
            @Nullable IntegerDisplay shape,
            List<List<JsonMember>> options) {}

    CtfJson(DecodePlan plan, @Nullable ThreadNames threads) {
        this.plan = plan;
        this.names = new LttngThreadNames(plan, threads);
        this.shown = new JsonShape[plan.types.size()];
    }

    @Override
    public Turn turn(Batch batch, int row) {
        names.learn(batch, row);
        return Turn.ANY;
    }

    @Override
    public void skip(Batch batch, int row) {
        // names are learnt when the turn is asked for
    }

    @Override
    public boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
        int type = batch.type(row);
        JsonShape of = shown[type];
        if (of == null) {
            of = make(type);
            shown[type] = of;
        }
        int tid = batch.tid(row);
        out.put("{\"time\":").decimal(batch.time(row)).put(",\"cpu\":");
        numberOrNull(out, batch.cpu(row)).put(",\"tid\":");
        numberOrNull(out, tid).put(",\"comm\":");
        byte[] comm = names.comm(tid);
        if (comm == null) {
            out.put("null");
        } else {
            JsonBytes.string(out, comm, 0, comm.length);
        }
        out.put(of.name);
        if (type == plan.lost) {
            out.put("\"count\":").decimal(batch.weight(row));
            out.put(",\"packets\":").unsigned(batch.u64(row, 8));
        }
        members(out, of.members, batch, row);
        out.put("}}\n");
        return false;
    }

    private static TextBuffer numberOrNull(TextBuffer out, int number) {
        return number < 0 ? out.put("null") : out.decimal(number);
    }

    private static void members(TextBuffer out, List<JsonMember> members, Batch batch, int row) {
        for (JsonMember member : members) {
            if (member.key.length == 0) {
                int choice = batch.u16(row, member.node.at) - 1;
                if (choice >= 0) {
                    members(out, member.options.get(choice), batch, row);
                }
                continue;
            }
            comma(out).put(member.key);
            value(out, member, batch, row);
        }
    }

    private static TextBuffer comma(TextBuffer out) {
        return out.at(out.size() - 1) == '{' ? out : out.put(',');
    }

    private static void value(TextBuffer out, JsonMember member, Batch batch, int row) {
        FieldNode node = member.node;
        IntegerDisplay shape = member.shape;
        switch (node.type) {
            case BitField bits when shape != null -> integer(out, member, shape, batch, row);
            case FieldClass.VariableInteger variable when shape != null ->
                    integer(out, member, shape, batch, row);
            case FieldClass.Real real ->
                    JsonArrays.real(out, Double.longBitsToDouble(batch.u64(row, node.at)));
            case TextClass text -> {
                int chars = PayloadLayout.inPlace(text);
                if (chars > 0) {
                    JsonBytes.string(out, batch, row, node.at, chars);
                } else {
                    byte[] bytes = span(batch, row, node.at);
                    JsonBytes.string(out, bytes, 0, bytes.length);
                }
            }
            case FieldClass.WideInteger wide -> {
                byte[] digits = span(batch, row, node.at);
                JsonBytes.string(out, digits, 0, digits.length);
            }
            case FieldClass.Blob blob -> JsonArrays.bytes(out, span(batch, row, node.at));
            case FieldClass.Array array when shape != null -> {
                int from = batch.u32(row, node.at);
                int size = shape.storedBytes;
                int count = batch.u32(row, node.at + 4) / size;
                out.put('[');
                for (int i = 0; i < count; i++) {
                    plain(
                            out.put(i == 0 ? "" : ","),
                            shape,
                            shape.value(batch, row, from + i * size));
                }
                out.put(']');
            }
            case FieldClass.Array array -> out.put(span(batch, row, node.at));
            default -> out.put("null");
        }
    }

    private static byte[] span(Batch batch, int row, int at) {
        return batch.bytes(row, batch.u32(row, at), batch.u32(row, at + 4));
    }

    private static void integer(
            TextBuffer out, JsonMember member, IntegerDisplay shape, Batch batch, int row) {
        long value = shape.value(batch, row, member.node.at);
        plain(out, shape, value);
        if (member.labelKey.length > 0) {
            List<String> labels = shape.names(value);
            if (!labels.isEmpty()) {
                JsonBytes.string(out.put(',').put(member.labelKey), String.join("|", labels));
            }
        }
    }

    private static void plain(TextBuffer out, IntegerDisplay shape, long value) {
        if (shape.meaning == BitMeaning.BOOLEAN) {
            out.put(value != 0 ? "true" : "false");
        } else {
            JsonArrays.integer(out, value, shape.signed);
        }
    }

    private JsonShape make(int type) {
        EventType of = plan.types.get(type);
        TextBuffer name = new TextBuffer(64);
        JsonBytes.string(name.put(",\"event\":"), of.qualifiedName());
        name.put(",\"fields\":{");
        List<JsonMember> members = new ArrayList<>();
        EventPlan event = plan.events.get(type);
        if (event != null) {
            for (FieldNode root :
                    new FieldNode[] {event.payload, event.specific, event.common, event.packet}) {
                if (root != null && root.shown) {
                    add(root, members);
                }
            }
        }
        return new JsonShape(name.since(0), members);
    }

    private static void add(FieldNode node, List<JsonMember> members) {
        switch (node.type) {
            case StructureClass structure -> {
                for (FieldNode child : node.children) {
                    if (child.shown) {
                        add(child, members);
                    }
                }
            }
            case VariantClass variant -> choice(node, members);
            case FieldClass.Optional optional -> choice(node, members);
            default -> {
                FieldClass type =
                        node.type instanceof FieldClass.Array array ? array.element() : node.type;
                IntegerDisplay shape =
                        node.isIntegers() || !(node.type instanceof FieldClass.Array)
                                ? IntegerDisplay.of(type)
                                : null;
                boolean named =
                        shape != null
                                && !(node.type instanceof FieldClass.Array)
                                && (shape.meaning == BitMeaning.ENUMERATION
                                        || shape.meaning == BitMeaning.BIT_MAP);
                byte[] label = named ? key(node.path + ".label") : new byte[0];
                members.add(new JsonMember(key(node.path), label, node, shape, List.of()));
            }
        }
    }

    private static void choice(FieldNode node, List<JsonMember> members) {
        List<List<JsonMember>> options = new ArrayList<>();
        for (FieldNode child : node.children) {
            List<JsonMember> option = new ArrayList<>();
            add(child, option);
            options.add(option);
        }
        byte[] none = "".getBytes(StandardCharsets.US_ASCII);
        members.add(new JsonMember(none, none, node, null, options));
    }

    private static byte[] key(String name) {
        TextBuffer key = new TextBuffer(32);
        JsonBytes.string(key, name);
        return key.put(':').since(0);
    }
}
