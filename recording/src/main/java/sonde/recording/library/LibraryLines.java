package sonde.recording.library;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import sonde.recording.syscall.CallLines.CallSink;
import sonde.recording.syscall.CallRecord;
import sonde.recording.syscall.LineStart;
import sonde.recording.syscall.LineStyle;
import sonde.sys.SignalNames;

/**
 * Writes calls of library functions as ltrace does: nested calls stand between begin and return.
 */
public final class LibraryLines {
    /** Of struct siginfo, behind the header of its piece. */
    private static final int SI_CODE = 8 + 8;

    private static final int CLD_STOPPED = 5;
    private static final int CLD_CONTINUED = 6;
    private static final int SIGCHLD = 17;
    private static final int SIGCONT = 18;
    private static final int SIGSTOP = 19;
    private static final int SIGNAL_BITS = 0x7f;

    /** Deeper nesting is taken for calls whose return was never seen. */
    private static final int MOST_DEPTH = 4096;

    /**
     * A function.
     *
     * @param name its own name
     * @param shown its name in a line
     * @param returns whether its return is seen
     */
    public record LibraryFunction(
            String name, String shown, String library, LibraryPrototype type, boolean returns) {}

    /**
     * The form of lines.
     *
     * @param column of the result (-a)
     * @param indent blanks for each level (-n)
     * @param signals whether signals are shown
     * @param caller whether the address of the caller is shown (-i)
     */
    public record LibraryStyle(
            LineStyle lines, int column, int indent, boolean signals, boolean caller) {}

    /** Takes what the lines are made of. */
    @FunctionalInterface
    public interface LibraryTally {
        /**
         * A call at this depth of its thread.
         *
         * @param exit null when its return is not seen
         */
        void called(
                LibraryFunction function, CallRecord entry, @Nullable CallRecord exit, int depth)
                throws IOException;

        /** Records are missing before this one. */
        default void lost(CallRecord record, long count) throws IOException {}

        /** A signal that is shown; its name and its meaning. */
        default void signal(CallRecord record, String name, String meaning) throws IOException {}

        /** The end of a process. */
        default void end(CallRecord record, String words) throws IOException {}
    }

    private static final class OpenCall {
        final CallRecord entry;
        final LibraryFunction function;
        int column;

        OpenCall(CallRecord entry, LibraryFunction function) {
            this.entry = entry;
            this.function = function;
        }
    }

    private final LongFunction<LibraryFunction> functions;
    private final LibraryText text;
    private final LibraryStyle style;
    private final CallSink sink;
    private final LineStart start;
    private final StringBuilder head;
    private final Map<Integer, Deque<OpenCall>> threads = new HashMap<>();
    private @Nullable OpenCall open;
    private boolean several;
    private long lost;
    private LibraryTally tally = (_, _, _, _) -> {};

    /**
     * Writes to a sink.
     *
     * @param functions by the numbers of records
     * @param epochOffset nanoseconds from CLOCK_MONOTONIC to the time of day
     */
    public LibraryLines(
            LongFunction<LibraryFunction> functions,
            LibraryText text,
            LibraryStyle style,
            CallSink sink,
            long epochOffset) {
        this.functions = functions;
        this.text = text;
        this.style = style;
        this.sink = sink;
        start = new LineStart(style.lines(), epochOffset);
        head = start.text();
    }

    /** Tells of each call when it has returned, of signals and ends. */
    public void tell(LibraryTally to) {
        tally = to;
    }

    /** Takes the next record. */
    public void accept(CallRecord record) throws IOException {
        if (record.lost() > lost) {
            finishOpen();
            sink.text("*** " + (record.lost() - lost) + " records were lost here\n");
            tally.lost(record, record.lost() - lost);
            lost = record.lost();
        }
        Deque<OpenCall> calls = threads.get(record.tid());
        if (calls == null) {
            several |= !threads.isEmpty();
            calls = new ArrayDeque<>();
            threads.put(record.tid(), calls);
        }
        switch (record.kind()) {
            case CallRecord.ENTER -> enter(calls, record);
            case CallRecord.EXIT -> exit(calls, record);
            case CallRecord.SIGNAL -> {
                if (style.signals() && !isOfStop(record)) {
                    String name = SignalNames.of((int) record.number());
                    String meaning = SignalNames.MEANINGS.get((int) record.number());
                    tally.signal(record, name, meaning);
                    line(record, "--- " + name + " (" + meaning + ") ---");
                }
            }
            case CallRecord.END -> end(record);
            default -> {}
        }
    }

    /**
     * Whether it comes from a stop, as the session itself stops processes: the parent is told of it
     * by SIGCHLD.
     */
    private static boolean isOfStop(CallRecord record) {
        long signal = record.number();
        int piece = record.piece(0, 0, 0);
        int code = piece < 0 ? 0 : record.bytes()[piece + SI_CODE];
        return signal == SIGCONT
                || signal == SIGSTOP
                || signal == SIGCHLD && (code == CLD_STOPPED || code == CLD_CONTINUED);
    }

