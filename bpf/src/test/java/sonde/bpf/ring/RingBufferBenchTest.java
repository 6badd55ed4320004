package sonde.bpf.ring;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.BpfMap;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.sys.NativeSyscall;
import sonde.sys.SyscallNames;

/** Records of 64 bytes from a ring buffer into columns; figures for bench/README.md. */
@Tag("bench")
final class RingBufferBenchTest {
    private static final int RECORD = 64;
    private static final int RING = 16 << 20;

    /** Columns of a batch: four words of each record. */
    private static final class Columns implements RecordVisitor {
        private final long[][] columns = new long[4][RING / (RECORD + 8) + 1];
        private int rows;

        @Override
        public void record(MemorySegment memory, long offset, int bytes) {
            int row = rows++;
            columns[0][row] = memory.get(JAVA_LONG, offset);
            columns[1][row] = memory.get(JAVA_LONG, offset + 8);
            columns[2][row] = memory.get(JAVA_LONG, offset + 16);
            columns[3][row] = memory.get(JAVA_LONG, offset + 24);
        }
    }

    @Test
    void drainOfAFullRing() throws Exception {
        try (BpfMap map = BpfMap.create(new MapSpec("b_ring", MapType.RING_BUFFER, 0, 0, RING));
                RingBuffer ring = RingBuffer.open(map);
                RingFiller filler = new RingFiller(map, RECORD, 32, RingFiller.NO_WAKEUP)) {
            Columns columns = new Columns();
            double[] rates = new double[60];
            int full = RING / (RECORD + 8);
            for (int i = 0; i < rates.length; i++) {
                filler.run(full / 32 + 1);
                columns.rows = 0;
                long begin = System.nanoTime();
                long read = ring.drain(columns);
                rates[i] = read * 1e3 / (System.nanoTime() - begin);
                assertThat(read).isEqualTo(full);
            }
            double[] warm = Arrays.copyOfRange(rates, 20, rates.length);
            Arrays.sort(warm);
            publish(
                    "drain, M records/s",
                    "first %.1f, median %.1f, least %.1f, most %.1f"
                            .formatted(rates[0], warm[warm.length / 2], warm[0], warm[39]));
            assertThat(warm[warm.length / 2]).isGreaterThan(30);
        }
    }

    /** 1 M records/s in portions of a millisecond on CPU 0, the reader on CPU 1. */
    @Test
    void livePaced() throws Exception {
        long seconds = 5;
        try (BpfMap map = BpfMap.create(new MapSpec("b_ring", MapType.RING_BUFFER, 0, 0, RING));
                RingBuffer ring = RingBuffer.open(map);
                RingFiller filler = new RingFiller(map, RECORD, 20, 0)) {
            AtomicBoolean done = new AtomicBoolean();
            AtomicReference<String> outcome = new AtomicReference<>("");
            Thread reader =
                    Thread.ofPlatform()
                            .start(() -> {
                                pin(1);
                                try {
                                    outcome.set(read(ring, done));
                                } catch (java.io.IOException e) {
                                    throw new java.io.UncheckedIOException(e);
                                }
                            });
            pin(0);
            long begin = System.nanoTime();
            long sent = 0;
            while (sent < seconds * 1_000_000) {
                filler.run(50);
                sent += 1000;
                LockSupport.parkNanos(begin + sent * 1000 - System.nanoTime());
            }
            double took = (System.nanoTime() - begin) / 1e9;
            done.set(true);
            reader.join();
            publish(
                    "live",
                    "%.2f M/s, refused %d, %s"
                            .formatted(sent / took / 1e6, filler.refused(), outcome.get()));
            assertThat(filler.refused()).isZero();
        }
    }

    /** A line of the file that bench/run reads. */
    private static void publish(String name, String figures) throws java.io.IOException {
        Path target = Files.createDirectories(Path.of("target"));
        Files.writeString(
                target.resolve("ring-bench.txt"),
                name + " = " + figures + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    private static String read(RingBuffer ring, AtomicBoolean done) throws java.io.IOException {
        Columns columns = new Columns();
        long read = 0;
        long rounds = 0;
        long warmCpu = 0;
        long warmAt = System.nanoTime();
        boolean end = false;
        while (!end) {
            end = done.get();
            ring.await(100_000_000L, 3_000_000L);
            columns.rows = 0;
            read += ring.drain(columns, RING / (RECORD + 8));
            rounds++;
            if (warmCpu == 0 && read > 1_000_000) {
                warmCpu = threadNanos();
                warmAt = System.nanoTime();
            }
        }
        double cpu = threadNanos() - warmCpu;
        return "read %d in %d rounds, reader %.1f %% of a CPU after the first second"
                .formatted(read, rounds, 100 * cpu / (System.nanoTime() - warmAt));
    }

    /** clock_gettime(2) of CLOCK_THREAD_CPUTIME_ID. */
    private static long threadNanos() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment time = arena.allocate(16, 8);
            NativeSyscall.syscall(SyscallNames.number("clock_gettime"), 3, time.address(), 0);
            return time.get(JAVA_LONG, 0) * 1_000_000_000L + time.get(JAVA_LONG, 8);
        }
    }

    /** sched_setaffinity(2) of this thread. */
    private static void pin(int cpu) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(128, 8);
            mask.set(JAVA_LONG, 0, 1L << cpu);
            NativeSyscall.syscall(SyscallNames.number("sched_setaffinity"), 0, 128, mask.address());
        }
    }
}
