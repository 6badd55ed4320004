package sonde.tools.heap;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.bpf.LinkCloser;
import sonde.event.heap.HeapFault;
import sonde.event.heap.HeapMoment;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapSize;
import sonde.event.heap.HeapStack;
import sonde.event.heap.HeapSums;
import sonde.event.result.Frame;
import sonde.probe.heap.AllocatorPlaces;
import sonde.probe.heap.AllocatorPlaces.AllocatorPlace;
import sonde.probe.heap.HeapLibrary;
import sonde.probe.heap.HeapProbes;
import sonde.probe.heap.HeapProbes.ProcessSums;
import sonde.probe.heap.HeapProbes.StackSums;
import sonde.probe.heap.HeapProbes.WrongFree;
import sonde.probe.launch.CommandLauncher;
import sonde.probe.launch.EndSignals;
import sonde.probe.launch.InheritedState;
import sonde.probe.launch.LaunchedCommand;
import sonde.probe.stack.ProgramFiles;
import sonde.sys.Clocks;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/** Watches the heap of a command or a process by probes, from its start to its end. */
final class HeapWatch implements AutoCloseable {
    /** The source of a profile whose process has not ended: its blocks may be in use. */
    static final String RUNNING = "attached to a running process";

    private static final long TURN_MILLIS = 10;
    private static final int MOST_MOMENTS = 1024;
    private static final int REREAD_TURNS = 100;

    private final HeapRequest request;
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final HeapProbes probes;
    private final WatchedCode code;
    private final @Nullable HeapLibrary library;
    private final @Nullable LaunchedCommand child;
    private final int pid;
    private final Set<String> files = new HashSet<>();
    private final List<AllocatorPlace> probed = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final List<HeapMoment> curve = new ArrayList<>();
    private long curveStep = 1;
    private long turns;
    private int sinceExec;
    private long peakResident;
    private long residentLast;
    private long residentBefore;
    private volatile int interrupted;
    private volatile boolean ended;
    private volatile int status;

    HeapWatch(HeapRequest request) throws IOException {
        this.request = request;
        parts.push(EndSignals.listen(kind -> interrupted = kind.number()));
        try {
            probes = HeapProbes.open(request.limits());
            parts.push(probes);
            code = new WatchedCode(request.places(), this::mapped);
            parts.push(code);
            HeapRequest.Sampling sampling = request.sampling();
            library =
                    sampling == null
                            ? null
                            : HeapLibrary.open(sampling.library(), sampling.interval());
            if (request.command() == null) {
                child = null;
                pid = request.pid();
            } else {
                InheritedState state = request.origin();
                if (library != null) {
                    parts.push(library);
                    state = library.loading(state);
                }
                child = CommandLauncher.prepare(request.command(), state);
                parts.push(child);
                pid = child.pid();
                List<String> words =
                        request.command().words().stream()
                                .map(word -> new String(word, StandardCharsets.UTF_8))
                                .toList();
                probes.prepare(
                        library == null
                                ? words
                                : Stream.concat(
                                                Stream.of(library.file().toString()),
                                                words.stream())
                                        .toList());
                for (String file : ProgramFiles.of(words)) {
                    mapped(pid, file);
                }
                if (library != null) {
                    mapped(pid, library.file().toString());
                }
            }
            probes.follow(pid);
            code.follow(pid);
        } catch (IOException | RuntimeException e) {
            LinkCloser.all(parts);
            throw e;
        }
    }

    /** Probes a file that the process maps, once. */
    private void mapped(int process, String path) {
        try {
            // /lib is a link to /usr/lib: the same file would be probed twice.
            if (!files.add(Path.of(path).toRealPath().toString())) {
                return;
            }
            if (library != null && !path.equals(library.file().toString())) {
                return;
            }
            List<AllocatorPlace> places =
                    library == null ? AllocatorPlaces.of(path, request.own()) : library.places();
            probes.attach(path, places, process);
            probed.addAll(places);
        } catch (IOException e) {
            notes.add(path + " is not probed: " + e.getMessage());
        }
    }

