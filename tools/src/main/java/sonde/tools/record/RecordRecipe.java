package sonde.tools.record;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Report;
import sonde.probe.launch.CommandLauncher;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.EndSignals;
import sonde.probe.launch.InheritedState;
import sonde.probe.launch.LaunchedCommand;
import sonde.probe.launch.OutputFolder;
import sonde.probe.launch.ReadyDescriptor;
import sonde.probe.plan.AskedEvent;
import sonde.probe.plan.KernelFeatureProbe;
import sonde.probe.plan.MachineSize;
import sonde.probe.plan.RecordPlan;
import sonde.probe.plan.RecordPlanner;
import sonde.probe.plan.UnknownEventException;
import sonde.probe.record.BundleFolder;
import sonde.probe.record.PlannedFilters;
import sonde.probe.record.ProcessTree;
import sonde.probe.record.RecordProgress;
import sonde.probe.record.RecordRequest;
import sonde.probe.record.RecordSession;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.CommandExit;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.sys.Clocks;
import sonde.sys.Errno;
import sonde.sys.MachineFacts;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;
import sonde.sys.WaitStatus;

/**
 * Starts the command stopped, arms the sources, lets it go, waits, finishes the bundle. Runs on the
 * calling thread, which must be a platform thread: it waits in the kernel.
 */
public final class RecordRecipe {
    /** Between two looks at the recording where nobody watches: each wakes an idle machine. */
    private static final long LOOK_NANOS = 500_000_000;

    /** Before the first: a command has its own memory by then. */
    private static final long FIRST_LOOK_NANOS = 50_000_000;

    /** The same where somebody does. */
    private static final long WATCHED_NANOS = 200_000_000;

    /** The processes that all others descend from. */
    private static final List<Integer> INIT = List.of(1, 2);

    private final RecordOrder order;
    private final @Nullable Consumer<RecordProgress> observer;
    private final BlockingQueue<Happening> happenings = new LinkedBlockingQueue<>();

    /** What ends a wait. */
    private sealed interface Happening {
        record CommandEnded(WaitStatus status) implements Happening {}

        record Signalled(EndSignals.Kind kind) implements Happening {}

        record OutputClosed() implements Happening {}
    }

    /**
     * @param observer told how it goes, a few times a second, on the calling thread; null where
     *     nobody watches: the account of the rings is a file for each CPU
     */
    public RecordRecipe(RecordOrder order, @Nullable Consumer<RecordProgress> observer) {
        this.order = order;
        this.observer = observer;
    }

    /** The plan, for {@code --plan}; starts nothing. */
    public static Report plan(RecordOrder order) throws IOException, UnknownEventException {
        MachineSize here = here();
        RecordPlan plan = RecordPlanner.plan(order.spec(), KernelFeatureProbe.probe(), here);
        return PlannedFilters.checked(plan).toResult(here);
    }

    private static MachineSize here() throws SyscallException {
        return new MachineSize(MachineFacts.onlineCpus().cardinality(), MachineFacts.ramBytes());
    }

    /**
     * Records.
     *
     * @throws sonde.probe.launch.ExecException when the command cannot be executed; no bundle stays
     */
    public RecordOutcome run() throws IOException, InterruptedException, UnknownEventException {
        for (int pid : order.pids()) {
            RunningTarget.check(pid);
        }
        RecordPlan plan =
                PlannedFilters.checked(
                        RecordPlanner.plan(order.spec(), KernelFeatureProbe.probe(), here()));
        CommandWords command = order.command();
        try (ReadyDescriptor _ = order.ready();
                EndSignals _ =
                        EndSignals.listen(kind -> happenings.add(new Happening.Signalled(kind)));
                OutputFolder output = output();
                LiveOutput live = live()) {
            if (command == null) {
                return recordRunning(plan, output, live);
            }
            try (LaunchedCommand target = prepare(command, output)) {
                return recordCommand(plan, output, target, command, live);
            }
        }
    }

    private @Nullable LiveOutput live() {
        RecordOrder.LiveView view = order.live();
        return view == null
                ? null
                : new LiveOutput(
                        view,
                        order.spec().events().stream().map(AskedEvent::pattern).toList(),
                        () -> happenings.add(new Happening.OutputClosed()));
    }

    /** A command that cannot be executed leaves no folder. */
    private LaunchedCommand prepare(CommandWords command, OutputFolder output) throws IOException {
        try {
            return CommandLauncher.prepare(command, origin());
        } catch (IOException e) {
            output.deleteAll();
            throw e;
        }
    }

