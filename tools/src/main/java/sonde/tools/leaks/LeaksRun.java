package sonde.tools.leaks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Result;
import sonde.event.result.Unit;
import sonde.probe.kmem.KmemSession;
import sonde.probe.kmem.KmemSession.KmemLosses;
import sonde.probe.kmem.KmemSession.KmemRequest;
import sonde.probe.launch.CommandLauncher;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.EndSignals;
import sonde.probe.launch.InheritedState;
import sonde.probe.launch.LaunchedCommand;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;
import sonde.tools.leaks.UnfreedObjects.LeakVerdict;
import sonde.tools.option.GivenOptions;
import sonde.view.NumberText;

/** One run of {@code sonde leaks}. */
public final class LeaksRun implements AutoCloseable {
    private static final int MOST_SYMBOLS = 256 << 20;
    private static final int USUAL_OBJECTS = 1 << 20;
    private static final long OBJECT_BYTES = 120; // of the table, with its buckets
    private static final int PERIODS = 10;
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final Pattern AVAILABLE = Pattern.compile("MemAvailable:\\s+(\\d{1,15}) kB");

    private final LeaksRequest request;
    private final EndSignals signals;
    private final List<String> notes = new ArrayList<>();
    private volatile boolean interrupted;
    private volatile int running;
    private List<UnfreedObjects> groups = List.of();

    LeaksRun(LeaksRequest request) throws IOException {
        this.request = request;
        signals = EndSignals.listen(this::interrupt);
    }

    /** Ctrl-C reaches the command by itself; other signals are passed on to it. */
    private void interrupt(EndSignals.Kind kind) {
        interrupted = true;
        int pid = running;
        if (pid != 0 && kind != EndSignals.Kind.INTERRUPT) {
            try {
                ProcessCalls.kill(pid, kind.number());
            } catch (SyscallException e) {
                return; // it has ended
            }
        }
    }

    /** What the options ask for; nothing runs yet. */
    public static LeaksRun of(GivenOptions given, InheritedState origin, Consumer<String> progress)
            throws IOException {
        return new LeaksRun(LeaksArguments.request(given, origin, progress));
    }

    /** Runs the commands, waits for late frees, and says what is left. */
    public Result result() throws IOException {
        try (LeakStacks before = stacks();
                KmemSession session =
                        KmemSession.open(
                                new KmemRequest(
                                        request.watchesAll(), request.pages(), mostObjects()),
                                before.symbols())) {
            notes.addAll(session.missing());
            if (request.pid() != 0) {
                session.follow(request.pid());
            }
            Map<String, SlabUse> slabs = request.watch() ? SlabUse.now() : Map.of();
            allocate(session);
            Map<String, SlabUse> later = request.watch() ? SlabUse.now() : Map.of();
            // Modules are still loaded: afterwards nothing knows their names.
            try (LeakStacks stacks = stacks()) {
                String seen = session.moduleSymbols();
                stacks.learn(seen);
                boolean isLoaded = request.filter().isLoaded(seen);
                free();
                if (!isLoaded) {
                    throw new IOException(
                            "--module "
                                    + String.join(", ", request.filter().modules())
                                    + ": no such module was loaded when the allocations ended, so"
                                    + " no stack can be of it; 'lsmod' lists modules");
                }
                groups = settled(session, stacks);
                losses(session);
                if (request.alloc() != null && !request.watchesAll() && session.hasTasks()) {
                    notes.add(
                            "processes that the command started still run: files and sockets"
                                    + " that they have open are among what was not freed");
                }
                if (status() != 0) {
                    notes.addAll(stacks.notes());
                }
                return request.watch()
                        ? LeakPage.growth(groups, SlabUse.growth(slabs, later), seconds(), notes)
                        : LeakPage.of(groups, when(), notes);
            }
        }
    }

    private LeakStacks stacks() throws IOException {
        return new LeakStacks(FileCalls.readAll("/proc/kallsyms", MOST_SYMBOLS), request.places());
    }