    /** Watches until the end. */
    HeapProfile run() throws IOException {
        long begun = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        LaunchedCommand command = child;
        if (command != null) {
            command.release();
            Thread.ofPlatform().daemon().name("command").start(() -> await(command));
        }
        int image = look(begun).image();
        try {
            while (!isDone(begun)) {
                Thread.sleep(TURN_MILLIS);
                code.catchUp();
                int now = look(begun).image();
                reread(now != image);
                image = now;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        code.catchUp();
        probes.stop();
        ProcessSums sums = look(begun);
        return profile(sums, begun, Clocks.nanos(Clocks.CLOCK_MONOTONIC));
    }

    /** Records of mappings may be lost on a busy machine: the process itself is asked, too. */
    private void reread(boolean isNew) {
        sinceExec = isNew ? 0 : sinceExec + 1;
        if (Integer.bitCount(sinceExec) == 1 || sinceExec % REREAD_TURNS == 0) {
            try {
                code.follow(pid);
            } catch (SyscallException e) {
                sinceExec = 0; // it has ended
            }
        }
    }

    private void await(LaunchedCommand command) {
        try {
            status = command.await().shellCode();
        } catch (SyscallException e) {
            status = 0; // somebody else has waited for it
        }
        ended = true;
    }

    private boolean isDone(long begun) throws SyscallException {
        if (ended || Clocks.nanos(Clocks.CLOCK_MONOTONIC) - begun >= request.nanos()) {
            return true;
        }
        if (interrupted != 0
                && child != null
                && interrupted != EndSignals.Kind.INTERRUPT.number()) {
            ProcessCalls.kill(child.pid(), interrupted);
            interrupted = 0;
        }
        return child == null && (interrupted != 0 || resident() == 0);
    }

    /** How the command ended: its exit code, 128 + N for signal N; 0 without a command. */
    int status() {
        return status;
    }

    private ProcessSums look(long begun) throws IOException {
        ProcessSums sums = probes.process(pid);
        if (sums == null) {
            throw new IOException("the kernel has lost the sums of process " + pid);
        }
        long now = Clocks.nanos(Clocks.CLOCK_MONOTONIC) - begun;
        long resident = resident();
        if (resident > 0) {
            peakResident = memory("VmHWM");
            residentBefore = residentLast;
            residentLast = now;
        }
        if (turns++ % curveStep == 0) {
            HeapSums all = sums.sums();
            curve.add(new HeapMoment(now, all.liveBytes(), all.liveBlocks(), resident));
            if (curve.size() == MOST_MOMENTS) {
                curveStep *= 2;
                for (int i = 1; i < MOST_MOMENTS / 2; i++) {
                    curve.set(i, curve.get(2 * i));
                }
                curve.subList(MOST_MOMENTS / 2, MOST_MOMENTS).clear();
            }
        }
        return sums;
    }

    /** Resident bytes of the process; 0 when it has ended. */
    private long resident() {
        return memory("VmRSS");
    }

    /** A line of /proc/PID/status in bytes; 0 when the process has ended. */
    private long memory(String line) {
        try {
            String text =
                    new String(
                            FileCalls.readAll("/proc/" + pid + "/status", 1 << 14),
                            StandardCharsets.ISO_8859_1);
            Matcher found = Pattern.compile("(?m)^" + line + ":\\s+(\\d{1,15}) kB").matcher(text);
            return found.find() ? Long.parseLong(found.group(1)) << 10 : 0;
        } catch (SyscallException e) {
            return 0;
        }
    }

    /**
     * The largest resident size; unknown unless it was looked at twice after the heap was largest.
     */
    private long peakResident(ProcessSums process, long begun) {
        return peakResident <= 0 || process.peakNanos() - begun > residentBefore
                ? HeapSums.UNKNOWN
                : peakResident;
    }

    private HeapProfile profile(ProcessSums process, long begun, long end) throws IOException {
        List<HeapStack> stacks = new ArrayList<>();
        for (StackSums one : probes.stacks(process)) {
            List<Frame> frames = code.frames(probes, pid, one.addresses());
            HeapSums sums = one.sums();
            if (library != null) {
                frames = frames.stream().dropWhile(this::isLibrary).toList();
                sums = untimed(sums, sums.calls(), sums.bytes());
            }
            stacks.add(new HeapStack(pid, frames, sums));
        }
        List<HeapSize> sizes = new ArrayList<>();
        for (int bits = 0; library == null && bits < process.sizes().length; bits++) {
            if (process.sizes()[bits] > 0) {
                long from = bits == 0 ? 0 : 1L << bits;
                sizes.add(
                        new HeapSize(
                                from, (2L << bits) - 1, process.sizes()[bits], HeapSums.UNKNOWN));
            }
        }
        tell(process);
        return new HeapProfile(
                request.command() == null ? "" : request.command().shown(),
                !ended && resident() > 0 ? RUNNING : library == null ? "attached" : "in-process",
                end - begun,
                "ns",
                totals(process),
                process.peakNanos() == 0 ? HeapSums.UNKNOWN : process.peakNanos() - begun,
                peakResident(process, begun),
                stacks,
                curveWithPeak(process, begun),
                sizes,
                faults(process),
                notes);
    }

    /** The peak may lie between two looks; the kernel has kept it. */
    private List<HeapMoment> curveWithPeak(ProcessSums process, long begun) {
        if (process.peakNanos() == 0) {
            return curve;
        }
        long nanos = process.peakNanos() - begun;
        HeapSums all = process.sums();
        List<HeapMoment> whole = new ArrayList<>(curve);
        int at = (int) curve.stream().filter(moment -> moment.nanos() < nanos).count();
        whole.add(at, new HeapMoment(nanos, all.peakBytes(), all.peakBlocks(), HeapSums.UNKNOWN));
        return whole;
    }

    private boolean isLibrary(Frame frame) {
        return library != null && frame.module().equals(library.file().getFileName().toString());
    }

    /** Samples do not tell which block was freed before the next one was made. */
    private static HeapSums untimed(HeapSums sums, long calls, long bytes) {
        return new HeapSums(
                calls,
                bytes,
                sums.liveBlocks(),
                sums.liveBytes(),
                sums.peakBlocks(),
                sums.peakBytes(),
                HeapSums.UNKNOWN,
                sums.oldestNanos());
    }

    private HeapSums totals(ProcessSums process) throws IOException {
        HeapLibrary from = library;
        HeapRequest.Sampling sampling = request.sampling();
        if (from == null || sampling == null) {
            return process.sums();
        }
        HeapLibrary.ExactCounts counts = from.counts();
        if (!counts.loaded()) {
            notes.add(
                    "the program has not loaded the library: it is static, or has more rights than"
                            + " its user; use --tier attached");
        } else if (counts.calls() == 0) {
            notes.add(
                    "the program did not allocate by the library's functions: it has an allocator"
                            + " of its own; use --tier attached");
        }
        if (process.image() > 1) {
            notes.add(
                    "the program executed another one, which has not loaded the library; name that"
                            + " one as the command");
        }
        if (sampling.interval() > 1) {
            notes.add(
                    "calls and bytes are exact in the totals; all else is estimated from "
                            + process.samples()
                            + " samples, one each "
                            + sampling.interval()
                            + " bytes: a sum of bytes that n samples make has a standard error of about"
                            + " 1/sqrt(n)");
        }
        if (counts.dropped() > 0) {
            notes.add(counts.dropped() + " samples had no room: use a larger --sample-bytes");
        }
        if (counts.failed() > 0) {
            notes.add(counts.failed() + " calls failed");
        }
        return untimed(process.sums(), counts.calls(), counts.bytes());
    }

    /** Wrong frees, without those of glibc itself: a thread that ends frees its cache once more. */
    private List<HeapFault> faults(ProcessSums process) throws SyscallException {
        List<HeapFault> faults = new ArrayList<>();
        for (WrongFree one : probes.wrongFrees(process)) {
            long[] all = one.addresses();
            if (!code.isOneFile(pid, all)) {
                // The first one is in free itself.
                long[] callers = Arrays.copyOfRange(all, Math.min(1, all.length), all.length);
                faults.add(
                        new HeapFault(
                                "free of a block that is not allocated",
                                pid,
                                code.frames(probes, pid, callers),
                                one.calls(),
                                one.block()));
            }
        }
        return faults;
    }

    private void tell(ProcessSums process) throws IOException {
        if (library == null && probed.isEmpty()) {
            notes.add(
                    "no allocator was found: the program is static and has no symbols, or its"
                            + " functions have names of their own (--alloc-fn, --free-fn)");
        }
        if (process.lostBlocks() > 0) {
            notes.add(
                    process.lostBlocks()
                            + " blocks had no room in the kernel's table: they are counted as"
                            + " calls, not as live (--max-blocks)");
        }
        if (process.lostStacks() > 0) {
            notes.add(process.lostStacks() + " calls had no room for their stack (--max-stacks)");
        }
        if (process.missedFrees() > 0) {
            notes.add(
                    process.missedFrees()
                            + " blocks were given out again without a free that was seen");
        }
        if (request.command() == null && process.unknownFrees() > 0) {
            notes.add(
                    process.unknownFrees()
                            + " frees were of blocks that the process had before the watch began");
        }
        if (library == null && process.failed() > 0) {
            notes.add(process.failed() + " calls failed");
        }
        notes.addAll(probes.notes());
    }

    @Override
    public void close() {
        LinkCloser.all(parts);
    }
}
