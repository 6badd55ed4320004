package sonde.recording.text;

import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.recording.BatchWriter;
import sonde.recording.TypeBuilder;

/**
 * An event type whose fields show themselves while a text is read: first every line is {@link
 * #learn learnt}, then the type is {@link #build built}, then rows are written.
 */
final class LearntType {
    /** The line's place in the text: an offset and a count of bytes, for who lists it. */
    static final String LINE = "common_line";

    static final String LINE_BYTES = "common_line_bytes";

    private static final String FLAGS = "common_flags";
    private static final String PREEMPT_COUNT = "common_preempt_count";
    private static final int COMMON = 4;
    private static final int STATE = 64;
    private static final int ARGUMENTS = 6;
    private static final Set<String> TEXTS =
            Set.of("comm", "name", "filename", "file", "path", "prev_comm", "next_comm");
    private static final Set<String> TRACER_TEXTS =
            Set.of(
                    """
                    ip parent_ip func buf context timestamp next_state task \
                    started_at ended_at policy\
                    """
                            .split(" "));

    final String system;
    final String name;
    final int id;

    private final ByteTable keys = new ByteTable(KeyValueTokens.MOST);
    private int[] seen = new int[8];
    private boolean takesText;
    private boolean takesArguments;
    private final boolean sched;
    private @Nullable EventType type;
    private Field[] fields = {};
    private @Nullable Field text;
    private @Nullable Field arguments;
    private Field line = Field.integer("", 0, 8, false);
    private Field lineBytes = line;
    private Field flags = line;
    private Field preemptCount = line;

    LearntType(String system, String name, int id) {
        this.system = system;
        this.name = name;
        this.id = id;
        this.sched = name.equals("sched_switch");
    }

    /** The built type. */
    EventType type() {
        EventType built = type;
        if (built == null) {
            throw new IllegalStateException("before build()");
        }
        return built;
    }

    /** Takes what a line says into account. */
    void learn(KeyValueTokens tokens) {
        takesText |= tokens.rest;
        for (int i = 0; i < tokens.count; i++) {
            byte[] source = tokens.keys[i];
            int key = keys.add(source, tokens.keyFrom[i], tokens.keyTo[i]);
            if (key < 0) {
                takesText = true;
                continue;
            }
            if (key >= seen.length) {
                seen = Arrays.copyOf(seen, 2 * seen.length);
            }
            if ((seen[key] & TextValue.TEXT) == 0) {
                seen[key] |= TextValue.classify(tokens.line, tokens.from[i], tokens.to[i]);
            }
        }
    }

    /** Notes that lines are text as a whole. */
    void learnText() {
        takesText = true;
    }

    /** Notes that lines have the six arguments of a system call. */
    void learnArguments() {
        takesArguments = true;
    }

    EventType build() {
        TypeBuilder builder = new TypeBuilder(system, name);
        builder.integer(LINE, 8, false).integer(LINE_BYTES, 4, false);
        builder.integer(FLAGS, 1, false).integer(PREEMPT_COUNT, 1, false);
        for (int key = 0; key < keys.size(); key++) {
            String field = keys.text(key);
            seen[key] = kind(field, seen[key]);
            if ((seen[key] & TextValue.TEXT) != 0) {
                builder.text(field);
            } else {
                builder.integer(field, 8, (seen[key] & (TextValue.BIG | TextValue.HEX)) == 0);
            }
        }
        boolean named = keys.find(KeyValueTokens.bytes("text"), 0, 4) >= 0;
        if (takesText && !named) {
            builder.text("text");
        }
        EventType built = builder.build(id);
        if (takesArguments) {
            built = withArguments(built);
        }
        type = built;
        line = built.fields().get(0);
        lineBytes = built.fields().get(1);
        flags = built.fields().get(2);
        preemptCount = built.fields().get(3);
        fields = built.fields().subList(COMMON, COMMON + keys.size()).toArray(Field[]::new);
        text = takesText && !named ? built.field("text").orElse(null) : null;
        return built;
    }

    private EventType withArguments(EventType built) {
        int end = 0;
        for (Field field : built.fields()) {
            end = Math.max(end, field.offset() + field.sizeBytes() + 7 & -8);
        }
        Field array =
                new Field("args", "u64 args[6]", Field.Kind.ARRAY, end, 8 * ARGUMENTS, 8, false);
        arguments = array;
        java.util.List<Field> all = new java.util.ArrayList<>(built.fields());
        all.add(array);
        return new EventType(id, system, name, all, "");
    }

    private int kind(String field, int found) {
        if (sched && field.equals("prev_state")) {
            return STATE;
        }
        boolean mixed =
                (found & TextValue.HEX) != 0 && (found & (TextValue.NEGATIVE | TextValue.BIG)) != 0;
        boolean wide = (found & TextValue.BIG) != 0 && (found & TextValue.NEGATIVE) != 0;
        boolean texts =
                (found & TextValue.TEXT) != 0
                        || found == 0
                        || TEXTS.contains(field)
                        || system.equals("ftrace") && TRACER_TEXTS.contains(field);
        return texts || mixed || wide ? TextValue.TEXT : found;
    }

    /** Puts a row's fields. */
    void put(BatchWriter out, KeyValueTokens tokens) {
        for (int i = 0; i < tokens.count; i++) {
            int key = key(tokens, i);
            if (key < 0) {
                continue;
            }
            byte[] bytes = tokens.line;
            int from = tokens.from[i];
            int to = tokens.to[i];
            int kind = seen[key];
            if (kind == TextValue.TEXT) {
                out.bytes(fields[key], bytes, from, to - from);
            } else if (kind == STATE) {
                out.integer(fields[key], TextValue.state(bytes, from, to));
            } else {
                boolean hex = (kind & TextValue.HEX) != 0;
                out.integer(fields[key], TextValue.number(bytes, from, to, hex));
            }
        }
    }

    /** The keys of most lines come in the same order. */
    private int key(KeyValueTokens tokens, int i) {
        byte[] source = tokens.keys[i];
        int from = tokens.keyFrom[i];
        int to = tokens.keyTo[i];
        return i < keys.size() && LineScan.is(source, from, to, keys.get(i))
                ? i
                : keys.find(source, from, to);
    }

    /** Puts the whole text, where the type keeps it. */
    void putText(BatchWriter out, byte[] bytes, int from, int to) {
        Field field = text;
        if (field != null) {
            out.bytes(field, bytes, from, Math.max(0, to - from));
        }
    }

    /** Puts where the text lies that a listing shows behind the name. */
    void putLine(BatchWriter out, long offset, int count) {
        out.integer(line, offset);
        out.integer(lineBytes, count);
    }

    /** Puts what stands between the CPU and the time. */
    void putFlags(BatchWriter out, int irqFlags, int depth) {
        out.integer(flags, irqFlags);
        out.integer(preemptCount, depth);
    }

    /** Puts the arguments of a system call: hexadecimal numbers with commas between. */
    void putArguments(BatchWriter out, LineScan scan) {
        Field array = arguments;
        if (array == null) {
            return;
        }
        for (int i = 0; i < ARGUMENTS; i++) {
            scan.blanks();
            scan.take(ZERO_X);
            if (!scan.hex()) {
                return;
            }
            out.integer(Field.integer("", array.offset() + 8 * i, 8, false), scan.value);
            scan.take(',');
        }
    }

    private static final byte[] ZERO_X = KeyValueTokens.bytes("0x");
}
