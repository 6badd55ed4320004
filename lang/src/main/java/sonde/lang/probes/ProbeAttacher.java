package sonde.lang.probes;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Predicate;
import sonde.bpf.AttachType;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.ProgramType;
import sonde.bpf.TestRun;
import sonde.bpf.TestRun.TestOutcome;
import sonde.bpf.TracepointFormat;
import sonde.bpf.link.Breakpoints;
import sonde.bpf.link.Breakpoints.WatchedMemory;
import sonde.bpf.link.KernelIterator;
import sonde.bpf.link.Kprobes;
import sonde.bpf.link.Kprobes.KprobePoint;
import sonde.bpf.link.PerfEvents;
import sonde.bpf.link.PerfEvents.CountedEvent;
import sonde.bpf.link.TracingLinks;
import sonde.bpf.link.Uprobes;
import sonde.bpf.link.Uprobes.UprobePoint;
import sonde.bpf.usdt.UsdtLocation;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.Probe.FentryProbe;
import sonde.lang.probes.Probe.IteratorProbe;
import sonde.lang.probes.Probe.KernelProbe;
import sonde.lang.probes.Probe.PerfEventProbe;
import sonde.lang.probes.Probe.TimerProbe;
import sonde.lang.probes.Probe.TracepointProbe;
import sonde.lang.probes.Probe.TracerProbe;
import sonde.lang.probes.Probe.UsdtProbe;
import sonde.lang.probes.Probe.UserProbe;
import sonde.lang.probes.Probe.WatchpointProbe;
import sonde.sys.Errno;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/**
 * Attaches programs to probes, by the best means that the kernel has; what was attached ends with
 * its {@link Link} and with this process.
 */
public final class ProbeAttacher {
    private static final int EILSEQ = 84;
    private static final int PACKET_BYTES = 64;
    private static final String BPFFS = "/sys/fs/bpf/";

    private ProbeAttacher() {}

    /**
     * Attaches to one.
     *
     * @throws AttachException when the kernel does not
     */
    public static Link attach(Probe probe, Program program, AttachOptions options)
            throws AttachException {
        return attach(ProbeGroup.of(probe), program, options);
    }

    /**
     * Attaches to all of a group; to all or none.
     *
     * @throws AttachException when the kernel does not
     */
    public static Link attach(ProbeGroup group, Program program, AttachOptions options)
            throws AttachException {
        return attachMost(group, program, options, _ -> false).link();
    }

    /**
     * What a group is attached to.
     *
     * @param leftOut why each was left out that the kernel refuses, if any
     */
    public record AttachedGroup(Link link, List<AttachException> leftOut) {
        public AttachedGroup {
            leftOut = List.copyOf(leftOut);
        }
    }

    /**
     * Attaches to all of a group but those places in files that the kernel refuses, as some
     * instructions cannot be probed.
     *
     * @param optional which may be left out
     * @throws AttachException when the kernel refuses another one, or all
     */
    public static AttachedGroup attachMost(
            ProbeGroup group, Program program, AttachOptions options, Predicate<Probe> optional)
            throws AttachException {
        Probe first = group.first();
        boolean multi =
                program.expected() == AttachType.TRACE_KPROBE_MULTI
                        || program.expected() == AttachType.TRACE_KPROBE_SESSION
                        || program.expected() == AttachType.TRACE_UPROBE_MULTI
                        || program.expected() == AttachType.TRACE_UPROBE_SESSION;
        if (multi) {
            try {
                return switch (first) {
                    case KernelProbe _ -> attached(kernelMulti(group, program));
                    case UserProbe _, UsdtProbe _ ->
                            UserLinks.of(group, program, options, optional);
                    default -> throw new IllegalArgumentException(first.name() + " by one link");
                };
            } catch (AttachException e) {
                throw e;
            } catch (IOException e) {
                throw failure(first, e);
            }
        }
        return group.probes().size() == 1
                ? attached(single(first, 0, program, options))
                : singles(group, program, options, optional);
    }

    private static AttachedGroup attached(Link link) {
        return new AttachedGroup(link, List.of());
    }

    private static AttachedGroup singles(
            ProbeGroup group, Program program, AttachOptions options, Predicate<Probe> optional)
            throws AttachException {
        List<Link> links = new ArrayList<>();
        List<AttachException> leftOut = new ArrayList<>();
        int index = 0;
        for (Probe probe : group.probes()) {
            try {
                links.add(single(probe, index++, program, options));
            } catch (AttachException e) {
                if (!(e.isOfPlace() && optional.test(probe))) {
                    links.forEach(Link::close);
                    throw e;
                }
                leftOut.add(e);
            }
        }
        if (links.isEmpty()) {
            throw leftOut.getFirst();
        }
        String name = group.first().name() + " and " + (links.size() - 1) + " more";
        return new AttachedGroup(Link.of(name, links), leftOut);
    }

