package sonde.recording.tracedat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static sonde.recording.tracedat.TraceDatRecordingTest.listing;
import static sonde.recording.tracedat.TraceDatRecordingTest.open;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.event.Clock;
import sonde.recording.tracedat.TimeShift.ShiftMeasurement;
import sonde.testkit.Bytes;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;

class TraceDatOptionsTest {
    private static final ByteOrder LITTLE = ByteOrder.LITTLE_ENDIAN;

    private static TraceDatBytes file(ByteOrder order) {
        TraceDatBytes file = new TraceDatBytes(order, 8);
        return file.cpu(page(file, order, 3_000_000_000L, 1), page(file, order, 5_000_000_000L, 2))
                .cpu(page(file, order, 4_000_000_000L, 3));
    }

    private static byte[] page(TraceDatBytes file, ByteOrder order, long time, int number) {
        return new RingPage(order, 8, TraceDatBytes.PAGE, time)
                .event(0, file.hello(7, number, "x"))
                .toBytes();
    }

    private static String times(byte[] bytes) throws IOException {
        try (TraceDatRecording recording = open(bytes)) {
            assertThat(recording.notes()).isEmpty();
            return listing(recording)
                    .replaceAll("(?m)^ *\\S+-7 +\\[(\\d+)\\] +(\\S+): .*number=(\\d).*", "$3 $2")
                    .replace("\n", ", ");
        }
    }

    private static Bytes shift(TraceDatBytes file, int flags, long[][][] cpus, boolean fractions) {
        Bytes out = file.bytes().u64(77).u32(flags).u32(cpus.length);
        for (long[][] cpu : cpus) {
            out.u32(cpu[0].length);
            for (int column = 0; column < 3; column++) {
                for (long value : cpu[column]) {
                    out.u64(value);
                }
            }
        }
        for (long[][] cpu : cpus) {
            for (long fraction : fractions ? cpu[3] : new long[0]) {
                out.u64(fraction);
            }
        }
        return out;
    }

    private static final long[][] NONE = {{}, {}, {}, {}};

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void guestTimesBecomeTheHosts(boolean little) throws IOException {
        ByteOrder order = little ? LITTLE : ByteOrder.BIG_ENDIAN;
        long[][] one = {{9}, {-1_000_000_000L}, {2}, {0}};
        TraceDatBytes single = file(order);
        single.option(12, shift(single, 0, new long[][][] {one, NONE}, true));
        assertThat(times(single.version7(false))).isEqualTo("1 2.000000, 2 4.000000, 3 4.000000, ");
        assertThat(times(single.version6())).isEqualTo("1 2.000000, 2 4.000000, 3 4.000000, ");

        long[][] steps = {
            {5_000_000_000L, 1, 4_000_000_000L, 4_000_000_000L}, // sorted by the reader
            {300, 100_000_000, 200_000_000, 900_000_000},
            {1, 1, 1, 1},
            {0, 0, 0, 0},
        };
        TraceDatBytes several = file(order);
        several.option(12, shift(several, 0, new long[][][] {steps, steps}, true));
        assertThat(times(several.version7(true))).isEqualTo("1 3.100000, 3 4.200000, 2 5.200000, ");

        long[][] line = {{3_000_000_000L, 5_000_000_000L}, {0, 2_000_000}, {3, 3}, {1, 1}};
        TraceDatBytes scaled = file(order);
        scaled.option(12, shift(scaled, 1, new long[][][] {line, line}, true));
        assertThat(times(scaled.version7(false))).isEqualTo("1 4.500000, 3 6.001000, 2 7.502000, ");
    }

    @Test
    void shiftsWithoutFractionsAreOfOlderRecorders() throws IOException {
        TraceDatBytes file = file(LITTLE);
        long[][] line = {{1, 2}, {7000, 9000}, {1, 1}};
        file.option(12, shift(file, 0, new long[][][] {line, line}, false));
        try (TraceDatRecording recording = open(file.version7(false))) {
            TimeShift shift = recording.timeShift().orElseThrow();
            assertThat(shift.peerId()).isEqualTo(77);
            assertThat(shift.cpus().get(1))
                    .containsExactly(
                            new ShiftMeasurement(1, 7000, 1, 0),
                            new ShiftMeasurement(2, 9000, 1, 0));
        }
        assertThat(times(file.version7(false))).isEqualTo("1 3.000007, 3 4.000007, 2 5.000007, ");
    }

    @Test
    void cyclesBecomeNanoseconds() throws IOException {
        TraceDatBytes file = file(LITTLE).clock("x86-tsc");
        try (TraceDatRecording recording = open(file.version7(false))) {
            assertThat(listing(recording)).contains(" 3000000000: hello");
            assertThat(recording.sources().getFirst().clock()).isEqualTo(Clock.X86_TSC);
        }
        file.option(14, file.bytes().u32(1 << 30).u32(31).u64(123));
        assertThat(times(file.version7(false))).isEqualTo("1 1.500000, 3 2.000000, 2 2.500000, ");
        TimeCorrection.Tsc wide = new TimeCorrection.Tsc(0xffff_ffffL, 32, 0);
        assertThat(wide.nanos(1L << 62)).isEqualTo((1L << 62) - (1L << 30));
    }

