package sonde.tools.syscalls;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import sonde.bpf.BpfRefusedException;
import sonde.event.result.Column;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.Table;
import sonde.probe.syscall.Awaited;
import sonde.probe.syscall.CallCounter;
import sonde.probe.syscall.CallSession;
import sonde.probe.syscall.CallSession.CallRequest;
import sonde.probe.syscall.CallSource;
import sonde.probe.syscall.CallStream;
import sonde.probe.syscall.PtraceSession;
import sonde.recording.syscall.CallJson;
import sonde.recording.syscall.CallLines;
import sonde.recording.syscall.CallLines.CallSink;
import sonde.recording.syscall.CallRecord;
import sonde.recording.syscall.CallTable;
import sonde.recording.syscall.CallText;
import sonde.recording.syscall.CaptureOp;
import sonde.recording.syscall.CaptureOp.CallPlan;
import sonde.recording.syscall.CaptureOp.NumberPlan;
import sonde.recording.syscall.CaptureOp.PlanStyle;
import sonde.sys.Clocks;
import sonde.sys.SyscallException;
import sonde.tools.syscalls.SyscallsRequest.Backend;

/** One run of {@code sonde syscalls}: from the start of the command to its end. */
public final class SyscallsRun implements AutoCloseable {
    private static final int RING_BYTES = 64 << 20;
    private static final long WAIT_MILLIS = 10;
    private static final int MOST_DATA = 16000;
    private static final int EXECVE = CallTable.number("execve");

    private final SyscallsRequest request;
    private final TracedTarget target;
    private final CallSource source;
    private final List<String> notes = new ArrayList<>();
    private final CallCounts counts = new CallCounts("system calls");
    private final Set<Integer> executed = new HashSet<>();
    private final Set<Integer> detached = new HashSet<>();
    private boolean begun;

    /**
     * Prepares the run: the programs are attached, and the command waits for its start.
     *
     * @throws IOException when the command cannot be started, or the kernel refuses the programs
     */
    public SyscallsRun(SyscallsRequest request) throws IOException {
        this.request = request;
        // Both take their time, and neither needs the other.
        FutureTask<CallSource> opening = new FutureTask<>(this::open);
        Thread.ofPlatform().daemon().name("open").start(opening);
        target = TracedTarget.prepare(request.command(), request.origin(), opening);
        source = Awaited.of(opening);
    }

    private CallSource open() throws IOException {
        if (request.backend() == Backend.PTRACE) {
            return stopping();
        }
        try {
            return countsOnly()
                    ? CallCounter.open(request.pids(), request.follow())
                    : CallSession.open(
                            new CallRequest(
                                    request.pids(), request.follow(), this::plans, RING_BYTES));
        } catch (BpfRefusedException e) {
            if (request.backend() == Backend.BPF) {
                throw e;
            }
            notes.add(
                    "BPF programs are refused ("
                            + e.getMessage()
                            + "); the program was stopped at each call instead (--backend=ptrace)");
            return stopping();
        }
    }

    private CallSource stopping() throws IOException {
        return PtraceSession.open(request.pids(), request.follow(), plans(), request.injections());
    }

    /** Whether lines are not wanted. */
    private boolean countsOnly() {
        SyscallsRequest.CountForm counted = request.counts();
        return counted != null && !counted.linesToo() && !request.lines().filter().needsRecords();
    }

    private Map<Integer, NumberPlan> plans() {
        PlanStyle style =
                new PlanStyle(
                        request.style().dumps() ? MOST_DATA : request.style().limit(),
                        request.style().descriptors().needsFile()
                                || !request.lines().filter().paths().isEmpty(),
                        request.style().calls().verbose());
        Map<Integer, NumberPlan> plans = new HashMap<>();
        request.lines().filter().calls().stream()
                .forEach(number ->
                        plans.put(number, CaptureOp.plan(request.table(), number, style)));
        if (request.style().descriptors().names()) {
            for (int number : CallText.namingCalls()) {
                plans.putIfAbsent(number, CaptureOp.plan(request.table(), number, style));
            }
        }
        // The command's own calls begin with its exec.
        plans.putIfAbsent(EXECVE, new NumberPlan(new CallPlan(List.of(), List.of()), -1, Map.of()));
        return plans;
    }

