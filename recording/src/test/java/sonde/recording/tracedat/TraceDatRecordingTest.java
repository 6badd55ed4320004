package sonde.recording.tracedat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.Lane;
import sonde.recording.ftrace.EventListing;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;

class TraceDatRecordingTest {
    private static TraceDatBytes file(ByteOrder order, int longBytes) {
        TraceDatBytes file = new TraceDatBytes(order, longBytes);
        return file.cpu(
                        page(order, longBytes, 1_000_000)
                                .event(5, file.hello(7, 1, "one"))
                                .extend(1L << 30)
                                .longEvent(7, file.hello(9, 2, "two"))
                                .padding()
                                .toBytes(),
                        page(order, longBytes, 3_000_000_000L)
                                .lost(12)
                                .event(0, file.hello(7, 3, "three"))
                                .toBytes())
                .cpu(
                        page(order, longBytes, 2_000_000)
                                .stamp(2_500_000)
                                .discarded(10, 16)
                                .event(1, file.hello(8, 4, "four"))
                                .toBytes());
    }

    private static RingPage page(ByteOrder order, int longBytes, long time) {
        return new RingPage(order, longBytes, TraceDatBytes.PAGE, time);
    }

    static TraceDatRecording open(byte[] bytes) throws IOException {
        return TraceDatRecording.of(Input.of("test.dat", MemorySegment.ofArray(bytes)));
    }

    static String listing(TraceDatRecording recording) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new EventListing(recording.lanes(), recording.eventText()).writeTo(out);
        return out.toString(StandardCharsets.UTF_8);
    }

    private static final String EXPECTED =
            """
                       seven-7     [000]     0.001000: hello:                number=1 name=one
                       <...>-8     [001]     0.002500: hello:                number=4 name=four
                       <...>-9     [000]     1.074742: hello:                number=2 name=two
            CPU:0 [12 EVENTS DROPPED]
                       seven-7     [000]     3.000000: hello:                number=3 name=three
            """;

    @ParameterizedTest
    @CsvSource({"true,8", "true,4", "false,8", "false,4"})
    void readsEveryLayoutAlike(boolean little, int longBytes) throws IOException {
        ByteOrder order = little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        TraceDatBytes file = file(order, longBytes);
        String expected = EXPECTED.replace("<...>-9 ", "    n-9 ");
        try (TraceDatRecording six = open(file.version6())) {
            assertThat(listing(six)).isEqualTo(expected);
            assertThat(six.sources().getFirst().clock()).isEqualTo(Clock.MONO);
            assertThat(six.notes()).isEmpty();
        }
        for (boolean zlib : new boolean[] {false, true}) {
            try (TraceDatRecording seven = open(file.version7(zlib))) {
                assertThat(listing(seven)).isEqualTo(EXPECTED);
                assertThat(seven.notes()).isEmpty();
                assertThat(seven.metadata().cpuCount()).isEqualTo(2);
            }
        }
    }

    @Test
    void laneIsOfItsInstance() throws IOException {
        byte[] bytes = file(ByteOrder.LITTLE_ENDIAN, 8).instance("inst").version7(false);
        try (TraceDatRecording recording = open(bytes)) {
            assertThat(recording.lanes()).extracting(Lane::buffer).containsOnly("inst");
            assertThat(recording.buffers()).containsExactly("inst");
        }
    }

    @Test
    void cutDataIsReadAsFarAsItGoes() throws IOException {
        byte[] whole = file(ByteOrder.LITTLE_ENDIAN, 8).version6();
        byte[] cut = Arrays.copyOf(whole, whole.length - 2 * TraceDatBytes.PAGE + 40);
        try (TraceDatRecording recording = open(cut)) {
            assertThat(recording.notes())
                    .containsExactly(
                            "test.dat: CPU 0: cut short, 4136 of 8192 bytes of events are there",
                            "test.dat: CPU 1: all 4096 bytes of its events are missing, the file"
                                    + " ends at "
                                    + cut.length);
            assertThat(listing(recording))
                    .contains("number=1")
                    .endsWith("CPU:0 [CUT SHORT, 4056 BYTES MISSING]\n")
                    .doesNotContain("number=4");
        }
    }

    @Test
    void latencyTextIsKept() throws IOException {
        byte[] bytes = new TraceDatBytes(ByteOrder.LITTLE_ENDIAN, 8).latency6();
        try (TraceDatRecording recording = open(bytes)) {
            assertThat(new String(recording.latencyText(), StandardCharsets.UTF_8))
                    .isEqualTo("# tracer: irqsoff\n");
            assertThat(recording.lanes()).isEmpty();
        }
    }

    @Test
    void otherFilesAreRefused() {
        assertThatThrownBy(() -> open("ELF".getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(MalformedInputException.class)
                .hasMessage("test.dat: magic at byte 0: no trace.dat");
        byte[] eight = file(ByteOrder.LITTLE_ENDIAN, 8).version6();
        eight[10] = '8';
        assertThatThrownBy(() -> open(eight)).hasMessageContaining("known are 6 and 7");
    }

    @Test
    void damagedEventsBecomeRows() throws IOException {
        ByteOrder order = ByteOrder.LITTLE_ENDIAN;
        TraceDatBytes file = new TraceDatBytes(order, 8);
        byte[] foreign = file.hello(7, 1, "x");
        foreign[0] = 99;
        byte[] shortened = Arrays.copyOf(file.hello(7, 1, "x"), 8);
        file.cpu(
                page(order, 8, 100)
                        .event(1, foreign)
                        .event(1, shortened)
                        .raw(new byte[] {28, 0, 0, 0, 1, 2, 3, 4})
                        .toBytes());
        try (TraceDatRecording recording = open(file.version7(false))) {
            List<String> names = new ArrayList<>();
            for (Lane lane : recording.lanes()) {
                for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                    for (int row = 0; row < batch.size(); row++) {
                        names.add(batch.source().types().get(batch.type(row)).name());
                    }
                }
            }
            assertThat(names).containsExactly("unknown", "corrupt", "corrupt");
        }
    }

    @Test
    void batchKeepsItsRowsWhileRetained() throws IOException {
        ByteOrder order = ByteOrder.LITTLE_ENDIAN;
        TraceDatBytes file = new TraceDatBytes(order, 8);
        List<byte[]> pages = new ArrayList<>();
        int number = 0;
        for (int i = 0; i < 150; i++) {
            RingPage page = page(order, 8, 1000L * i);
            for (int k = 0; k < 150; k++) {
                page.event(1, file.hello(1, number++, ""));
            }
            pages.add(page.toBytes());
        }
        file.cpu(pages.toArray(new byte[0][]));
        try (TraceDatRecording recording = open(file.version7(true))) {
            Lane lane = recording.lanes().getFirst();
            Batch first = lane.next();
            assertThat(first).isNotNull();
            first.retain();
            int rows = first.size();
            for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                rows += batch.size();
            }
            assertThat(rows).isEqualTo(number);
            assertThat(first.u32(first.size() - 1, 8)).isEqualTo(first.size() - 1);
            first.release();
        }
    }
}
