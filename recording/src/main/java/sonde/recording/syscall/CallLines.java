package sonde.recording.syscall;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.recording.syscall.LineStyle.CallStatus;
import sonde.recording.syscall.LineStyle.LineFilter;

/**
 * Writes records as strace's lines, in the order of their times. A call whose line is still open
 * when another thread has something to say gets {@code <unfinished ...>}, and a second line when it
 * ends.
 *
 * <p>A call's end belongs to the begin of its thread, whatever its number says: rt_sigreturn ends
 * with -1, and calls that a filter of the program refuses have no begin.
 */
public final class CallLines {
    static final int SIGKILL = 9;
    static final int IS_IGNORED = 1;
    private static final int RT_SIGRETURN = CallTable.number("rt_sigreturn");

    /** Takes text, newlines among it. */
    @FunctionalInterface
    public interface CallSink {
        /** More text. */
        void text(CharSequence text) throws IOException;
    }

    /** Takes calls whose lines are complete. */
    @FunctionalInterface
    public interface CallTally {
        /** A call; the entry is null for one that began before the trace. */
        void ended(@Nullable CallRecord entry, CallRecord exit);
    }

    /** A thread that was seen. */
    private static final class ThreadCalls {
        final int tid;
        @Nullable CallRecord entry;

        /** Whether the line of its call was begun and another line came between. */
        boolean interrupted;

        int column;
        boolean begun;
        List<CallRecord> ignored = List.of();

        ThreadCalls(int tid) {
            this.tid = tid;
        }
    }

    private final CallText text;
    private final CallStyle style;
    private final LineStyle lines;
    private final LineFilter filter;
    private final CallSink sink;
    private final Map<Integer, ThreadCalls> threads = new HashMap<>();

    /** Signals that wait for their delivery, by process and number. */
    private final Map<Integer, Map<Long, CallRecord>> sent = new HashMap<>();

    private final LineStart start;
    private final StringBuilder head;
    private @Nullable ThreadCalls open;
    private long lost;
    private boolean several;
    private long calls;
    private CallTally tally = (_, _) -> {};

    /**
     * Writes to a sink.
     *
     * @param epochOffset nanoseconds from CLOCK_MONOTONIC to the time of day
     */
    public CallLines(
            CallText text, CallStyle style, LineStyle lines, CallSink sink, long epochOffset) {
        this.text = text;
        this.style = style;
        this.lines = lines;
        filter = lines.filter();
        this.sink = sink;
        start = new LineStart(lines, epochOffset);
        head = start.text();
    }

    /** Tells of each call that was shown. */
    public void tell(CallTally to) {
        tally = to;
    }

    /** Calls whose lines are complete. */
    public long calls() {
        return calls;
    }

    /** Takes the next record. */
    public void accept(CallRecord record) throws IOException {
        text.see(record);
        if (record.lost() > lost) {
            finishOpen();
            sink.text("*** " + (record.lost() - lost) + " records were lost here\n");
            lost = record.lost();
        }
        ThreadCalls thread = threads.get(record.tid());
        if (thread == null) {
            thread = new ThreadCalls(record.tid());
            several |= !threads.isEmpty();
            threads.put(record.tid(), thread);
        }
        switch (record.kind()) {
            case CallRecord.ENTER -> enter(thread, record);
            case CallRecord.EXIT -> exit(thread, record);
            case CallRecord.SIGNAL -> signal(record);
            case CallRecord.SENT -> sent(thread, record);
            case CallRecord.END -> end(thread, record);
            case CallRecord.EXEC -> superseded(thread, record);
            default -> {}
        }
    }

    /** A call that was begun and never ended, at the end of the trace. */
    public void finish() throws IOException {
        if (open != null) {
            sink.text(" <detached ...>\n");
            open = null;
        }
    }

    private void enter(ThreadCalls thread, CallRecord record) throws IOException {
        thread.entry = null;
        thread.interrupted = false;
        thread.begun = false;
        if (!filter.shows(record) || !text.uses(record, filter.descriptors())) {
            return;
        }
        CallRecord entry = record.copy();
        thread.entry = entry;
        if (filter.needsEnd() || entry.lacksMemory()) {
            return; // the line is written when its end is known
        }
        begin(thread, entry, text.begin(entry));
    }

    private void begin(ThreadCalls thread, CallRecord record, String start) throws IOException {
        finishOpen();
        lead(record);
        head.append(start);
        thread.column = head.length();
        thread.begun = true;
        sink.text(head);
        open = thread;
    }

    /** Ends the line that is open, because another begins. */
    private void finishOpen() throws IOException {
        ThreadCalls other = open;
        if (other != null) {
            sink.text(" <unfinished ...>\n");
            other.interrupted = true;
            open = null;
        }
    }

    /** What stands before a line, in {@link #head}. */
    private void lead(CallRecord record) {
        start.begin(text.thread(record.tid()), several, record.nanos());
        if (lines.numbers() && record.kind() <= CallRecord.EXIT) {
            head.append('[');
            start.pad(Long.toString(record.number()), 4, true).append("] ");
        }
        if (lines.instructions()) {
            String address = Long.toHexString(record.argument(7));
            head.append("[0000000000000000", 0, 17 - address.length()).append(address).append("] ");
        }
    }

