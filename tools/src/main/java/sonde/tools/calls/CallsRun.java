package sonde.tools.calls;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.Table;
import sonde.probe.syscall.Awaited;
import sonde.probe.syscall.CallCounter;
import sonde.probe.syscall.CallStream;
import sonde.probe.syscall.LibrarySession;
import sonde.probe.syscall.LibrarySession.LibraryProbe;
import sonde.recording.library.LibraryJson;
import sonde.recording.library.LibraryLines;
import sonde.recording.library.LibraryLines.LibraryFunction;
import sonde.recording.library.LibraryText;
import sonde.recording.syscall.CallLines.CallSink;
import sonde.recording.syscall.CallRecord;
import sonde.symbol.demangle.Demangler;
import sonde.sys.Clocks;
import sonde.tools.syscalls.CallCounts;
import sonde.tools.syscalls.TracedTarget;
import sonde.view.TextEscape;

/** One run of {@code sonde calls}: from the start of the command to its end. */
public final class CallsRun implements AutoCloseable {
    private static final long WAIT_MILLIS = 10;
    private static final List<String> COLUMNS =
            List.of(
                    "time-percent",
                    "total-time",
                    "avg-time",
                    "min-time",
                    "max-time",
                    "calls",
                    "name");

    private final CallsRequest request;
    private final CallCounts counts = new CallCounts("library calls");
    private final LibraryChoice choice;
    private final LibrarySession session;
    private final TracedTarget target;
    private final Map<String, LibraryFunction> functions = new HashMap<>();

    /**
     * Prepares the run: the programs are attached, and the command waits for its start.
     *
     * @throws IOException when the command cannot be started, or the kernel refuses the programs
     */
    public CallsRun(CallsRequest request) throws IOException {
        this.request = request;
        choice = new LibraryChoice(request.wanted());
        FutureTask<LibrarySession> opening =
                new FutureTask<>(() ->
                        LibrarySession.open(
                                request.pids(), choice, request.follow(), countsInKernel(request)));
        Thread.ofPlatform().daemon().name("open").start(opening);
        target = TracedTarget.prepare(request.command(), request.origin(), opening);
        session = Awaited.of(opening);
    }

    /** Whether each probe that is hit counts, whoever calls. */
    private static boolean countsInKernel(CallsRequest request) {
        LibraryChoice.Wanted wanted = request.wanted();
        return request.counts() != null
                && (!wanted.namesCallers() || wanted.calls().fitsAnyObject());
    }

    /** The counts, when they were asked for. */
    public Optional<Table> table() throws IOException {
        String order = request.counts();
        if (order == null) {
            return Optional.empty();
        }
        for (CallCounter.CountedCall sum : session.sums()) {
            LibraryProbe probe = session.probe(sum.number());
            counts.add(function(probe, probe.name(), "").shown(), sum);
        }
        return Optional.of(counts.table(order, COLUMNS));
    }

    /** The lines; the command runs while they are written. */
    public Listing lines() {
        return new Listing("", List.of(Column.text("call")), this::write);
    }

    private void write(OutputStream out, ListingForm form) throws IOException {
        CallSink shown = text -> out.write(text.toString().getBytes(StandardCharsets.UTF_8));
        boolean isJson = form == ListingForm.JSON_LINES;
        boolean counted = request.counts() != null;
        long epoch = Clocks.nanos(Clocks.CLOCK_REALTIME) - Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        Current current = new Current();
        LibraryText text = new LibraryText(request.wanted().limit());
        LibraryLines lines =
                new LibraryLines(
                        current, text, request.style(), counted || isJson ? _ -> {} : shown, epoch);
        if (counted) {
            lines.tell((function, entry, exit, _) ->
                    counts.count(
                            function.shown(),
                            exit == null ? 0 : exit.nanos() - entry.nanos(),
                            false));
        } else if (isJson) {
            lines.tell(new LibraryJson(text, shown, epoch));
        }
        target.start(session);
        try {
            CallStream stream = session.stream();
            while (!stream.isAtEnd()) {
                CallRecord record = stream.next(WAIT_MILLIS);
                if (record == null) {
                    out.flush();
                    if (target.isDone(session)) {
                        session.finish();
                    }
                } else if (current.take(record)) {
                    lines.accept(record);
                }
            }
            lines.finish();
            out.flush();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The function of the record at hand: how it is shown depends on who calls. */
    private final class Current implements java.util.function.LongFunction<LibraryFunction> {
        private @Nullable TracedObject caller;
        private String name = "";

        /** Whether the record's line is wanted. */
        boolean take(CallRecord record) {
            if (record.kind() != CallRecord.ENTER) {
                return true;
            }
            LibraryProbe probe = session.probe(record.number());
            caller = choice.caller(record.pid(), record.argument(7), record.nanos());
            boolean entry = probe.name().indexOf('@') > 0;
            name =
                    entry
                            ? probe.name()
                            : choice.nameAt(
                                    probe, record.pid(), record.argument(7), record.nanos());
            return entry
                    || !probe.anyCaller()
                    || caller != null && request.wanted().calls().fits(name, caller);
        }

        @Override
        public LibraryFunction apply(long number) {
            LibraryProbe probe = session.probe(number);
            TracedObject by = caller;
            boolean named = request.wanted().namesCallers() && probe.name().indexOf('@') < 0;
            String prefix = named && by != null ? by.soname() + "->" : "";
            String called = name;
            return functions.computeIfAbsent(
                    prefix + called + " " + number, _ -> function(probe, called, prefix));
        }
    }

    private LibraryFunction function(LibraryProbe probe, String name, String prefix) {
        int at = name.indexOf('@');
        String symbol = at < 0 ? name : name.substring(0, at);
        String shown = request.demangles() ? Demangler.functionName(symbol) : symbol;
        return new LibraryFunction(
                shown,
                TextEscape.line(prefix + shown + (at < 0 ? "" : name.substring(at))),
                probe.library(),
                choice.type(probe, symbol),
                probe.returns());
    }

    /** What the user should know at the end. */
    public List<String> notes() throws IOException {
        List<String> notes = new ArrayList<>(choice.notes());
        notes.addAll(session.refused());
        long lost = session.lost();
        if (lost > 0) {
            notes.add(lost + " records were lost; the lines say where");
        }
        return notes;
    }

    /** How the command ended: its exit code, 128 + N for signal N; 0 without a command. */
    public int status() {
        return target.status();
    }

    @Override
    public void close() throws IOException {
        session.close();
        target.close();
        choice.close();
    }
}