    private int mostObjects() throws IOException {
        if (request.mostObjects() > 0) {
            return request.mostObjects();
        }
        Matcher memory = AVAILABLE.matcher(Files.readString(Path.of("/proc/meminfo")));
        long bytes = memory.find() ? Long.parseLong(memory.group(1)) << 10 : 1L << 30;
        return Math.clamp(bytes / 8 / OBJECT_BYTES, 1 << 12, USUAL_OBJECTS);
    }

    private String when() {
        return request.alloc() != null
                ? "by '" + request.shown() + "'"
                : "in " + NumberText.text(Unit.NANOS, request.nanos(), true);
    }

    private double seconds() {
        return request.nanos() / 1e9;
    }

    private void allocate(KmemSession session) throws IOException {
        CommandWords command = request.alloc();
        if (command == null) {
            session.keep(true);
            for (int i = 0; i < PERIODS && !interrupted; i++) {
                session.period(i);
                pause(request.nanos() / PERIODS);
            }
        } else {
            run(command, "the command that allocates", session);
        }
        session.keep(false);
    }

    private void free() throws IOException {
        CommandWords command = request.free();
        if (command != null) {
            run(command, "the command that frees", null);
        }
    }

    /** Runs a command to its end; what it and its children allocate is kept by the session. */
    private void run(CommandWords command, String what, @Nullable KmemSession session)
            throws IOException {
        try (LaunchedCommand child = CommandLauncher.prepare(command, request.origin())) {
            if (session != null) {
                session.follow(child.pid());
                session.keep(true);
            }
            running = child.pid();
            child.release();
            int status = child.await().shellCode();
            running = 0;
            if (session != null) {
                session.keep(false);
            }
            if (status != 0) {
                notes.add(what + " ended with status " + status);
            }
        }
    }

    private void pause(long nanos) {
        long until = System.nanoTime() + nanos;
        while (System.nanoTime() < until && !interrupted) {
            LockSupport.parkNanos(Math.min(LOOK_NANOS, until - System.nanoTime()));
        }
    }

    /** Looks until nothing is left, or the time for late frees is over. */
    private List<UnfreedObjects> settled(KmemSession session, LeakStacks stacks)
            throws IOException {
        LeakJudge judge =
                new LeakJudge(
                        session,
                        stacks,
                        request.filter(),
                        request.allTasks() || request.watch(),
                        session.missing().isEmpty(),
                        request.watch() ? PERIODS : 0);
        long until = System.nanoTime() + request.settleNanos();
        while (true) {
            List<UnfreedObjects> groups = judge.groups();
            boolean open = groups.stream().anyMatch(one -> one.verdict() != LeakVerdict.KEPT);
            if (!open || System.nanoTime() >= until || interrupted) {
                return groups;
            }
            pause(Math.min(LOOK_NANOS, Math.max(0, until - System.nanoTime())));
        }
    }

    private void losses(KmemSession session) throws IOException {
        KmemLosses losses = session.losses();
        if (losses.noRoom() > 0) {
            notes.add(
                    losses.noRoom()
                            + " allocations were not kept, as the table was full: --max-objects N"
                            + " makes it larger");
        }
        if (losses.noStack() > 0) {
            notes.add("the stacks of " + losses.noStack() + " allocations could not be kept");
        }
        if (losses.missed() > 0) {
            notes.add(
                    losses.missed()
                            + " allocations in interrupts were missed, as they came while another"
                            + " one was being kept");
        }
    }

    /** 1 when leaks were found. */
    public int status() {
        return groups.stream().anyMatch(one -> one.verdict() == LeakVerdict.LEAK) ? 1 : 0;
    }

    /** What was left, after {@link #result}. */
    List<UnfreedObjects> groups() {
        return groups;
    }

    @Override
    public void close() throws IOException {
        signals.close();
    }
}
