package sonde.recording.perfdata;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.recording.perfdata.Rows.Row;
import sonde.testkit.PerfDataBytes;
import sonde.testkit.PerfDataBytes.Fields;
import sonde.testkit.PerfDataExamples;

/** What samples carry besides columns, as fields of their event types. */
class PerfSampleFieldsTest {
    static List<ByteOrder> orders() {
        return List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN);
    }

    @ParameterizedTest
    @MethodSource("orders")
    void everyPartIsAField(ByteOrder order) throws IOException {
        PerfDataBytes file = PerfDataExamples.file(order);
        file.record(9, 1, PerfDataExamples.whole(file, 12, 50));

        Row row = Rows.of(file.file()).getFirst();
        assertThat(row.field("addr")).isEqualTo(Integer.toString(0xdead));
        assertThat(row.field("id")).isEqualTo("12");
        assertThat(row.field("stream_id")).isEqualTo("12");
        assertThat(row.field("time_enabled")).isEqualTo("100");
        assertThat(row.field("time_running")).isEqualTo("90");
        assertThat(row.field("read_values")).isEqualTo("[7, 8]");
        assertThat(row.field("read_ids")).isEqualTo("[11, 21]");
        assertThat(row.field("read_lost")).isEqualTo("[0, 1]");
        assertThat(row.field("raw")).hasSizeGreaterThan(12);
        assertThat(row.field("branch_hw_idx")).isEqualTo("5");
        assertThat(row.field("branch_from")).isEqualTo("[16]");
        assertThat(row.field("branch_to")).isEqualTo("[32]");
        assertThat(row.field("branch_flags")).isEqualTo("[0]");
        assertThat(row.field("user_regs_abi")).isEqualTo("2");
        assertThat(row.field("user_regs")).isEqualTo("[1, 2, 3]");
        assertThat(row.field("user_stack")).endsWith("]").startsWith("[");
        assertThat(row.field("user_stack").split(",")).hasSize(8);
        assertThat(row.field("weight")).isEqualTo("5");
        assertThat(row.field("ins_lat")).isEqualTo("0");
        assertThat(row.field("data_src")).isEqualTo("6");
        assertThat(row.field("transaction")).isEqualTo("7");
        assertThat(row.field("intr_regs_abi")).isEqualTo("1");
        assertThat(row.field("intr_regs")).isEqualTo("[8, 9]");
        assertThat(row.field("phys_addr")).isEqualTo("4096");
        assertThat(row.field("cgroup")).isEqualTo("99");
        assertThat(row.field("data_page_size")).isEqualTo("4096");
        assertThat(row.field("code_page_size")).isEqualTo("4096");
        assertThat(row.field("aux").split(",")).hasSize(8);
        assertThat(row.stack()).hasSize(3);
    }

    @Test
    void fieldsThatNobodyWantsAreNotPutTogether() throws IOException {
        PerfDataBytes file = new PerfDataBytes(ByteOrder.LITTLE_ENDIAN);
        // IP TID CALLCHAIN PERIOD STACK_USER
        file.event(file.attr(0, 0, 1 | 2 | 32 | 256 | 1 << 13, 0, 0), 1);
        Fields body = file.fields().u64(0x1234).u32(5).u32(6).u64(77).u64(2, 0x1234, 0x99);
        file.record(9, 2, body.u64(8).u64(0xabc).u64(8));

        try (PerfDataRecording recording = Rows.open(file.file())) {
            Row whole = Rows.of(recording).getFirst();
            assertThat(whole.field("user_stack").split(",")).hasSize(8);
            recording.sampleFields(false);
            try (Lane lane = recording.lanes().getFirst()) {
                Batch batch = Objects.requireNonNull(lane.next());
                assertThat(batch.payloadBytes(0)).isZero();
                assertThat(batch.weight(0)).isEqualTo(77);
                assertThat(batch.stackEntry(0, 1)).isEqualTo(0x99);
            }
            recording.sampleFields(true);
            assertThat(Rows.of(recording)).containsExactly(whole);
        }
    }

    @ParameterizedTest
    @MethodSource("orders")
    void wordsBeforeTheCallChainLieInPlace(ByteOrder order) throws IOException {
        PerfDataBytes file = new PerfDataBytes(order);
        // IP TID ADDR PERIOD
        file.event(file.attr(0, 0, 1 | 2 | 8 | 256, 0, 0), 1);
        file.record(9, 2, file.fields().u64(0x1234).u32(5).u32(6).u64(0xabc, 77));

        Row row = Rows.of(file.file()).getFirst();
        assertThat(row.type()).isEqualTo("perf:cycles:HG");
        assertThat(row.fields()).containsExactly("addr=" + 0xabc);
        assertThat(row.weight()).isEqualTo(77);
        assertThat(row.stack()).containsExactly(0x1234L);
    }

    @Test
    void branchCountersStandBehindAllBranches() throws IOException {
        PerfDataBytes file = new PerfDataBytes(ByteOrder.LITTLE_ENDIAN);
        byte[] attr = file.attr(0, 1, 2 | 1 << 11, 0, 0);
        file.event(file.withBranches(attr, 1 << 19), 1);
        Fields body = file.fields().u32(5).u32(6).u64(2);
        body.u64(0x10, 0x20, 1).u64(0x30, 0x40, 2).u64(7, 8);
        file.record(9, 2, body);

        Row row = Rows.of(file.file()).getFirst();
        assertThat(row.fields())
                .containsExactly(
                        "branch_from=[16, 48]",
                        "branch_to=[32, 64]",
                        "branch_flags=[1, 2]",
                        "branch_counters=[7, 8]");
    }

    @Test
    void flagsOfBigEndianBranchesAreTurned() {
        // mispred 1, predicted 0, in_tx 0, abort 1, cycles 0x1234, type 5
        long big = 0b1001L << 60 | 0x1234L << 44 | 5L << 40;
        long little = 0b1001L | 0x1234L << 4 | 5L << 20;
        assertThat(SampleFields.littleEndianFlags(big)).isEqualTo(little);
    }

    @Test
    void deferredCallChainStandsInItsSample() throws IOException {
        PerfDataBytes file = new PerfDataBytes(ByteOrder.LITTLE_ENDIAN);
        // IP TID TIME CALLCHAIN; defer_callchain is flag 38
        file.event(file.attr(1, 0, 1 | 2 | 4 | 32, 0, 1L << 38), 1);
        Fields sample = file.fields().u64(0x81).u32(5).u32(6).u64(10);
        file.record(9, 1, sample.u64(4, -128, 0xffffffff81000000L, -640, 99));
        file.record(22, 2, file.fields().u64(99, 2, 0x400010, 0x400020));

        List<Row> rows = Rows.of(file.file());
        assertThat(rows.getFirst().stack())
                .containsExactly(-128L, 0xffffffff81000000L, -512L, 0x400010L, 0x400020L);
        assertThat(rows.get(1).type()).isEqualTo("perf_record:callchain_deferred");
        assertThat(rows.get(1).field("ips")).isEqualTo("[4194320, 4194336]");
    }

    @Test
    void aReadGroupIsASampleOfEachCounterThatMoved() throws IOException {
        PerfDataBytes file = new PerfDataBytes(ByteOrder.LITTLE_ENDIAN);
        // IP TID TIME READ; the format has ids and is a group's
        file.event(file.attr(1, 0, 1 | 2 | 4 | 16, 4 | 8, 0), 11);
        file.event(file.attr(1, 2, 1 | 2 | 4 | 16, 4 | 8, 0), 21);
        for (long[] values : new long[][] {{100, 3}, {250, 3}, {250, 9}}) {
            Fields body = file.fields().u64(0x81).u32(5).u32(6).u64(values[0]);
            file.record(9, 1, body.u64(2, values[0], 11, values[1], 21));
        }

        assertThat(Rows.of(file.file()))
                .extracting(row -> row.type() + " " + row.weight() + " " + row.field("read_values"))
                .containsExactly(
                        "perf:cpu-clock:HG 100 [100, 3]",
                        "perf:page-faults:HG 3 [100, 3]",
                        "perf:cpu-clock:HG 150 [250, 3]",
                        "perf:page-faults:HG 6 [250, 9]");
    }

    @Test
    void idsThatNoEventListsAreUnknown() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        file.record(9, 1, PerfDataExamples.tracepoint(file, 4711, 60));
        file.record(9, 1, PerfDataExamples.tracepoint(file, 22, 61));
        try (PerfDataRecording recording = Rows.open(file.file())) {
            assertThat(Rows.of(recording))
                    .extracting(Row::type)
                    .containsExactly("notice:unknown", "sched:sched_example");
            assertThat(recording.notes()).anyMatch(note -> note.contains("no event lists"));
        }
    }

    @Test
    void namesAreThoseOfPerf() {
        assertThat(name(PerfAttr.of(3, 0x10002))).isEqualTo("LLC-load-misses:HG");
        assertThat(name(PerfAttr.of(3, 0x101))).isEqualTo("L1-icache-stores:HG");
        assertThat(name(PerfAttr.of(4, 0x1b1))).isEqualTo("raw 0x1b1:HG");
        PerfAttr.Builder user = PerfAttr.of(0, 1).flags(PerfAbi.FLAG_EXCLUDE_KERNEL);
        user.flags(PerfAbi.FLAG_EXCLUDE_HV | PerfAbi.FLAG_EXCLUDE_GUEST | 2L << 15);
        assertThat(name(user)).isEqualTo("instructions:uppH");
        assertThat(name(PerfAttr.software(9).flags(PerfAbi.FLAG_EXCLUDE_GUEST))).isEqualTo("dummy");
    }

    private static String name(PerfAttr.Builder attr) {
        return PerfEventNames.of(attr.build());
    }

    @Test
    void attrsInWords() {
        PerfAttr attr =
                PerfAttr.software(0)
                        .frequency(4000)
                        .sampleType(PerfAbi.PERF_SAMPLE_IP | PerfAbi.PERF_SAMPLE_TID)
                        .readFormat(PerfAbi.PERF_FORMAT_ID)
                        .flags(PerfAbi.FLAG_DISABLED | 3L << 15)
                        .build();
        assertThat(AttrText.of(attr))
                .isEqualTo(
                        "type = 1, { sample_period, sample_freq } = 4000, sample_type = IP|TID,"
                                + " read_format = ID, disabled = 1, freq = 1, precise_ip = 3");
    }
}