    private static Link single(Probe probe, int index, Program program, AttachOptions options)
            throws AttachException {
        try {
            return switch (probe) {
                case TracerProbe p ->
                        throw new IllegalArgumentException(p.name() + " is run, not attached");
                case TimerProbe p -> timer(p, program, index);
                case PerfEventProbe p -> counter(p, program, index, options);
                case TracepointProbe p ->
                        Link.tracepoint(
                                program, TracepointFormat.of(p.subsystem(), p.event()), index);
                case Probe.RawTracepoint p -> raw(p, program, index);
                case KernelProbe p -> Kprobes.attach(program, place(p), index);
                case FentryProbe _ -> TracingLinks.attach(program, index);
                case UserProbe p ->
                        Uprobes.attach(
                                program,
                                p.path(),
                                new UprobePoint(p.fileOffset(), 0, index),
                                p.kind().isReturn(),
                                options.pid().orElse(Uprobes.ALL_PROCESSES));
                case UsdtProbe p ->
                        Uprobes.usdt(
                                program,
                                p.path(),
                                p.provider() + ":" + p.marker(),
                                places(p, index),
                                options.pid().orElse(Uprobes.ALL_PROCESSES));
                case WatchpointProbe p -> watch(p, program, index, options);
                case IteratorProbe p -> iterate(p, program).link();
            };
        } catch (IOException e) {
            throw failure(probe, e);
        }
    }

    private static Link raw(Probe.RawTracepoint probe, Program program, int index)
            throws IOException {
        if (program.expected() == AttachType.TRACE_RAW_TP) {
            return TracingLinks.attach(program, index);
        }
        try {
            return Link.rawTracepoint(program, probe.event(), index);
        } catch (SyscallException e) {
            // Before Linux 6.10 they know no cookies.
            if (e.errno() != Errno.EINVAL || index == 0) {
                throw e;
            }
            return Link.rawTracepoint(program, probe.event());
        }
    }

    private static KprobePoint place(KernelProbe probe) {
        // The PMU takes an address as the offset from no symbol.
        String module = probe.module();
        boolean named = !module.isEmpty() && !module.equals(TraceableFunctions.KERNEL);
        String symbol = named ? module + ":" + probe.function() : probe.function();
        long offset = probe.address() != 0 ? probe.address() : probe.offset();
        return new KprobePoint(symbol, offset, probe.kind().isReturn());
    }

    static List<UprobePoint> places(UsdtProbe probe, int index) {
        List<UprobePoint> places = new ArrayList<>();
        for (UsdtLocation location : probe.locations()) {
            long cookie = ProbeGroup.cookie(index, places.size());
            places.add(new UprobePoint(location.fileOffset(), location.semaphore(), cookie));
        }
        return places;
    }

    private static Link kernelMulti(ProbeGroup group, Program program) throws IOException {
        List<String> symbols = new ArrayList<>();
        List<Long> cookies = new ArrayList<>();
        for (Probe probe : group.probes()) {
            cookies.add((long) symbols.size());
            symbols.add(probe.function());
        }
        return Kprobes.multi(program, symbols, cookies, group.first().kind().isReturn());
    }

    private static Link timer(TimerProbe timer, Program program, int index) throws IOException {
        boolean rate = timer.hertz() != 0;
        CountedEvent event =
                new CountedEvent(
                        PerfEvents.SOFTWARE,
                        PerfEvents.CPU_CLOCK,
                        rate ? timer.hertz() : timer.nanos(),
                        rate);
        if (timer.kind() == Kind.PROFILE) {
            return PerfEvents.everywhere(program, event, index);
        }
        int cpu = MachineFacts.onlineCpus().nextSetBit(0);
        return PerfEvents.attach(program, event, -1, cpu, index);
    }

    private static Link counter(
            PerfEventProbe probe, Program program, int index, AttachOptions options)
            throws IOException {
        CountedEvent event = new CountedEvent(probe.type(), probe.config(), probe.count(), false);
        OptionalInt pid = options.pid();
        return pid.isPresent()
                ? PerfEvents.ofThreads(program, event, threads(pid.getAsInt()), index)
                : PerfEvents.everywhere(program, event, index);
    }

