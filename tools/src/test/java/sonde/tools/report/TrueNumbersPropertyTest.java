package sonde.tools.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.open.ReportSource;
import sonde.recording.bundle.MetaWriter;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.bundle.RecordingMeta.RecordedTarget;
import sonde.recording.bundle.RecordingMeta.RecordingTimes;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.testkit.PerfDataBytes;
import sonde.testkit.Property;
import sonde.testkit.SchedTrace;
import sonde.tools.query.QueryRecipe;

/** Numbers of generated recordings, most of them with losses, against each other. */
final class TrueNumbersPropertyTest {
    private static final int RUNS = 40;
    private static final int SQL_EVERY = 20;
    private static final int FIRST_TID = 100;
    private static final long START = 1_000_000_000L;
    private static final int ID = 11;

    @TempDir Path folder;

    private long end;
    private long lost;

    @Test
    void everyViewHasTheSameNumbers() {
        int[] run = {0};
        Property.forAll(
                1,
                RUNS,
                random -> {
                    boolean asks = run[0]++ % SQL_EVERY == 0;
                    // Some have more threads than a page has tracks.
                    int threads = run[0] % 20 == 7 ? 230 : 1 + random.nextInt(6);
                    Path bundle = bundle(random, 1 + random.nextInt(3), threads);
                    SoftAssertions all = new SoftAssertions();
                    NumberChecks.check(all, bundle, asks);
                    if (asks) {
                        Path scratch = Files.createTempDirectory(folder, "of");
                        NumberChecks.conversions(all, bundle, scratch);
                        noteOfLosses(bundle);
                    }
                    all.assertAll();
                });
    }

    private Path bundle(RandomGenerator random, int cpus, int threads) throws IOException {
        Path bundle = Files.createDirectories(folder.resolve("x.sonde"));
        lost = 0;
        Files.write(bundle.resolve("trace.dat"), trace(random, cpus, threads));
        Files.write(bundle.resolve("perf.data"), perf(random, cpus, threads));
        RecordingMeta scripted = Scripted.meta();
        RecordingMeta meta =
                scripted.withTarget(new RecordedTarget(TargetMode.ALL, List.of(), List.of(), null))
                        .withTimes(new RecordingTimes(START - 1000, 0, -1, end + 1000))
                        .withAccount(told(random), List.of());
        Files.write(bundle.resolve(RecordingMeta.FILE), MetaWriter.write(meta));
        return bundle;
    }

    private static List<RecordedLoss> told(RandomGenerator random) {
        List<RecordedLoss> told = new ArrayList<>();
        for (int cpu = 0; cpu < random.nextInt(3); cpu++) {
            long count = random.nextInt(40);
            told.add(
                    new RecordedLoss(
                            "trace.dat", "", cpu, RecordingMeta.LossKind.RING_FULL, count));
        }
        return told;
    }

