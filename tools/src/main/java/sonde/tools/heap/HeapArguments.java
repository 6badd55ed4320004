package sonde.tools.heap;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.heap.HeapProfile;
import sonde.probe.heap.AllocatorCall;
import sonde.probe.heap.HeapProbes.HeapLimits;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.symbol.files.GivenPlaces;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.record.RunningTarget;

/** The command line of the live side of {@code sonde heap}. */
public final class HeapArguments {
    /** The options of a watch. */
    public static final String MODEL =
            """

            What is watched:
              -p, --pid PID           watch a running process until it ends or you press Ctrl-C; blocks
                                      that it has already are not known
              --duration TIME         watch so long, as 10s
              --tier attached|in-process
                                      watch every call by probes, or put a library into the command
                                      that samples blocks by bytes (default attached)
              --sample-bytes N        with --tier in-process: take one sample each N bytes on average;
                                      1 takes every block (1..1073741824, default 524288)
              --alloc-fn NAME...      watch this function, which takes the bytes as its first argument
                                      and returns the block
              --free-fn NAME...       watch this function, which takes the block
              --max-blocks N          keep at most N live blocks; each takes about 80 bytes of the
                                      kernel's memory (1024..268435456, default 4194304)
              --max-stacks N          keep at most N stacks; each takes about 1.2 KiB
                                      (64..1048576, default 65536)
            """;

    private HeapArguments() {}

    /** What was seen, and how the command ended. */
    public record Watched(HeapProfile profile, int status) {}

    /**
     * Watches a command or a process.
     *
     * @param words null for a running process
     */
    public static Watched watch(
            GivenOptions given, InheritedState origin, @Nullable CommandWords words)
            throws IOException {
        List<Integer> pids = given.numbers("--pid");
        if ((words == null) == pids.isEmpty() || pids.size() > 1) {
            throw new OptionException("name a command to start, or one process: -p PID");
        }
        if (!pids.isEmpty()) {
            RunningTarget.check(pids.getFirst());
        }
        Map<String, AllocatorCall> own = new HashMap<>();
        given.texts("--alloc-fn").forEach(name -> own.put(name, AllocatorCall.FIRST));
        given.texts("--free-fn").forEach(name -> own.put(name, AllocatorCall.FREE));
        HeapRequest request =
                new HeapRequest(
                        origin,
                        words,
                        pids.isEmpty() ? 0 : pids.getFirst(),
                        given.nanos("--duration").orElse(Long.MAX_VALUE),
                        sampling(given),
                        own,
                        new HeapLimits(
                                (int) given.number("--max-blocks").orElse(4 << 20),
                                (int) given.number("--max-stacks").orElse(1 << 16)),
                        GivenPlaces.NONE);
        if (request.sampling() != null && words == null) {
            throw new OptionException(
                    "--tier in-process: a running process cannot load the library; start the"
                            + " command by sonde, or leave --tier out");
        }
        try (HeapWatch watch = new HeapWatch(request)) {
            HeapProfile profile = watch.run();
            return new Watched(profile, watch.status());
        }
    }

    private static HeapRequest.@Nullable Sampling sampling(GivenOptions given) {
        long interval = given.number("--sample-bytes").orElse(512 << 10);
        if (given.text("--tier", "attached").equals("attached")) {
            if (given.has("--sample-bytes")) {
                throw new OptionException("--sample-bytes needs --tier in-process");
            }
            return null;
        }
        String home = System.getProperty("sonde.home", "build/image");
        Path library = Path.of(home, "app", "libsonde-heap.so").toAbsolutePath().normalize();
        return new HeapRequest.Sampling(library, interval);
    }
}
