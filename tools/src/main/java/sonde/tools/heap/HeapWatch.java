package sonde.tools.heap;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.bpf.LinkCloser;
import sonde.event.heap.HeapMoment;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapSize;
import sonde.event.heap.HeapStack;
import sonde.event.heap.HeapSums;
import sonde.probe.heap.AllocatorPlaces;
import sonde.probe.heap.AllocatorPlaces.AllocatorPlace;
import sonde.probe.heap.HeapProbes;
import sonde.probe.heap.HeapProbes.ProcessSums;
import sonde.probe.heap.HeapProbes.StackSums;
import sonde.probe.launch.CommandLauncher;
import sonde.probe.launch.EndSignals;
import sonde.probe.launch.LaunchedCommand;
import sonde.probe.stack.ProgramFiles;
import sonde.sys.Clocks;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/** Watches the heap of a command or a process by probes, from its start to its end. */
final class HeapWatch implements AutoCloseable {
    private static final long TURN_MILLIS = 10;
    private static final int MOST_MOMENTS = 1024;

    private final HeapRequest request;
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final HeapProbes probes;
    private final WatchedCode code;
    private final @Nullable LaunchedCommand child;
    private final int pid;
    private final Set<String> files = new HashSet<>();
    private final List<AllocatorPlace> probed = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final List<HeapMoment> curve = new ArrayList<>();
    private long curveStep = 1;
    private long turns;
    private long peakResident = HeapSums.UNKNOWN;
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
            if (request.command() == null) {
                child = null;
                pid = request.pid();
            } else {
                child = CommandLauncher.prepare(request.command(), request.origin());
                parts.push(child);
                pid = child.pid();
                List<String> words =
                        request.command().words().stream()
                                .map(word -> new String(word, StandardCharsets.UTF_8))
                                .toList();
                probes.prepare(words);
                for (String file : ProgramFiles.of(words)) {
                    mapped(pid, file);
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
            List<AllocatorPlace> places = AllocatorPlaces.of(path, request.own());
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
        ProcessSums sums = look(begun);
        try {
            while (!isDone(begun)) {
                Thread.sleep(TURN_MILLIS);
                code.catchUp();
                sums = look(begun);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        code.catchUp();
        sums = look(begun);
        return profile(sums, begun, Clocks.nanos(Clocks.CLOCK_MONOTONIC));
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
        peakResident = Math.max(peakResident, resident > 0 ? resident : HeapSums.UNKNOWN);
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
        try {
            String text =
                    new String(
                            FileCalls.readAll("/proc/" + pid + "/statm", 256),
                            StandardCharsets.US_ASCII);
            return Long.parseLong(text.split(" ")[1]) * 4096;
        } catch (SyscallException e) {
            return 0;
        }
    }

    private HeapProfile profile(ProcessSums process, long begun, long end) throws IOException {
        List<HeapStack> stacks = new ArrayList<>();
        for (StackSums one : probes.stacks(process)) {
            stacks.add(new HeapStack(pid, code.frames(probes, pid, one.addresses()), one.sums()));
        }
        List<HeapSize> sizes = new ArrayList<>();
        for (int bits = 0; bits < process.sizes().length; bits++) {
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
                "attached",
                end - begun,
                "ns",
                process.sums(),
                process.peakNanos() == 0 ? HeapSums.UNKNOWN : process.peakNanos() - begun,
                peakResident,
                stacks,
                curve,
                sizes,
                List.of(),
                notes);
    }

    private void tell(ProcessSums process) throws IOException {
        if (probed.isEmpty()) {
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
        } else if (process.unknownFrees() > 0) {
            notes.add(
                    process.unknownFrees()
                            + " frees were of blocks that are not allocated, or came from"
                            + " functions that are not probed");
        }
        if (process.failed() > 0) {
            notes.add(process.failed() + " calls failed");
        }
        notes.addAll(probes.notes());
    }

    @Override
    public void close() {
        LinkCloser.all(parts);
    }
}
