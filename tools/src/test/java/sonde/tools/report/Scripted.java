package sonde.tools.report;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import sonde.recording.bundle.MetaWriter;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.BundleLayout;
import sonde.recording.bundle.RecordingMeta.BundlePart;
import sonde.recording.bundle.RecordingMeta.EventOwner;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.recording.bundle.RecordingMeta.RecordedMachine;
import sonde.recording.bundle.RecordingMeta.RecordedTarget;
import sonde.recording.bundle.RecordingMeta.RecordingState;
import sonde.recording.bundle.RecordingMeta.RecordingTimes;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.testkit.PerfDataBytes;
import sonde.testkit.SchedTrace;

/**
 * A bundle whose every number is known. From its exec at 1 s on, in ms:
 *
 * <pre>
 * app 100, CPU 0   runs 0-12, blocked in read 12-20, waits 20-21, runs 21-41,
 *                  sleeps in futex 41-60, waits 60-60.5, runs 60.5-81, ends
 * app 101, CPU 1   is forked at 30, waits 30-31, runs 31-70, wakes 100 at 60, ends
 * </pre>
 *
 * So 100 runs 52.5 ms, 4.5 of them in calls (read 10-12, 21-22; futex 40-41, 60.5-61), and 101 runs
 * 39 ms. The read's request takes 12-20. Six samples of 10 ms: four of 100, two of 101.
 */
final class Scripted {
    private static final long START = 1_000_000_000L;
    private static final int READ = 0;
    private static final int FUTEX = 202;
    private static final String APP = "app";
    private static final String IDLE = "swapper/0";

    /** IP, TID, TIME, CALLCHAIN, CPU, PERIOD, IDENTIFIER. */
    private static final long SAMPLE_TYPE = 1 | 2 | 4 | 32 | 128 | 256 | 1L << 16;

    private static final long SAMPLE_ID_ALL = 1L << 18;
    private static final long USE_CLOCKID = 1L << 25;
    private static final long USER = -512;
    private static final int ID = 11;

    private Scripted() {}

    static long at(double millis) {
        return START + (long) (millis * 1e6);
    }

    static Path write(Path folder) throws IOException {
        return write(folder, meta());
    }

    /** The same with another account of it. */
    static Path write(Path folder, RecordingMeta meta) throws IOException {
        Path bundle = Files.createDirectories(folder.resolve("scripted.sonde"));
        Files.write(bundle.resolve("trace.dat"), trace());
        Files.write(bundle.resolve("perf.data"), perf().file());
        Files.write(bundle.resolve(RecordingMeta.FILE), MetaWriter.write(meta));
        return bundle;
    }

    private static byte[] trace() {
        return new SchedTrace()
                .enter(at(10), 0, 100, READ)
                .issue(at(12), 0, 100, 64, 8, "R")
                .switched(at(12), 0, APP, 100, 2, IDLE, 0)
                .complete(at(20), 0, 0, 64, 8, "R")
                .wake(at(20), 0, 0, APP, 100)
                .switched(at(21), 0, IDLE, 0, 0, APP, 100)
                .exit(at(22), 0, 100, READ, 4096)
                .forked(at(30), 0, APP, 100, 101)
                .switched(at(31), 1, IDLE, 0, 0, APP, 101)
                .enter(at(40), 0, 100, FUTEX)
                .switched(at(41), 0, APP, 100, 1, IDLE, 0)
                .wake(at(60), 1, 101, APP, 100)
                .switched(at(60.5), 0, IDLE, 0, 0, APP, 100)
                .exit(at(61), 0, 100, FUTEX, -11)
                .switched(at(70), 1, APP, 101, 0x20, IDLE, 0)
                .switched(at(81), 0, APP, 100, 0x20, IDLE, 0)
                .toBytes();
    }