    private void exit(ThreadCalls thread, CallRecord exit) throws IOException {
        CallRecord entry = thread.entry;
        if (entry == null) {
            // The child's side of fork, and calls that were in progress when the trace began.
            boolean alone = exit.number() >= 0 && exit.number() != RT_SIGRETURN;
            if (alone
                    && filter.shows(exit)
                    && text.uses(exit, filter.descriptors())
                    && !isNewborn(exit)
                    && isWanted(null, exit)) {
                begin(thread, exit, text.begin(null, exit));
                complete(thread, null, exit);
            }
        } else if (isWanted(entry, exit)) {
            if (!thread.begun) {
                begin(thread, entry, text.begin(entry, exit));
            } else if (thread.interrupted) {
                resume(thread, entry, exit);
            }
            complete(thread, entry, exit);
        }
        thread.entry = null;
        for (CallRecord late : thread.ignored) {
            signal(late);
        }
        thread.ignored = List.of();
    }

    /** Whether a child leaves the call that made it. */
    static boolean isNewborn(CallRecord exit) {
        return exit.result() == 0 && makesThread(exit);
    }

    static boolean makesThread(CallRecord exit) {
        return List.of("clone", "clone3", "fork", "vfork").contains(CallTable.name(exit.number()));
    }

    private boolean isWanted(@Nullable CallRecord entry, CallRecord exit) {
        return isWanted(filter, text, entry, exit);
    }

    static boolean isWanted(
            LineFilter filter, CallText text, @Nullable CallRecord entry, CallRecord exit) {
        boolean failed = CallView.isError(exit.result());
        return filter.shows(failed ? CallStatus.FAILED : CallStatus.SUCCESSFUL)
                && (filter.slower() == 0
                        || entry != null && exit.nanos() - entry.nanos() >= filter.slower())
                && text.touches(entry, exit, filter.paths());
    }

    private void resume(ThreadCalls thread, CallRecord entry, CallRecord now) throws IOException {
        finishOpen();
        lead(now);
        head.append("<... ").append(CallTable.name(entry.number())).append(" resumed>");
        thread.column = head.length();
        sink.text(head);
        open = thread;
    }

    private void complete(ThreadCalls thread, @Nullable CallRecord entry, CallRecord exit)
            throws IOException {
        head.setLength(0);
        head.append(text.rest(entry, exit)).append(')');
        column(thread);
        head.append("= ").append(text.result(entry, exit)).append(exit.remark());
        if (lines.time().durationDigits() >= 0 && entry != null) {
            start.duration(exit.nanos() - entry.nanos());
        }
        head.append('\n');
        if (style.dumps()) {
            text.dump(head, entry, exit);
        }
        sink.text(head);
        open = null;
        calls++;
        tally.ended(entry, exit);
    }

    private void column(ThreadCalls thread) {
        head.append(' ');
        int missing = style.column() - thread.column - head.length();
        head.append(" ".repeat(Math.max(0, missing)));
    }

    private void signal(CallRecord record) throws IOException {
        Map<Long, CallRecord> waiting = sent.get(record.pid());
        if (waiting != null) {
            waiting.remove(record.number());
        }
        if (filter.signals().get((int) record.number()) && record.number() != SIGKILL) {
            finishOpen();
            lead(record);
            sink.text(head.append("--- ").append(text.signal(record)).append(" ---\n"));
        }
    }

    /**
     * A traced thread sees an ignored signal when it leaves the kernel. One that ends the process
     * is never delivered: the kernel sends SIGKILL to all threads in its place (complete_signal,
     * kernel/signal.c).
     */
    private void sent(ThreadCalls thread, CallRecord record) throws IOException {
        if (record.result() != IS_IGNORED) {
            sent.computeIfAbsent(record.pid(), _ -> new HashMap<>())
                    .put(record.number(), record.copy());
        } else if (thread.entry == null) {
            signal(record);
        } else {
            thread.ignored = new ArrayList<>(thread.ignored);
            thread.ignored.add(record.copy());
        }
    }

    private void end(ThreadCalls thread, CallRecord record) throws IOException {
        CallRecord entry = thread.entry;
        boolean unfinished = filter.shows(CallStatus.UNFINISHED) && filter.slower() == 0;
        if (entry != null && unfinished && text.touches(entry, null, filter.paths())) {
            if (!thread.begun) {
                begin(thread, entry, text.begin(entry));
            } else if (thread.interrupted) {
                resume(thread, entry, record);
            }
            head.setLength(0);
            head.append(text.isWholeAtBegin(entry) ? ")" : " <unfinished ...>)");
            column(thread);
            sink.text(head.append("= ?\n"));
            open = null;
        }
        Map<Long, CallRecord> waiting = sent.get(record.pid());
        CallRecord fatal = waiting == null ? null : waiting.get(record.number() & 0x7f);
        if (fatal != null) {
            signal(fatal);
        }
        if (record.tid() == record.pid()) {
            sent.remove(record.pid());
        }
        if (filter.exits()) {
            finishOpen();
            lead(record);
            sink.text(head.append("+++ ").append(text.end(record)).append(" +++\n"));
        }
        threads.remove(thread.tid);
    }

    /** The thread that calls exec takes over the number of its process. */
    private void superseded(ThreadCalls leader, CallRecord record) throws IOException {
        ThreadCalls old = threads.remove((int) record.result());
        if (old == null) {
            return;
        }
        leader.entry = old.entry;
        leader.begun = old.begun;
        leader.interrupted = true;
        if (!filter.superseded()) {
            return;
        }
        finishOpen();
        lead(record);
        sink.text(
                head.append("+++ superseded by execve in pid ")
                        .append(record.result())
                        .append(" +++\n"));
    }
}