    /** What the command gets: what sonde was given, and what was ordered on top. */
    private InheritedState origin() {
        return order.jvm() == RecordOrder.JvmMaps.AT_EXIT
                ? order.origin()
                        .withWords(
                                "JAVA_TOOL_OPTIONS",
                                "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit")
                : order.origin();
    }

    private OutputFolder output() throws IOException {
        String name = order.name();
        if (name == null) {
            CommandWords command = order.command();
            name =
                    command != null
                            ? baseName(command.words().getFirst())
                            : order.user() != null
                                    ? "user-" + order.user()
                                    : order.pids().isEmpty()
                                            ? "machine"
                                            : "pid-" + order.pids().getFirst();
            return OutputFolder.next(Path.of("."), name);
        }
        Path path = Path.of(name.replaceFirst("/+$", "").replaceFirst("\\.(sonde|dat)$", ""));
        Path parent = path.getParent();
        try {
            return OutputFolder.asked(
                    parent == null ? Path.of(".") : parent, String.valueOf(path.getFileName()));
        } catch (SyscallException e) {
            if (e.errno() != Errno.ENOENT && e.errno() != Errno.ENOTDIR) {
                throw e;
            }
            boolean there = parent != null && Files.isDirectory(parent);
            throw new IOException(
                    there
                            ? "no folder can be made in " + parent + "; give another place with -o"
                            : "no folder "
                                    + parent
                                    + " to record into; make it first, or give another place with"
                                    + " -o",
                    e);
        }
    }

    /** The name of the single file: as asked for, whatever number its folder had. */
    private String stem(Path folder) {
        String name = order.name();
        Path asked = name == null ? folder : Path.of(name.replaceFirst("/+$", ""));
        return String.valueOf(asked.getFileName()).replaceFirst("\\.(sonde|dat)$", "");
    }

    private static String baseName(byte[] word) {
        String text = new String(word, StandardCharsets.ISO_8859_1);
        return text.substring(text.lastIndexOf('/') + 1);
    }

    private RecordOutcome recordCommand(
            RecordPlan plan,
            OutputFolder output,
            LaunchedCommand target,
            CommandWords command,
            @Nullable LiveOutput live)
            throws IOException, InterruptedException {
        List<String> words = command.words().stream().map(RecordRecipe::text).toList();
        RecordRequest request =
                new RecordRequest(
                        order.version(),
                        order.spec().mode(),
                        words,
                        List.of(target.pid()),
                        live != null);
        try (RecordSession session = start(plan, output, request)) {
            ready(session);
            long released = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
            try {
                target.release();
            } catch (IOException e) {
                session.stop(null);
                output.deleteAll();
                throw e;
            }
            session.released(released);
            begin(live, session);
            Thread.ofPlatform().daemon().name("sonde-wait").start(() -> await(target));
            WaitStatus status = follow(session, target, output, request.rootPids());
            RecordingMeta meta = session.stop(exit(status));
            finish(live);
            if (status == null) {
                status = target.await();
            }
            return finish(session, output, meta, status.shellCode());
        }
    }

    private static String text(byte[] word) {
        return new String(word, StandardCharsets.UTF_8);
    }

    private static void begin(@Nullable LiveOutput live, RecordSession session) throws IOException {
        if (live != null) {
            live.begin(session);
        }
    }

    private static void finish(@Nullable LiveOutput live) throws InterruptedException {
        if (live != null) {
            live.finish();
        }
    }

    private RecordOutcome recordRunning(
            RecordPlan plan, OutputFolder output, @Nullable LiveOutput live)
            throws IOException, InterruptedException {
        TargetMode mode = order.spec().mode();
        String user = order.user();
        int uid = user == null ? -1 : UserProcesses.number(user);
        List<Integer> pids = user == null ? order.pids() : UserProcesses.of(uid);
        RecordRequest request =
                new RecordRequest(order.version(), mode, List.of(), pids, live != null);
        try (RecordSession session = start(plan, output, request)) {
            begin(live, session);
            if (user == null) {
                ready(session);
                follow(session, null, output, pids);
            } else {
                session.addNote("processes of user " + user + " are recorded");
                try (UserProcesses later = new UserProcesses(uid, session, pids)) {
                    later.start();
                    ready(session);
                    follow(session, null, output, pids);
                }
            }
            RecordingMeta meta = session.stop(null);
            finish(live);
            return finish(session, output, meta, 0);
        }
    }

    /** A recording that cannot begin leaves no folder. */
    private static RecordSession start(RecordPlan plan, OutputFolder output, RecordRequest request)
            throws IOException {
        try {
            return RecordSession.start(plan, new BundleFolder(output.fd()), request);
        } catch (IOException e) {
            output.deleteAll();
            if (e instanceof SyscallException call && call.errno() == Errno.ENOSPC) {
                throw new IOException(output.path() + " cannot be written: the disk is full", e);
            }
            throw e;
        }
    }

