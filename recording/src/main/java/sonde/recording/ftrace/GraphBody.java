package sonde.recording.ftrace;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.IntegerField;
import sonde.recording.ftrace.PrintExpression.PayloadArray;

/**
 * The function graph tracer: an entry whose return follows at once is one line, {@code name();}.
 * Kernels from 6.13 may add the address returned to (an event of its own) and from 6.15 the
 * arguments in registers.
 *
 * @param returnAddress null when entries do not tell it
 * @param arguments null when entries have none
 * @param exit the type of returns, null when the recording has none
 */
record GraphBody(
        TextContext context,
        IntegerField function,
        IntegerField depth,
        @Nullable IntegerField returnAddress,
        @Nullable PayloadArray arguments,
        @Nullable GraphExitFields exit,
        boolean isEntry)
        implements EventBody {
    private static final int INDENT = 2;
    private static final int DEEPEST = 512;
    private static final long MAX_ERRNO = 4095;
    private static final PackedText NO_DURATION = PackedText.of("             |  ");
    private static final PackedText MICROSECONDS = PackedText.of(" us ");
    // Behind times below a millisecond, by the digits of their microseconds.
    private static final PackedText[] SHORT_ENDS = {
        PackedText.of(" us     |  "), PackedText.of(" us   |  "),
        PackedText.of(" us  |  "), PackedText.of(" us |  ")
    };
    private static final PackedText BAR = PackedText.of("|  ");
    private static final PackedText LEAF = PackedText.of("();");
    private static final PackedText CALL = PackedText.of("() {");
    private static final PackedText CALLER = PackedText.of(" /* <-");
    private static final PackedText CALLER_END = PackedText.of(" */");

    /** Fields of {@code funcgraph_exit}. */
    private record GraphExitFields(
            int type,
            IntegerField function,
            IntegerField calltime,
            IntegerField rettime,
            @Nullable IntegerField retval) {
        long nanos(Batch batch, int row) {
            return rettime.of(batch, row) - calltime.of(batch, row);
        }
    }

    /** The info of an entry or exit; null when fields are missing. */
    static @Nullable EventBody of(EventType type, List<EventType> types, TextContext context) {
        IntegerField function = EventBodies.integer(type, "func");
        IntegerField depth = EventBodies.integer(type, "depth");
        if (function == null || depth == null) {
            return null;
        }
        GraphExitFields exit = null;
        for (EventType other : types) {
            if (other.qualifiedName().equals("ftrace:funcgraph_exit")) {
                exit = exit(other);
            }
        }
        boolean isEntry = !type.name().equals("funcgraph_exit");
        PayloadArray arguments = EventBodies.place(type, "args");
        IntegerField returnAddress = EventBodies.integer(type, "retaddr");
        return !isEntry && exit == null
                ? null
                : new GraphBody(context, function, depth, returnAddress, arguments, exit, isEntry);
    }

    /** Whether events of a type may be told together with the return that follows. */
    static boolean isEntry(EventType type) {
        return switch (type.qualifiedName()) {
            case "ftrace:funcgraph_entry", "ftrace:fgraph_retaddr_entry" -> true;
            default -> false;
        };
    }

    private static @Nullable GraphExitFields exit(EventType type) {
        IntegerField function = EventBodies.integer(type, "func");
        IntegerField calltime = EventBodies.integer(type, "calltime");
        IntegerField rettime = EventBodies.integer(type, "rettime");
        if (function == null || calltime == null || rettime == null) {
            return null;
        }
        IntegerField retval = EventBodies.integer(type, "retval");
        return new GraphExitFields(type.id(), function, calltime, rettime, retval);
    }

    @Override
    public boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
        if (!isEntry && exit != null) {
            duration(out, exit.nanos(batch, row));
            indent(out, batch, row);
            out.put('}');
            returned(out, exit, batch, row);
            return false;
        }
        long address = function.of(batch, row);
        boolean leaf = next != null && isLeaf(batch, row, next, nextRow);
        if (leaf && exit != null && next != null) {
            duration(out, exit.nanos(next, nextRow));
        } else {
            out.put(NO_DURATION);
        }
        indent(out, batch, row);
        if (!context.symbols().appendNameAt(out, address)) {
            out.hex(address, 1);
        }
        if (arguments == null && returnAddress == null) {
            out.put(leaf ? LEAF : CALL);
        } else {
            detailed(out, batch, row, leaf);
        }
        if (leaf && exit != null && next != null) {
            returned(out, exit, next, nextRow);
        }
        return leaf;
    }

    /** The parentheses of a call with what is known of its arguments and its caller. */
    private void detailed(TextBuffer out, Batch batch, int row, boolean leaf) {
        out.put('(');
        if (arguments != null) {
            arguments(out, context, arguments, batch, row);
        }
        out.put(leaf ? ");" : ")");
        long caller = returnAddress == null ? 0 : returnAddress.of(batch, row);
        if (caller != 0 && context.symbols().find(caller) >= 0) {
            out.put(CALLER);
            context.symbols().appendNameAt(out, caller);
            out.put(CALLER_END);
        }
        out.put(leaf ? "" : " {");
    }

    /** Whether the event behind an entry is its return. */
    boolean isLeaf(Batch batch, int row, Batch next, int nextRow) {
        return exit != null
                && next.type(nextRow) == exit.type
                && next.cpu(nextRow) == batch.cpu(row)
                && next.tid(nextRow) == batch.tid(row)
                && exit.function.of(next, nextRow) == function.of(batch, row);
    }

    /** Registers that may hold arguments; how many do is not in the event. */
    static void arguments(
            TextBuffer out, TextContext context, PayloadArray arguments, Batch batch, int row) {
        int longBytes = context.longBytes();
        int at = arguments.offset(batch, row);
        int end = batch.payloadBytes(row);
        for (boolean first = true; at + longBytes <= end; at += longBytes, first = false) {
            out.put(first ? "0x" : ", 0x").hex(PayloadArray.integer(batch, row, at, longBytes), 1);
        }
    }

    private void indent(TextBuffer out, Batch batch, int row) {
        long levels = Math.max(0, Math.min(DEEPEST, depth.of(batch, row)));
        out.blanks((int) levels * INDENT);
    }

    private static void returned(TextBuffer out, GraphExitFields exit, Batch batch, int row) {
        if (exit.retval == null) {
            return;
        }
        long value = exit.retval.of(batch, row);
        out.put(" (ret=");
        if (value < 0 && value >= -MAX_ERRNO) {
            out.decimal(value);
        } else {
            out.put("0x").hex(value, 1);
        }
        out.put(')');
    }

    private static int digits(int belowThousand) {
        return belowThousand < 10 ? 1 : belowThousand < 100 ? 2 : 3;
    }

    /** A sign for long ones, then microseconds in columns of their own. */
    private static void duration(TextBuffer out, long nanos) {
        char sign =
                Long.compareUnsigned(nanos, 1_000_000_000L) > 0
                        ? '$'
                        : nanos > 1_000_000
                                ? '#'
                                : nanos > 100_000 ? '!' : nanos > 10_000 ? '+' : ' ';
        out.put(sign).put(' ');
        if (nanos >= 0 && nanos < 1_000_000) {
            int micros = (int) nanos / 1000;
            out.thousandths(micros, (int) nanos - 1000 * micros).put(SHORT_ENDS[digits(micros)]);
            return;
        }
        int start = out.size();
        out.unsigned(Long.divideUnsigned(nanos, 1000));
        if (out.size() - start < 7) {
            out.put('.').digits(Long.remainderUnsigned(nanos, 1000), 3);
        }
        int length = out.size() - start;
        out.put(MICROSECONDS).blanks(7 - length).put(BAR);
    }
}