    /** At the end of the trace. */
    public void finish() throws IOException {
        finishOpen();
        for (Deque<OpenCall> calls : threads.values()) {
            leaveAll(calls);
        }
    }

    /** The return of the innermost call was not seen. */
    private void leave(Deque<OpenCall> calls) throws IOException {
        OpenCall call = calls.removeLast();
        tally.called(call.function, call.entry, null, calls.size());
    }

    private void leaveAll(@Nullable Deque<OpenCall> calls) throws IOException {
        while (calls != null && !calls.isEmpty()) {
            leave(calls);
        }
    }

    private void enter(Deque<OpenCall> calls, CallRecord record) throws IOException {
        // Calls of functions that a longjmp left, and of those that do not return: their frames
        // are below the stack pointer of this one.
        long stack = record.argument(CallRecord.STACK_POINTER);
        while (!calls.isEmpty()
                && Long.compareUnsigned(
                                calls.peekLast().entry.argument(CallRecord.STACK_POINTER), stack)
                        <= 0
                && !isOtherStack(calls.peekLast(), stack)) {
            leave(calls);
        }
        finishOpen();
        LibraryFunction function = functions.apply(record.number());
        OpenCall call = new OpenCall(record.copy(), function);
        lead(record, calls.size());
        head.append(function.shown()).append('(');
        head.append(text.arguments(function.type(), call.entry, null, 0));
        call.column = head.length();
        if (function.returns()) {
            if (calls.size() == MOST_DEPTH) {
                OpenCall first = calls.removeFirst();
                tally.called(first.function, first.entry, null, 0);
            }
            calls.addLast(call);
            sink.text(head);
            open = call;
        } else {
            tally.called(function, call.entry, null, calls.size());
            result(call, "?");
        }
    }

    /** Coroutines and handlers of signals run on other stacks: nothing follows from addresses. */
    private static boolean isOtherStack(OpenCall call, long stack) {
        return Math.abs(call.entry.argument(CallRecord.STACK_POINTER) - stack) > 8 << 20;
    }

    private void exit(Deque<OpenCall> calls, CallRecord exit) throws IOException {
        long stack = exit.argument(CallRecord.STACK_POINTER);
        OpenCall found = null;
        for (Iterator<OpenCall> all = calls.descendingIterator(); all.hasNext(); ) {
            OpenCall one = all.next();
            if (one.entry.number() == exit.number()
                    && one.entry.argument(CallRecord.STACK_POINTER) == stack) {
                found = one;
                break;
            }
        }
        if (found == null) {
            return; // it began before the trace
        }
        while (calls.peekLast() != found) {
            leave(calls);
        }
        calls.removeLast();
        LibraryPrototype type = found.function.type();
        if (open != found) {
            finishOpen();
            lead(exit, calls.size());
            head.append("<... ").append(found.function.shown()).append(" resumed> ");
        } else {
            head.setLength(0);
        }
        int before = open == found ? found.column : 0;
        open = null;
        int complete = LibraryText.complete(type);
        if (complete < type.arguments().size()) {
            head.append(text.arguments(type, found.entry, exit, complete));
        }
        found.column = before;
        tally.called(found.function, found.entry, exit, calls.size());
        result(found, text.result(type, exit), exit);
    }

    private void result(OpenCall call, String result) throws IOException {
        call.column = 0;
        result(call, result, null);
    }

    private void result(OpenCall call, String result, @Nullable CallRecord exit)
            throws IOException {
        head.append(')');
        int missing = style.column() - 2 - call.column - head.length();
        head.append(" ".repeat(Math.max(0, missing))).append(" = ").append(result);
        if (exit != null && style.lines().time().durationDigits() >= 0) {
            start.duration(exit.nanos() - call.entry.nanos());
        }
        sink.text(head.append('\n'));
    }

    private void lead(CallRecord record, int depth) {
        start.begin(Integer.toString(record.tid()), several, record.nanos());
        if (style.caller()) {
            long address = record.kind() == CallRecord.ENTER ? record.argument(7) : 0;
            head.append("[0x").append(Long.toHexString(address)).append("] ");
        }
        head.append(" ".repeat(style.indent() * depth));
    }

    private void finishOpen() throws IOException {
        if (open != null) {
            open = null;
            sink.text(" <unfinished ...>\n");
        }
    }

    private void line(CallRecord record, String words) throws IOException {
        finishOpen();
        start.begin(Integer.toString(record.tid()), several, record.nanos());
        sink.text(head.append(words).append('\n'));
    }

    private void end(CallRecord record) throws IOException {
        leaveAll(threads.remove(record.tid()));
        if (record.tid() != record.pid()) {
            return;
        }
        int signal = (int) record.number() & SIGNAL_BITS;
        String words =
                signal == 0
                        ? "exited (status " + (record.number() >> 8 & 0xff) + ")"
                        : "killed by " + SignalNames.of(signal);
        tally.end(record, words);
        line(record, "+++ " + words + " +++");
    }
}