    /** Threads take turns, make calls, fork and end; a fifth of the rows is missing. */
    private byte[] trace(RandomGenerator random, int cpus, int threads) {
        SchedTrace trace = new SchedTrace();
        int[] current = new int[cpus];
        int[] on = new int[threads + 1];
        Arrays.fill(on, -1);
        boolean[] dead = new boolean[threads + 1];
        long time = START;
        int rows = threads > 50 ? 3 * threads : 60;
        for (int i = 0; i < rows; i++) {
            time += 1 + random.nextInt(1_000_000);
            int cpu = random.nextInt(cpus);
            int other = 1 + random.nextInt(threads);
            int now = current[cpu];
            boolean kept = random.nextInt(5) > 0;
            switch (random.nextInt(8)) {
                case 0 -> {
                    if (now > 0 && kept) {
                        trace.enter(time, cpu, tid(now), random.nextInt(3));
                    }
                }
                case 1 -> {
                    if (now > 0 && kept) {
                        trace.exit(time, cpu, tid(now), 0, 0);
                    }
                }
                case 2 -> {
                    if (on[other] < 0 && kept && !dead[other]) {
                        trace.wake(time, cpu, tid(now), name(other), tid(other));
                    }
                }
                case 3 -> {
                    if (!kept) {
                        long count = 1 + random.nextInt(20);
                        trace.lost(cpu, count);
                        lost += count;
                    }
                }
                case 4 -> {
                    if (now > 0 && kept && random.nextInt(4) == 0) {
                        trace.forked(time, cpu, name(now), tid(now), tid(other) + 1000);
                    }
                }
                default -> {
                    boolean idle = random.nextInt(4) == 0 || on[other] >= 0 || dead[other];
                    int next = idle ? 0 : other;
                    if (next != now) {
                        long[] states = {0, 1, 2, 4, 0x20};
                        long state = states[random.nextInt(now == 0 ? 1 : states.length)];
                        dead[now] |= state == 0x20;
                        if (kept) {
                            trace.switched(
                                    time, cpu, name(now), tid(now), state, name(next), tid(next));
                        }
                        on[now] = -1;
                        on[next] = next == 0 ? -1 : cpu;
                        current[cpu] = next;
                    }
                }
            }
        }
        end = time + 1;
        // The last row of each CPU: what was lost before it has a place.
        for (int cpu = 0; cpu < cpus; cpu++) {
            trace.wake(time + 1, cpu, 0, "last", 99);
        }
        return trace.toBytes();
    }

    private static int tid(int thread) {
        return thread == 0 ? 0 : FIRST_TID + thread;
    }

    private static String name(int thread) {
        return thread == 0 ? "swapper" : "app" + thread % 3;
    }

    /** Samples of different weights, with and without chains; one record has any time. */
    private byte[] perf(RandomGenerator random, int cpus, int threads) {
        PerfDataBytes file = new PerfDataBytes(ByteOrder.LITTLE_ENDIAN);
        long sampleType = 1 | 2 | 4 | 32 | 128 | 256 | 1L << 16;
        file.event(file.attr(0, 0, sampleType, 0, 1L << 18 | 1L << 25), ID);
        for (int i = 0; i < 12; i++) {
            int tid = tid(1 + random.nextInt(threads));
            long ip = 0x401000 + random.nextInt(4);
            PerfDataBytes.Fields body = file.fields().u64(ID).u64(ip).u32(tid).u32(tid);
            body.u64(START + random.nextLong(end - START)).u32(random.nextInt(cpus)).u32(0);
            body.u64(1 + random.nextInt(1_000_000));
            file.record(9, 2, random.nextInt(4) == 0 ? body.u64(0) : body.u64(2).u64(-512, ip));
        }
        PerfDataBytes.Fields lostRecord = file.fields().u64(ID, random.nextInt(9));
        lostRecord.u32(0).u32(0).u64(end - 1).u32(0).u32(0).u64(ID);
        file.record(2, 0, lostRecord);
        PerfDataBytes.Fields program = file.fields().u16(1).u16(0).u32(77).u64(5);
        program.u32(0).u32(0).u64(random.nextLong()).u32(0).u32(0).u64(ID);
        file.record(18, 0, program);
        return file.file();
    }

    /** A query says that events are missing where the recorder's account says so. */
    private void noteOfLosses(Path bundle) throws IOException {
        try (ReportSource source = ReportSource.open(bundle);
                QueryRecipe query = QueryRecipe.open(List.of(bundle), null, false)) {
            boolean told = source.losses().stream().anyMatch(loss -> loss.count() > 0);
            assertThat(query.notes().stream().anyMatch(note -> note.contains("were lost")))
                    .isEqualTo(told);
            ReportOptions options = ReportOptions.of(List.of());
            ReportOperators found = new ReportOperators(source, options, List.of(), false);
            assertThat(found.losses().events()).isGreaterThanOrEqualTo(lost);
        }
    }
}