    @Test
    void whatFewNeedIsKept() throws IOException {
        TraceDatBytes file = file(LITTLE);
        file.option(6, file.bytes().text("sched_switch,next_pid/sched_switch,prev_pid"))
                .option(
                        13,
                        file.bytes().text("guest1").u64(88).u32(2).u32(0).u32(70).u32(1).u32(71))
                .option(24, file.bytes().text("boot:ffffffff81000000\t[kernel]\n"))
                .option(15, file.bytes().text("headers"))
                .option(10, file.bytes().text("7 0 seven\n"))
                .section(23, new byte[] {1, 2, 3})
                .section(
                        25,
                        "ext4 1 2 - Live 0xffffffffc0000000\n".getBytes(StandardCharsets.UTF_8));
        for (boolean zlib : new boolean[] {false, true}) {
            try (TraceDatRecording recording = open(file.version7(zlib))) {
                assertThat(recording.notes()).isEmpty();
                assertThat(recording.hooks()).hasSize(1);
                assertThat(recording.guests())
                        .containsExactly(new GuestOption("guest1", 88, Map.of(0, 70, 1, 71)));
                assertThat(recording.lastBoots())
                        .containsExactly(Map.entry("boot", "ffffffff81000000\t[kernel]\n"));
                assertThat(recording.btf()).containsExactly(1, 2, 3);
                assertThat(new String(recording.modules(), StandardCharsets.UTF_8))
                        .startsWith("ext4 ");
                assertThat(recording.procMaps()).isNotEmpty();
            }
        }
    }

    @Test
    void whatIsUnknownOrDamagedIsNamedAndSkipped() throws IOException {
        TraceDatBytes file = file(LITTLE);
        file.option(999, file.bytes().ascii("new")).option(12, file.bytes().u32(1));
        for (byte[] bytes : new byte[][] {file.version6(), file.version7(false)}) {
            try (TraceDatRecording recording = open(bytes)) {
                assertThat(recording.notes())
                        .containsExactly(
                                "test.dat: option 999 is unknown, its 3 bytes are skipped",
                                "test.dat: option 12 is skipped: time shift: peer at byte 0: 8"
                                        + " bytes wanted, 4 left");
                assertThat(listing(recording)).contains("number=1", "number=2", "number=3");
            }
        }
    }

    @Test
    void offsetsAreAddedToTheListing() throws IOException {
        TraceDatBytes file = file(LITTLE);
        file.option(1, file.bytes().text("0x10")).option(7, file.bytes().text("-2000"));
        assertThat(times(file.version7(false))).isEqualTo("1 3.000014, 3 4.000014, 2 5.000014, ");
    }

    @ParameterizedTest
    @CsvSource({"false", "true"})
    void latencyTextIsRead(boolean zlib) throws IOException {
        try (TraceDatRecording recording = open(new TraceDatBytes(LITTLE, 8).latency7(zlib))) {
            assertThat(new String(recording.latencyText(), StandardCharsets.UTF_8))
                    .isEqualTo("# tracer: wakeup\n#\nsecond line\n");
            assertThat(recording.lanes()).isEmpty();
            assertThat(recording.notes()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({"true,8", "true,4", "false,8", "false,4"})
    void oldPagesAreRead(boolean little, int longBytes) throws IOException {
        ByteOrder order = little ? LITTLE : ByteOrder.BIG_ENDIAN;
        TraceDatBytes file = new TraceDatBytes(order, longBytes).withoutHeaderPage();
        byte[] page =
                new RingPage(order, longBytes, TraceDatBytes.PAGE, 1_000_000_000L)
                        .oldEvent(1000, file.hello(7, 1, "x"))
                        .oldExtend(1L << 30)
                        .oldEvent(0, Arrays.copyOf(file.hello(7, 2, "x"), 40))
                        .oldPadding()
                        .raw(new byte[] {1, 1, 1, 1})
                        .toBytes();
        file.cpu(page);
        assertThat(times(file.version6())).isEqualTo("1 1.000001, 2 2.073743, ");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void subBuffersMayBeLarge(boolean zlib) throws IOException {
        TraceDatBytes file = new TraceDatBytes(LITTLE, 8).subBuffer(65536);
        RingPage page = new RingPage(LITTLE, 8, 65536, 1_000_000_000L);
        for (int i = 0; i < 1000; i++) {
            page.event(1, file.hello(7, 4, "x"));
        }
        file.cpu(page.toBytes());
        try (TraceDatRecording recording = open(file.version7(zlib))) {
            assertThat(listing(recording).lines()).hasSize(1000);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aFileWithoutItsEndIsSalvaged(boolean zlib) throws IOException {
        byte[] whole = file(LITTLE).version7(zlib);
        // The options come last in these files, and where they are stands behind the compressor.
        int end = (int) ByteBuffer.wrap(whole).order(LITTLE).getLong(zlib ? 25 : 24);
        try (TraceDatRecording recording = open(Arrays.copyOf(whole, end))) {
            assertThat(recording.notes())
                    .anyMatch(note -> note.startsWith("test.dat: its options end early"))
                    .anyMatch(note -> note.contains("how the CPUs are numbered is a guess"));
            assertThat(listing(recording))
                    .contains("number=1", "number=2", "number=3", "[001]")
                    .contains("CPU:1 [CUT SHORT]");
        }
    }

    @Test
    void whatHasNoPagesYetIsReadAsEmpty() throws IOException {
        byte[] six = file(LITTLE).version6();
        for (int length = 350; length < 750; length += 50) {
            try (TraceDatRecording recording = open(Arrays.copyOf(six, length))) {
                assertThat(recording.notes()).anyMatch(note -> note.startsWith("test.dat: cut or"));
                assertThat(listing(recording)).isEmpty();
            }
        }
        byte[] seven = file(LITTLE).version7(false);
        assertThatThrownBy(() -> open(Arrays.copyOf(seven, 60)))
                .hasMessage(
                        "test.dat: header info at byte 60: missing: without it no event can be"
                                + " read");
    }
}
