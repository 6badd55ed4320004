package sonde.recording.perfdata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.airlift.compress.v3.zstd.ZstdNativeCompressor;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.recording.perfdata.RecordedFeatures.SampleTimes;
import sonde.recording.perfdata.Rows.Row;
import sonde.testkit.PerfDataBytes;
import sonde.testkit.PerfDataBytes.Fields;
import sonde.testkit.PerfDataExamples;

class PerfDataRecordingTest {
    static List<ByteOrder> orders() {
        return List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN);
    }

    @ParameterizedTest
    @MethodSource("orders")
    void sampleWithEveryPart(ByteOrder order) throws IOException {
        PerfDataBytes file = PerfDataExamples.file(order);
        file.record(9, 1, PerfDataExamples.whole(file, 12, 50));

        Row row = Rows.of(file.file()).getFirst();
        assertThat(row.type()).isEqualTo("perf:cpu-clock:HG");
        assertThat(List.of(row.cpu(), row.pid(), row.tid())).containsExactly(3, 100, 101);
        assertThat(row.time()).isEqualTo(50);
        assertThat(row.weight()).isEqualTo(999);
        assertThat(row.stack()).containsExactly(-128L, 0xffffffff81000001L, 0x400002L);
    }

    /** perf record -F 50: attr.freq, and sample_freq where a period would be. */
    @ParameterizedTest
    @MethodSource("orders")
    void aFrequencySaysHowFarApartSamplesAre(ByteOrder order) throws IOException {
        for (boolean isFrequency : new boolean[] {true, false}) {
            PerfDataBytes file = new PerfDataBytes(order);
            byte[] attr = file.attr(0, 0, 1 | 2 | 4, 0, isFrequency ? 1L << 10 : 0);
            java.nio.ByteBuffer.wrap(attr).order(order).putLong(16, 50);
            file.event(attr, 12);
            try (PerfDataRecording recording = Rows.open(file.file())) {
                assertThat(recording.sampleNanos()).isEqualTo(isFrequency ? 20_000_000 : 0);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("orders")
    void sampleWhosePartsDoNotFitIsCorrupt(ByteOrder order) throws IOException {
        PerfDataBytes file = PerfDataExamples.file(order);
        file.record(9, 1, PerfDataExamples.everyPart(file, 12, 50)); // AUX is missing

        assertThat(Rows.of(file.file())).extracting(Row::type).containsExactly("notice:corrupt");
    }

    @ParameterizedTest
    @MethodSource("orders")
    void tracepointHasTheFieldsOfItsFormat(ByteOrder order) throws IOException {
        PerfDataBytes file = PerfDataExamples.file(order);
        file.record(9, 1, PerfDataExamples.tracepoint(file, 22, 60));

        Row row = Rows.of(file.file()).getFirst();
        assertThat(row.type()).isEqualTo("sched:sched_example");
        assertThat(row.fields()).containsExactly("common_type=77", "common_pid=101", "comm=abc");
        assertThat(row.stack()).containsExactly(0x400001L);
    }

    @ParameterizedTest
    @MethodSource("orders")
    void mappingEndsBeforeItsSampleId(ByteOrder order) throws IOException {
        PerfDataBytes file = PerfDataExamples.file(order);
        Fields body = file.fields().u32(7).u32(8).u64(0x1000, 0x2000, 0);
        body.u8(20).u8(0).u16(0).raw(new byte[20]).u32(5).u32(2); // build id, prot, flags
        body.text("/bin/abcdefg", 16);
        file.record(10, 2 | 1 << 14, PerfDataExamples.trailer(body, 7, 9, 70, 11));

        Row row = Rows.of(file.file()).getFirst();
        assertThat(row.type()).isEqualTo("perf_record:mmap2");
        assertThat(row.field("filename")).isEqualTo("/bin/abcdefg");
        assertThat(row.field("misc")).isEqualTo(Integer.toString(2 | 1 << 14));
        assertThat(row.field("build_id_size")).isEqualTo("20");
        assertThat(row.field("len")).isEqualTo(Integer.toString(0x2000));
        assertThat(List.of(row.cpu(), row.pid(), row.tid())).containsExactly(2, 7, 9);
        assertThat(row.time()).isEqualTo(70);
    }

    /** The kernel counts one sample_id for each receiver; old bytes of the ring lie behind. */
    @Test
    void recordsThatGrewHaveTheTimeBehindTheirBody() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        long stale = 0x7fff_ffff_dead_beefL;
        int id = PerfDataExamples.trailer(file.fields(), 0, 0, 0, 0).size();
        for (int receivers = 1; receivers <= 3; receivers++) {
            byte[] rest = new byte[(receivers - 1) * id];
            java.util.Arrays.fill(rest, (byte) 0x7f);
            Fields program = file.fields().u16(1).u16(0).u32(77).u64(stale);
            file.record(18, 0, PerfDataExamples.trailer(program, 7, 9, 70, 11).raw(rest));
            Fields symbol = file.fields().u64(0xffff_0000L).u32(64).u16(1).u16(0);
            symbol.text("bpf_prog_7", 16);
            file.record(17, 0, PerfDataExamples.trailer(symbol, 7, 9, 71, 11).raw(rest));
        }
        List<Row> rows = Rows.of(file.file());
        assertThat(rows).extracting(Row::time).containsExactly(70L, 70L, 70L, 71L, 71L, 71L);
        assertThat(rows).extracting(Row::pid).containsOnly(7);
        assertThat(rows).extracting(Row::tid).containsOnly(9);
        assertThat(rows.getLast().field("name")).isEqualTo("bpf_prog_7");
    }

    @Test
    void lossesAndThrottlingAreNotices() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        file.record(2, 0, PerfDataExamples.trailer(file.fields().u64(11, 5), 1, 1, 10, 11));
        file.record(13, 0, PerfDataExamples.trailer(file.fields().u64(6), 1, 1, 20, 11));
        file.record(5, 0, PerfDataExamples.trailer(file.fields().u64(30, 11, 11), 1, 1, 30, 11));
        file.record(6, 0, PerfDataExamples.trailer(file.fields().u64(40, 11, 11), 1, 1, 40, 11));

        List<Row> rows = Rows.of(file.file());
        assertThat(rows)
                .extracting(Row::type)
                .containsExactly(
                        "notice:lost", "notice:lost", "notice:throttle", "notice:unthrottle");
        assertThat(rows).extracting(Row::weight).containsExactly(5L, 6L, 1L, 1L);
    }

    @Test
    void roundsAreSortedAndLateRecordsNoted() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        for (long time : new long[] {10, 30, 50, 20, 40, 60}) {
            file.record(9, 1, PerfDataExamples.tracepoint(file, 21, time));
        }
        file.record(68, 0, file.fields());
        for (long time : new long[] {70, 55, 65}) {
            file.record(9, 1, PerfDataExamples.tracepoint(file, 21, time));
        }
        file.record(68, 0, file.fields());
        file.record(9, 1, PerfDataExamples.tracepoint(file, 21, 35));

        try (PerfDataRecording recording = Rows.open(file.file())) {
            assertThat(Rows.of(recording))
                    .extracting(Row::time)
                    .containsExactly(10L, 20L, 30L, 40L, 50L, 55L, 60L, 35L, 65L, 70L);
            assertThat(recording.notes())
                    .containsExactly("1 records came after their round was over");
        }
    }

    @Test
    void withoutRoundsEverythingIsSorted() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 40_000; i++) {
            file.record(9, 1, PerfDataExamples.tracepoint(file, 21, 1 + (i * 7919L) % 40_000));
        }
        List<Row> rows = Rows.of(file.file());
        assertThat(rows).hasSize(40_000).extracting(Row::time).isSorted();
    }

    @Test
    void syntheticRecordsSpeakOfTheirThread() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        Fields comm = file.fields().u32(41).u32(42).text("worker", 8);
        file.record(3, 0, PerfDataExamples.trailer(comm, 0, 0, 0, 0));

        Row row = Rows.of(file.file()).getFirst();
        assertThat(row.field("comm")).isEqualTo("worker");
        assertThat(List.of(row.pid(), row.tid())).containsExactly(41, 42);
    }

    @ParameterizedTest
    @MethodSource("orders")
    void pipeSaysTheSameAsFile(ByteOrder order) throws IOException {
        PerfDataBytes file = PerfDataExamples.file(order);
        file.record(9, 1, PerfDataExamples.whole(file, 11, 50));
        file.record(9, 1, PerfDataExamples.tracepoint(file, 22, 60));

        assertThat(Rows.of(file.pipe())).isEqualTo(Rows.of(file.file()));
        try (PerfDataRecording pipe = Rows.open(file.pipe());
                PerfDataRecording whole = Rows.open(file.file())) {
            assertThat(pipe.features()).isEqualTo(whole.features());
            assertThat(pipe.attrs()).isEqualTo(whole.attrs());
        }
    }

    @Test
    void compressedRecordsMayStraddlePieces() throws IOException {
        PerfDataBytes plain = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        for (int i = 1; i <= 5_000; i++) {
            plain.record(9, 1, PerfDataExamples.tracepoint(plain, 21, i));
        }
        byte[] records = plain.records();
        ZstdNativeCompressor zstd = new ZstdNativeCompressor();
        byte[] target = new byte[zstd.maxCompressedLength(records.length)];
        int size = zstd.compress(records, 0, records.length, target, 0, target.length);
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < size; at += 100) {
            byte[] piece = Arrays.copyOfRange(target, at, Math.min(size, at + 100));
            file.record(81, 0, file.fields().raw(piece));
        }
        assertThat(Rows.of(file.file())).isEqualTo(Rows.of(plain.file()));
    }

    @Test
    void headerTellsAboutTheRecording() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        file.event(file.attr(1, 10, PerfDataExamples.PLAIN, 0, 1L << 18 | 1L << 25), 31);
        file.record(9, 1, PerfDataExamples.tracepoint(file, 22, 60));
        try (PerfDataRecording recording = Rows.open(file.file())) {
            RecordedFeatures features = recording.features();
            assertThat(features.hostname()).isEqualTo("box");
            assertThat(features.commandLine()).containsExactly("/bin/perf", "record");
            assertThat(features.sampleTime()).isEqualTo(Optional.of(new SampleTimes(5, 9)));
            assertThat(features.clockData())
                    .isEqualTo(Optional.of(new RecordedFeatures.ClockData(1, 1_000, 2_000)));
            assertThat(recording.sources().getFirst().clock()).isEqualTo(Clock.MONO);
            EventType output = recording.typeOf(2);
            assertThat(output.qualifiedName()).isEqualTo("perf:bpf-output");
        }
    }

    @Test
    void unfinishedFileIsReadToItsLastWholeRecord() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        file.record(9, 1, PerfDataExamples.whole(file, 11, 50));
        byte[] bytes = file.unfinished();
        byte[] cut = Arrays.copyOf(bytes, bytes.length + 20);
        cut[bytes.length] = 9; // the beginning of a sample of 64 bytes
        cut[bytes.length + 6] = 64;
        try (PerfDataRecording recording = Rows.open(cut)) {
            assertThat(Rows.of(recording))
                    .extracting(Row::type)
                    .containsExactly("perf:cpu-clock:HG", "notice:corrupt");
            assertThat(recording.isFinished()).isFalse();
            assertThat(recording.notes()).anyMatch(note -> note.contains("did not finish"));
        }
    }

    @Test
    void unknownRecordsAreSkippedWithANote() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        file.record(60, 0, file.fields().u64(1));
        file.record(99, 0, file.fields().u64(1));
        file.record(9, 1, PerfDataExamples.tracepoint(file, 22, 60));
        try (PerfDataRecording recording = Rows.open(file.file())) {
            assertThat(Rows.of(recording)).hasSize(1);
            assertThat(recording.notes())
                    .containsExactly(
                            "records of unknown type 60 skipped",
                            "records of unknown type 99 skipped");
        }
    }

    @Test
    void otherFilesAreRefused() {
        assertThatThrownBy(() -> Rows.of(new byte[200]))
                .isInstanceOf(MalformedInputException.class)
                .hasMessageContaining("magic");
        assertThatThrownBy(() -> Rows.of(new byte[0])).isInstanceOf(MalformedInputException.class);
    }
}