    /** The recording goes on when the reader is gone. */
    private void ready(RecordSession session) {
        ReadyDescriptor ready = order.ready();
        if (ready == null) {
            return;
        }
        try {
            ready.ready();
        } catch (SyscallException e) {
            session.addNote("--ready-fd could not be written to: " + Errno.describe(e.errno()));
        }
    }

    private RecordOutcome finish(
            RecordSession session, OutputFolder output, RecordingMeta meta, int exitCode)
            throws SyscallException {
        String failure = session.failure().orElse("");
        output.giveToCaller();
        Path made = output.path();
        boolean whole = meta.layout().part(RecordingMeta.PartKind.TRACE_DAT, "").isPresent();
        if (order.spec().traceDatOnly() && whole) {
            made = output.leaveOnly("trace.dat", stem(made));
        }
        return new RecordOutcome(made.normalize(), meta, exitCode, failure, session::awaitRemoved);
    }

    private void await(LaunchedCommand target) {
        try {
            happenings.add(new Happening.CommandEnded(target.await()));
        } catch (SyscallException e) {
            happenings.add(new Happening.Signalled(EndSignals.Kind.TERMINATE));
        }
    }

    private @Nullable WaitStatus follow(
            RecordSession session,
            @Nullable LaunchedCommand target,
            OutputFolder output,
            List<Integer> roots)
            throws IOException, InterruptedException {
        if (order.jvm() == RecordOrder.JvmMaps.NONE) {
            return follow(session, target);
        }
        try (JvmWatch jvms =
                new JvmWatch(
                        output,
                        session,
                        () -> ProcessTree.processes(roots.isEmpty() ? INIT : roots))) {
            jvms.start();
            WaitStatus status = follow(session, target);
            if (order.jvm() == RecordOrder.JvmMaps.AT_EXIT) {
                jvms.collectDumps();
            }
            return status;
        }
    }

    /**
     * Waits for whatever ends the recording. Ctrl-C reaches the command through its process group,
     * and it decides; SIGTERM and SIGHUP are passed on to it, a second one ends the recording.
     *
     * @return how the command ended, null when it still runs or there is none
     */
    private @Nullable WaitStatus follow(RecordSession session, @Nullable LaunchedCommand target)
            throws IOException, InterruptedException {
        long end = order.spec().limits().durationNanos();
        int passedOn = 0;
        long looks = 0;
        while (true) {
            long tick = looks++ == 0 ? FIRST_LOOK_NANOS : Long.MAX_VALUE;
            Happening happening =
                    happenings.poll(Math.min(tick, untilLook(end, session)), TimeUnit.NANOSECONDS);
            if (happening == null) {
                session.look();
            }
            if (observer != null) {
                observer.accept(session.progress());
            }
            switch (happening) {
                case Happening.CommandEnded ended -> {
                    return ended.status();
                }
                case Happening.Signalled signalled -> {
                    if (target == null) {
                        return null;
                    }
                    if (signalled.kind() != EndSignals.Kind.INTERRUPT) {
                        if (passedOn++ > 0) {
                            return null;
                        }
                        ProcessCalls.kill(target.pid(), signalled.kind().number());
                    }
                }
                case Happening.OutputClosed _ -> {
                    if (target == null) {
                        return null; // nobody watches, and nothing else would end it
                    }
                }
                case null -> {}
            }
            boolean overdue = end > 0 && session.nanos() >= end;
            if (overdue || session.failure().isPresent() || targetsGone(target)) {
                return null;
            }
        }
    }

    private long untilLook(long end, RecordSession session) {
        long tick = observer == null ? LOOK_NANOS : WATCHED_NANOS;
        return end == 0 ? tick : Math.clamp(end - session.nanos(), 0, tick);
    }

    private boolean targetsGone(@Nullable LaunchedCommand target) {
        return target == null
                && !order.pids().isEmpty()
                && order.pids().stream().noneMatch(RunningTarget::lives);
    }

    private static RecordingMeta.@Nullable CommandExit exit(@Nullable WaitStatus status) {
        if (status == null) {
            return null;
        }
        var used = status.rusage();
        return new CommandExit(
                status.status(),
                used.userMicros() * 1000,
                used.systemMicros() * 1000,
                used.maxRssKib() << 10,
                used.minorFaults(),
                used.majorFaults(),
                used.voluntarySwitches(),
                used.involuntarySwitches());
    }
}