    private static Link watch(
            WatchpointProbe probe, Program program, int index, AttachOptions options)
            throws IOException {
        String mode = probe.mode();
        int access =
                (mode.contains("r") ? Breakpoints.READ : 0)
                        | (mode.contains("w") ? Breakpoints.WRITE : 0)
                        | (mode.contains("x") ? Breakpoints.EXECUTE : 0);
        WatchedMemory place = new WatchedMemory(probe.address(), probe.length(), access);
        OptionalInt pid = options.pid();
        return pid.isPresent()
                ? Breakpoints.ofThreads(program, place, threads(pid.getAsInt()), index)
                : Breakpoints.everywhere(program, place, index);
    }

    private static List<Integer> threads(int pid) throws IOException {
        String[] names = new File("/proc/" + pid + "/task").list();
        if (names == null || names.length == 0) {
            throw new SyscallException("open", "/proc/" + pid + "/task", Errno.ESRCH);
        }
        return Arrays.stream(names).map(Integer::valueOf).sorted().toList();
    }

    /**
     * Makes an iterator of a program, and pins it where the probe says.
     *
     * @throws AttachException when the kernel does not, or something of that name is there
     */
    public static KernelIterator iterator(IteratorProbe probe, Program program)
            throws AttachException {
        try {
            return iterate(probe, program);
        } catch (IOException e) {
            throw failure(probe, e);
        }
    }

    private static KernelIterator iterate(IteratorProbe probe, Program program) throws IOException {
        KernelIterator iterator = KernelIterator.of(program);
        try {
            if (!probe.pin().isEmpty()) {
                iterator.link().pin(pinPath(probe));
            }
            return iterator;
        } catch (IOException e) {
            iterator.close();
            throw e;
        }
    }

    /** Where an iterator is pinned: names are below {@code /sys/fs/bpf}. */
    public static String pinPath(IteratorProbe probe) {
        String pin = probe.pin();
        return pin.startsWith("/") ? pin : BPFFS + pin;
    }

    /**
     * Runs a program once, as those of {@code begin}, {@code end}, {@code self}, {@code test}.
     *
     * @return what it returned, and how long it took where the kernel says
     */
    public static TestOutcome runOnce(Program program) throws IOException {
        return program.run(isPacket(program) ? packet(1) : TestRun.once());
    }

    /**
     * Runs a program so many times in one call, as those of {@code bench}; the outcome has the mean
     * time of one run.
     *
     * @param repeat more than one for packet programs only
     */
    public static TestOutcome runOften(Program program, int repeat) throws IOException {
        return program.run(isPacket(program) ? packet(repeat) : TestRun.once());
    }

    private static boolean isPacket(Program program) throws IOException {
        return program.facts().type() == ProgramType.XDP.code();
    }

    private static TestRun packet(int repeat) {
        return TestRun.packet(new byte[PACKET_BYTES], repeat);
    }

    static AttachException failure(Probe probe, IOException cause) {
        int errno =
                switch (cause) {
                    case SyscallException e -> e.errno();
                    case sonde.bpf.BpfRefusedException e -> e.errno();
                    default -> 0;
                };
        boolean kprobe = probe instanceof KernelProbe;
        String reason = "" + cause.getMessage();
        if (kprobe && errno == EILSEQ) {
            reason =
                    "Possible attachment attempt in the middle of an instruction, try a different"
                            + " offset.";
        } else if (probe instanceof KernelProbe k && reason.contains("kprobe_events")) {
            reason = AlternativeHint.kprobes(k.function());
        } else if (probe instanceof PerfEventProbe p
                && (errno == Errno.ENOENT || errno == Errno.EOPNOTSUPP)) {
            reason = AlternativeHint.counter(p.type() != PerfEvents.SOFTWARE);
        } else if (probe instanceof WatchpointProbe && errno == Errno.ENOSPC) {
            reason = "No more HW registers left";
        } else if (errno == Errno.EMFILE) {
            reason += "; each probe needs a file descriptor or two: raise 'ulimit -n'";
        } else if (probe instanceof TracepointProbe && errno == Errno.ENOENT) {
            reason = "Probe does not exist: " + probe.name();
        } else if (probe instanceof TracepointProbe && errno == Errno.EACCES) {
            reason = "Maybe trying to access arguments beyond what's available in this tracepoint";
        }
        return new AttachException(probe.name(), reason, cause);
    }
}
