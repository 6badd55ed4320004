package sonde.recording.perfdata;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.event.Lane;
import sonde.recording.perfdata.MachineFeatures.CpuPlace;
import sonde.recording.perfdata.MachineFeatures.EventGroup;
import sonde.recording.perfdata.Rows.Row;
import sonde.testkit.PerfDataBytes;
import sonde.testkit.PerfDataExamples;

/** Forms of the file: directory, old, cut; its own records and features. */
class PerfModesTest {
    static List<ByteOrder> orders() {
        return List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN);
    }

    @Test
    void folderHasALaneForEachFile() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        file.record(9, 1, PerfDataExamples.tracepoint(file, 21, 5));
        PerfDataBytes part = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        part.record(9, 1, PerfDataExamples.tracepoint(part, 22, 7));
        part.record(9, 1, PerfDataExamples.tracepoint(part, 21, 6));
        try (PerfDataRecording folder = Rows.open(file.file(), part.records(), new byte[0])) {
            List<Lane> lanes = folder.lanes();
            assertThat(lanes).hasSize(3);
            lanes.forEach(Lane::close);
            assertThat(Rows.of(folder)).extracting(Row::time).containsExactly(5L, 6L, 7L);
            assertThat(folder.recordCounts()).isEqualTo(Map.of("SAMPLE", 3L));
            assertThat(Rows.of(folder)).hasSize(3);
            assertThat(folder.recordCounts()).isEqualTo(Map.of("SAMPLE", 3L));
        }
    }

    @ParameterizedTest
    @MethodSource("orders")
    void filesOfTheFirstVersionAreRead(ByteOrder order) throws IOException {
        PerfDataBytes file = PerfDataExamples.file(order);
        file.record(9, 1, PerfDataExamples.tracepoint(file, 22, 60));

        assertThat(Rows.of(file.version1())).isEqualTo(Rows.of(file.file()));
    }

    @Test
    void cutFileSaysWhereItEnds() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 10; i++) {
            file.record(9, 1, PerfDataExamples.tracepoint(file, 22, 60 + i));
        }
        byte[] whole = file.file();
        int end = whole.length - whole.length / 2;
        try (PerfDataRecording recording = Rows.open(Arrays.copyOf(whole, end))) {
            Rows.of(recording);
            assertThat(recording.notes())
                    .anyMatch(note -> note.startsWith("test is cut at byte " + end))
                    .anyMatch(note -> note.contains("header features"))
                    .anyMatch(note -> note.contains("formats of its tracepoints are missing"));
        }
    }

    @Test
    void everyCutOfAFileIsToldOf() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        file.record(9, 1, PerfDataExamples.whole(file, 11, 50));
        file.record(9, 1, PerfDataExamples.tracepoint(file, 22, 60));
        byte[] whole = file.file();
        int header = 104 + 4 * 8 + 2 * 152; // header, ids, attrs
        for (int end = header; end < whole.length; end++) {
            try (PerfDataRecording recording = Rows.open(Arrays.copyOf(whole, end))) {
                Rows.of(recording);
                assertThat(recording.notes())
                        .as("cut at %d of %d", end, whole.length)
                        .anyMatch(note -> note.contains("test"));
            }
        }
    }

    @Test
    void cutPipeSaysWhereItEnds() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        file.record(9, 1, PerfDataExamples.tracepoint(file, 22, 60));
        byte[] whole = file.pipe();
        try (PerfDataRecording recording = Rows.open(Arrays.copyOf(whole, whole.length - 3))) {
            assertThat(Rows.of(recording)).extracting(Row::type).contains("notice:corrupt");
            assertThat(recording.notes()).anyMatch(note -> note.startsWith("test stops at byte "));
        }
    }

    @ParameterizedTest
    @MethodSource("orders")
    void perfsOwnRecordsHaveRows(ByteOrder order) throws IOException {
        PerfDataBytes file = PerfDataExamples.file(order);
        file.record(70, 0, file.fields().u32(1).u32(0).u64(5, 6)); // AUXTRACE_INFO
        file.record(71, 0, file.fields().u64(16, 0, 9).u32(3).u32(77).u32(1).u32(0));
        file.area(new byte[16]); // the AUX area, not counted in the record's size
        file.record(79, 0, file.fields().u64(1, 2, 3)); // TIME_CONV
        file.record(76, 0, file.fields().u64(11).u32(1).u32(0).u64(100, 50, 40)); // STAT
        file.record(68, 0, file.fields()); // FINISHED_ROUND
        file.record(82, 0, file.fields()); // FINISHED_INIT
        try (PerfDataRecording recording = Rows.open(file.file())) {
            List<Row> rows = Rows.of(recording);
            assertThat(rows)
                    .extracting(Row::type)
                    .containsExactly(
                            "perf_record:auxtrace_info",
                            "perf_record:auxtrace",
                            "perf_record:time_conv",
                            "perf_record:stat");
            assertThat(rows.getFirst().field("priv")).isEqualTo("[5, 6]");
            assertThat(rows.get(1).field("tid")).isEqualTo("77");
            assertThat(rows.get(3).field("ena")).isEqualTo("50");
            assertThat(recording.recordCounts())
                    .containsEntry("FINISHED_ROUND", 1L)
                    .containsEntry("FINISHED_INIT", 1L)
                    .containsEntry("AUXTRACE", 1L)
                    .hasSize(6);
        }
    }

    @Test
    void cutAuxAreaIsToldOf() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        file.record(71, 0, file.fields().u64(1 << 20, 0, 9).u32(3).u32(77).u32(1).u32(0));
        file.area(new byte[16]);
        try (PerfDataRecording recording = Rows.open(file.file())) {
            assertThat(Rows.of(recording)).hasSize(1);
            assertThat(recording.notes())
                    .anyMatch(note -> note.contains("of 1048576 bytes behind the record"));
        }
    }

    /** Cores that are left out and dies that are not: no such perf, but files may lie. */
    @Test
    void topologyThatLacksItsCores() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        file.record(9, 1, PerfDataExamples.tracepoint(file, 22, 60));
        file.cpus(2, 2);
        file.feature(
                13,
                file.fields()
                        .raw(file.strings("0-1"))
                        .raw(file.strings("0"))
                        .u32(0) // no strings
                        .u32(7)
                        .toArray());
        try (PerfDataRecording recording = Rows.open(file.file())) {
            MachineFeatures machine = recording.features().machine();
            assertThat(machine.topology().orElseThrow().cpus()).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("orders")
    void featuresAboutTheMachine(ByteOrder order) throws IOException {
        PerfDataBytes file = PerfDataExamples.file(order);
        file.record(9, 1, PerfDataExamples.tracepoint(file, 22, 60));
        file.cpus(2, 1);
        file.feature(9, file.headerString("GenuineIntel,6"));
        file.feature(10, file.fields().u64(1_000_000).toArray());
        file.feature(
                13,
                file.fields()
                        .raw(file.strings("0-1"))
                        .raw(file.strings("0", "1"))
                        .u32(0)
                        .u32(0)
                        .u32(1)
                        .u32(0) // core and socket of each CPU
                        .raw(file.strings("0-1"))
                        .u32(0)
                        .u32(0) // dies
                        .toArray());
        file.feature(
                14,
                file.fields().u32(1).u32(0).u64(64, 32).raw(file.headerString("0-1")).toArray());
        file.feature(15, new byte[0]);
        file.feature(16, file.fields().u32(1).u32(4).raw(file.headerString("cpu")).toArray());
        file.feature(
                17, file.fields().u32(1).raw(file.headerString("{a,b}")).u32(0).u32(2).toArray());
        addCaches(file);
        try (PerfDataRecording recording = Rows.open(file.file())) {
            MachineFeatures machine = recording.features().machine();
            assertThat(machine.cpuid()).isEqualTo("GenuineIntel,6");
            assertThat(machine.totalMemoryKib()).isEqualTo(1_000_000);
            assertThat(machine.topology().orElseThrow().cpus())
                    .containsExactly(new CpuPlace(0, 0, 0), new CpuPlace(1, 0, 0));
            assertThat(machine.numa())
                    .containsExactly(new MachineFeatures.NumaNode(0, 64, 32, "0-1"));
            assertThat(machine.branchStack()).isTrue();
            assertThat(machine.pmus()).isEqualTo(Map.of(4L, "cpu"));
            assertThat(machine.groups()).containsExactly(new EventGroup("{a,b}", 0, 2));
            assertThat(machine.auxTraces()).containsExactly(new MachineFeatures.AuxTrace(4096, 48));
            assertThat(machine.caches().getFirst().size()).isEqualTo("32K");
            assertThat(machine.memory().orElseThrow().nodes())
                    .containsExactly(new MachineFeatures.MemoryNode(0, 3));
            assertThat(machine.directoryVersion()).isEqualTo(1);
            assertThat(machine.compression().orElseThrow().ratio()).isEqualTo(5);
            assertThat(machine.capabilities().get("cpu_core")).isEqualTo(Map.of("branches", "32"));
            assertThat(recording.features().present()).contains(9, 13, 31).doesNotContain(200);
            assertThat(recording.notes()).contains("feature 200 is unknown: skipped");
        }
    }

    /** Caches, memory, and how the file was made. */
    private static void addCaches(PerfDataBytes file) {
        file.feature(18, file.fields().u64(1, 4096, 48).toArray());
        file.feature(
                20,
                file.fields()
                        .u32(1)
                        .u32(1)
                        .u32(1)
                        .u32(64)
                        .u32(128)
                        .u32(8)
                        .raw(file.headerString("Data"))
                        .raw(file.headerString("32K"))
                        .raw(file.headerString("0"))
                        .toArray());
        file.feature(22, file.fields().u64(1, 1 << 27, 1).u64(0, 4, 4, 0b1011).toArray());
        file.feature(24, file.fields().u64(1).toArray());
        file.feature(27, file.fields().u32(1).u32(1).u32(3).u32(5).u32(4096).toArray());
        file.feature(
                31,
                file.fields()
                        .u32(1)
                        .u32(1)
                        .raw(file.headerString("branches"))
                        .raw(file.headerString("32"))
                        .raw(file.headerString("cpu_core"))
                        .toArray());
        file.feature(200, new byte[8]);
    }
}