    /** The lines; the command runs while they are written. */
    public Listing lines() {
        return new Listing("", List.of(Column.text("call")), this::write);
    }

    private void write(OutputStream out, ListingForm form) throws IOException {
        switch (source) {
            case CallCounter counter -> count(counter);
            case CallSource.Streamed session -> write(session, out, form);
        }
    }

    /** Waits until the command or the processes have ended. */
    private void count(CallCounter counter) throws IOException {
        target.start(source);
        try {
            while (!target.isDone(source)) {
                Thread.sleep(WAIT_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        BitSet shown = request.lines().filter().calls();
        for (CallCounter.CountedCall sum : counter.sums()) {
            if (shown.get((int) Math.min(sum.number(), CallTable.CALLS))) {
                counts.add(CallTable.name(sum.number()), sum);
            }
        }
    }

    private void write(CallSource.Streamed session, OutputStream out, ListingForm form)
            throws IOException {
        SyscallsRequest.CountForm counted = request.counts();
        CallSink sink = text -> out.write(text.toString().getBytes(StandardCharsets.ISO_8859_1));
        long epoch = Clocks.nanos(Clocks.CLOCK_REALTIME) - Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        CallText text = new CallText(request.table(), request.style());
        Function<CallSink, CallLines> writers =
                one -> new CallLines(text, request.style(), request.lines(), one, epoch);
        boolean linesToo = counted == null || counted.linesToo();
        Path base = request.separate();
        boolean shown = linesToo && base == null && form == ListingForm.TEXT;
        boolean tallies = counted != null || request.limit() != Long.MAX_VALUE;
        CallLines lines = writers.apply(shown ? sink : _ -> {});
        lines.tell(counts::accept);
        CallJson json =
                form == ListingForm.JSON_LINES
                        ? new CallJson(text, request.lines(), sink, epoch)
                        : null;
        target.start(source);
        try (SeparateFiles files = base == null ? null : new SeparateFiles(base, writers)) {
            CallStream stream = session.stream();
            while (!stream.isAtEnd()) {
                CallRecord record = stream.next(WAIT_MILLIS);
                if (record == null) {
                    out.flush();
                    if (files != null) {
                        files.flush();
                    }
                    if (target.isDone(source)) {
                        session.finish();
                    }
                } else if (lines.calls() >= request.limit()) {
                    session.finish();
                } else if (hasBegun(record) && isFollowed(record)) {
                    if (files != null) {
                        files.accept(record);
                    } else if (json != null && linesToo) {
                        json.accept(record);
                    }
                    if (files == null && json == null || tallies) {
                        lines.accept(record);
                    }
                }
            }
            lines.finish();
            out.flush();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Calls of the command before its exec are those of its start by sonde. */
    private boolean hasBegun(CallRecord record) {
        if (!begun && record.tid() == target.pid()) {
            begun = record.kind() == CallRecord.ENTER && record.number() == EXECVE;
            return begun;
        }
        return true;
    }

    /** Whether its process has executed no other program since it is traced, where that matters. */
    private boolean isFollowed(CallRecord record) {
        if (!request.untilExec()) {
            return true;
        }
        int process = record.pid();
        if (record.kind() == CallRecord.EXIT
                && record.number() == EXECVE
                && record.result() == 0
                && !executed.add(process)) {
            detached.add(process);
        }
        return !detached.contains(process);
    }

    /** The counts, when they were asked for. */
    public Optional<Table> table() {
        SyscallsRequest.CountForm counted = request.counts();
        return counted == null
                ? Optional.empty()
                : Optional.of(counts.table(counted.order(), counted.columns()));
    }

    /** What the user should know at the end. */
    public List<String> notes() throws SyscallException {
        long lost = source instanceof CallSource.Streamed session ? session.lost() : 0;
        if (lost > 0) {
            notes.add(lost + " records were lost because the ring was full; the lines say where");
        }
        return List.copyOf(notes);
    }

    /** How the command ended: its exit code, 128 + N for signal N; 0 without a command. */
    public int status() {
        return target.status();
    }

    @Override
    public void close() throws IOException {
        source.close();
        target.close();
    }
}