    private static PerfDataBytes perf() {
        PerfDataBytes file = new PerfDataBytes(ByteOrder.LITTLE_ENDIAN);
        file.event(file.attr(1, 0, SAMPLE_TYPE, 0, SAMPLE_ID_ALL | USE_CLOCKID), ID);
        PerfDataBytes.Fields comm = file.fields().u32(100).u32(100).text(APP, 8);
        file.record(3, 0, trailer(comm, 100, 100, at(0)));
        PerfDataBytes.Fields map = file.fields().u32(100).u32(100).u64(0x400000, 0x10000, 0);
        map.u32(8).u32(1).u64(77, 0).u32(5).u32(2).text("/sonde-test/app", 16);
        file.record(10, 2, trailer(map, 100, 100, at(0)));
        sample(file, 100, 2, 0x401000, 0x402001);
        sample(file, 100, 8, 0x401000, 0x402001);
        // Its caller's caller lies in no code.
        sample(file, 100, 25, 0x401000, 0x402001, 0x6f2f636f642f6571L);
        sample(file, 100, 70, 0x403000);
        PerfDataBytes.Fields fork = file.fields().u32(101).u32(100).u32(101).u32(100);
        file.record(7, 0, trailer(fork.u64(at(30)), 100, 100, at(30)));
        sample(file, 101, 40, 0x404000);
        sample(file, 101, 50, 0x404000);
        return file;
    }

    /** A program that sleeps at the end. */
    static Path asleep(Path folder) throws IOException {
        Path bundle = write(folder);
        SchedTrace trace = new SchedTrace().switched(at(10), 0, IDLE, 0, 0, APP, 100);
        trace.switched(at(41), 0, APP, 100, 1, IDLE, 0).wake(at(82), 1, 0, APP, 102);
        Files.write(bundle.resolve("trace.dat"), trace.toBytes());
        return bundle;
    }

    /** With records of damaged times beside, as stale bytes of a ring give them. */
    static Path strayed(Path folder) throws IOException {
        Path bundle = asleep(folder);
        PerfDataBytes file = perf();
        for (long time : new long[] {-2_123_646_422L, 8_680_232_847_620_000_000L}) {
            PerfDataBytes.Fields program = file.fields().u16(1).u16(0).u32(77).u64(5);
            file.record(18, 0, trailer(program, 100, 100, time));
        }
        sample(file, 100, 8e12, 0x401000, 0x402001);
        Files.write(bundle.resolve("perf.data"), file.file());
        return bundle;
    }

    private static void sample(PerfDataBytes file, int pid, double millis, long... chain) {
        PerfDataBytes.Fields body = file.fields().u64(ID).u64(chain[0]).u32(pid).u32(pid);
        body.u64(at(millis)).u32(pid - 100).u32(0).u64(10_000_000);
        body.u64(chain.length + 1).u64(USER).u64(chain);
        file.record(9, 2, body);
    }

    /** What sample_id_all adds: TID, TIME, CPU, IDENTIFIER. */
    private static PerfDataBytes.Fields trailer(
            PerfDataBytes.Fields body, int pid, int tid, long time) {
        return body.u32(pid).u32(tid).u64(time).u32(0).u32(0).u64(ID);
    }

    static RecordingMeta meta() {
        List<EventOwner> owners =
                List.of(
                        new EventOwner("sched:sched_switch", "trace.dat", "", ""),
                        new EventOwner("sched:sched_wakeup", "trace.dat", "", ""));
        List<BundlePart> parts =
                List.of(
                        new BundlePart("trace.dat", RecordingMeta.PartKind.TRACE_DAT, "", -1),
                        new BundlePart("perf.data", RecordingMeta.PartKind.PERF_DATA, "", -1));
        return new RecordingMeta(
                RecordingMeta.FORMAT_VERSION,
                "test",
                RecordingState.FINISHED,
                new RecordedTarget(TargetMode.COMMAND, List.of(APP), List.of(100), null),
                new RecordingMeta.Recorder(9, List.of(), 1, 20_000_000, -1),
                new RecordedMachine("host", "6.1", "x86_64", "another", 1, List.of(0, 1), 1),
                new RecordingTimes(START - 1000, 0, START, at(82)),
                new BundleLayout(owners, List.of(), parts),
                List.of(
                        new RecordedLoss(
                                "perf.data", "cpu-clock", 1, RecordingMeta.LossKind.UNREAD, 3)),
                List.of(),
                List.of(),
                List.of());
    }
}
