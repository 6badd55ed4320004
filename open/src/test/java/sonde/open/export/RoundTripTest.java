package sonde.open.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Recording;
import sonde.event.result.Frame;
import sonde.exchange.export.ChainNames;
import sonde.exchange.export.ExportFormat;
import sonde.exchange.export.ExportLosses;
import sonde.exchange.export.ExportRows;
import sonde.open.format.RecordedRows;
import sonde.open.format.TraceFormat;
import sonde.recording.RowStore;
import sonde.recording.TraceRows;
import sonde.recording.TraceRows.RowOrigin;
import sonde.recording.TraceRows.TracedSlice;
import sonde.recording.text.TextRecording;
import sonde.testkit.Json;
import sonde.testkit.PcapBytes;
import sonde.testkit.PerfettoBytes;

/** What is written is read again as the same events, as far as the format holds them. */
class RoundTripTest {
    private final ExportLosses losses = new ExportLosses();

    private byte[] write(Recording recording, ExportFormat format) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (recording;
                ExportRows rows = ExportRows.of(List.of(recording), ChainNames.own())) {
            format.write(rows, out, losses);
        }
        return out.toByteArray();
    }

    private static List<String> read(byte[] file) throws IOException {
        TraceFormat format = TraceFormat.of(RecordedRows.input(file)).orElseThrow();
        return RecordedRows.of(file, format::open);
    }

    private static List<String> without(List<String> rows, String... types) {
        return rows.stream()
                .filter(row -> List.of(types).stream().noneMatch(row::contains))
                .toList();
    }

    /** Slices, a counter, samples, names: what user-space traces have. */
    private static Recording trace(Clock clock, long start) {
        RowStore store = new RowStore();
        TraceRows rows = new TraceRows(store);
        long main = store.frame(new Frame("main", "/bin/app", Frame.Kind.USER));
        long leaf = store.frame(new Frame("leaf;x", "lib.so", Frame.Kind.USER));
        int chain = store.chain(leaf, main);
        long own = 5L << 32 | 6;
        rows.thread(new RowOrigin(start, -1, 5, 6), "worker");
        rows.begin(new RowOrigin(start + 1001, -1, 5, 6), slice(own, "outer", "{\"n\":1}"));
        rows.begin(new RowOrigin(start + 2002, -1, 5, 6), slice(own, "inner", ""));
        rows.sample(new RowOrigin(start + 2500, 1, 5, 6), "cpu-clock", 1_000_000, chain);
        rows.end(new RowOrigin(start + 3003, -1, 5, 6), slice(own, "", ""));
        rows.sample(
                new RowOrigin(start + 3500, 1, 5, 6), "cpu-clock", 2_000_000, store.chain(main));
        rows.counter(new RowOrigin(start + 4004, -1, 5, -1), 9, "mem", "", 2.5);
        rows.instant(new RowOrigin(start + 5005, -1, 5, 6), slice(own, "now", ""), 0);
        rows.end(new RowOrigin(start + 6006, -1, 5, 6), slice(own, "", ""));
        return store.recording("made", clock, List.of());
    }

    private static TracedSlice slice(long track, String name, String args) {
        return new TracedSlice(track, name, name.isEmpty() ? "" : "cat", "", args);
    }

    private static List<String> rows(Recording recording) throws IOException {
        try (recording) {
            return RecordedRows.of(recording);
        }
    }

    /** Numbers of tracks are the format's own. */
    private static List<String> untracked(List<String> rows) {
        return rows.stream().map(row -> row.replaceAll("track=\\d+ ", "")).toList();
    }

    @Test
    void perfetto() throws IOException {
        for (Clock clock : List.of(Clock.MONO, Clock.REALTIME, Clock.BOOT)) {
            byte[] file = write(trace(clock, 1_000_000_000_000_000_000L), ExportFormat.PERFETTO);
            List<String> expected = rows(trace(clock, 1_000_000_000_000_000_000L));
            List<String> found = without(read(file), "slice:track");
            assertThat(untracked(found)).containsExactlyElementsOf(untracked(expected));
            assertThat(losses.lines()).isEmpty();
        }
    }

    @Test
    void perfettoAgain() throws IOException {
        byte[] first = PerfettoBytes.example();
        TraceFormat perfetto = TraceFormat.PERFETTO;
        byte[] file = write(perfetto.open(RecordedRows.input(first)), ExportFormat.PERFETTO);
        String[] descriptors = {"slice:track", "perf_record:comm", "trace:process"};
        List<String> expected = without(read(first), descriptors);
        assertThat(untracked(without(read(file), descriptors)))
                .containsExactlyElementsOf(untracked(expected));
        assertThat(losses.lines()).isEmpty();
    }

    @Test
    void chrome() throws IOException {
        for (long start : new long[] {0, 1_700_000_000_123_456_789L}) {
            byte[] file = write(trace(Clock.MONO, start), ExportFormat.CHROME);
            Json.parse(new String(file, StandardCharsets.UTF_8));
            List<String> expected = without(rows(trace(Clock.MONO, start)), "perf_record:comm");
            assertThat(without(read(file), "trace:metadata", "perf_record:comm"))
                    .map(row -> row.replaceAll("track=\\d+ (value)", "$1"))
                    .containsExactlyElementsOf(
                            expected.stream()
                                    .map(row -> row.replaceAll("track=\\d+ (value)", "$1"))
                                    .toList());
        }
    }

    @Test
    void firefox() throws IOException {
        byte[] file = write(trace(Clock.MONO, 0), ExportFormat.FIREFOX);
        Json.parse(new String(file, StandardCharsets.UTF_8));
        List<String> found = read(file);
        assertThat(found)
                .contains(
                        "2500 -1 5/6 perf:cpu-clock *1000000 < leaf;x < main",
                        "3500 -1 5/6 perf:cpu-clock *2000000 < main",
                        "4004 -1 5/-1 counter:value track=0 value=2.5 name=mem unit=",
                        "2002 -1 5/6 slice:begin track=6 name=inner category=cat id= args=",
                        "5005 -1 5/6 slice:instant track=6 name=now category=cat id= args=");
        assertThat(without(found, "trace:metadata")).hasSize(9);
    }

    @Test
    void speedscope() throws IOException {
        byte[] file = write(trace(Clock.MONO, 0), ExportFormat.SPEEDSCOPE);
        Json.parse(new String(file, StandardCharsets.UTF_8));
        List<String> found = read(file);
        assertThat(found)
                .anyMatch(row -> row.startsWith("1001 ") && row.contains("name=outer category=cat"))
                .anyMatch(row -> row.startsWith("3003 ") && row.contains("slice:end"))
                .anyMatch(row -> row.endsWith("perf:cpu-clock *1000000 < leaf;x < main"));
        assertThat(losses.counts()).containsOnlyKeys("counter:value", "slice:instant");
    }

    @Test
    void speedscopeOpensOnWhatHasMostSamples() throws IOException {
        byte[] text = "some;main 3\nmost;main 5\nfew;main 1\n".getBytes(StandardCharsets.UTF_8);
        byte[] file = write(TextRecording.open(RecordedRows.input(text)), ExportFormat.SPEEDSCOPE);
        assertThat(firstShown(file)).asString().contains("name=most");
        // Samples before slices.
        byte[] mixed = write(trace(Clock.MONO, 0), ExportFormat.SPEEDSCOPE);
        assertThat(firstShown(mixed)).asString().contains("type=sampled", "name=worker");
    }

    private static Object firstShown(byte[] speedscope) {
        Object json = Json.parse(new String(speedscope, StandardCharsets.UTF_8));
        int index = ((Double) Json.at(json, "activeProfileIndex")).intValue();
        return ((List<?>) Json.at(json, "profiles")).get(index);
    }

    @Test
    void pprof() throws IOException {
        byte[] file = write(trace(Clock.REALTIME, 77), ExportFormat.PPROF);
        byte[] plain;
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(file))) {
            plain = in.readAllBytes();
        }
        assertThat(without(read(plain), "trace:metadata"))
                .containsExactly(
                        "77 -1 5/6 perf:cpu-clock *1000000 < leaf;x < main",
                        "77 -1 5/6 perf:cpu-clock *2000000 < main");
        assertThat(losses.counts()).containsKeys("slice:begin", "counter:value");
    }

    @Test
    void folded() throws IOException {
        byte[] file = write(trace(Clock.MONO, 0), ExportFormat.FOLDED);
        assertThat(new String(file, StandardCharsets.UTF_8))
                .isEqualTo("worker;main;leaf:x 1000000\nworker;main 2000000\n");
    }

    /** Names that stand beside the rows of a text, and its samples, go along. */
    @ParameterizedTest
    @EnumSource(
            value = ExportFormat.class,
            names = {"FOLDED", "SPEEDSCOPE", "FIREFOX", "CHROME", "PERFETTO"})
    void namesOfAText(ExportFormat format) throws IOException {
        String folded = "a prog;main;leaf 5\nother;main 3\n";
        TextRecording text =
                TextRecording.open(RecordedRows.input(folded.getBytes(StandardCharsets.UTF_8)));
        byte[] file = write(text, format);
        if (format == ExportFormat.FOLDED) {
            assertThat(new String(file, StandardCharsets.UTF_8)).isEqualTo(folded);
            return;
        }
        List<String> rows = read(file);
        assertThat(rows).anyMatch(row -> row.contains("a prog"));
        assertThat(rows).anyMatch(row -> row.contains("< leaf") && row.contains("*5"));
        assertThat(losses.counts()).isEmpty();
    }

    @Test
    void linesOfText() throws IOException {
        byte[] json = write(trace(Clock.MONO, 0), ExportFormat.JSONL);
        List<String> lines = new String(json, StandardCharsets.UTF_8).lines().toList();
        assertThat(lines).hasSize(9);
        assertThat(Json.at(Json.parse(lines.get(1)), "fields", "name")).isEqualTo("outer");
        byte[] csv = write(trace(Clock.MONO, 0), ExportFormat.CSV);
        assertThat(new String(csv, StandardCharsets.UTF_8).lines().toList())
                .hasSize(10)
                .contains("2500,1,5,6,perf:cpu-clock,1000000,,main;leaf;x");
    }

    @Test
    void packets() throws IOException {
        byte[] udp = PcapBytes.udp(53, 40000, PcapBytes.dnsAnswer());
        byte[] packet = PcapBytes.ethernet(7, 0x0800, PcapBytes.ipv4(17, udp));
        byte[] first = PcapBytes.pcapng(ByteOrder.BIG_ENDIAN, packet);
        byte[] file = write(TraceFormat.PCAP.open(RecordedRows.input(first)), ExportFormat.PCAPNG);
        assertThat(read(file))
                .containsExactlyElementsOf(without(read(first), EventType.NOTICE + ":lost"));
        assertThat(losses.counts()).containsOnlyKeys("notice:lost");
    }

    @Test
    void theEndingNamesTheFormat() {
        assertThat(ExportFormat.ofFile("a.pb.gz")).contains(ExportFormat.PPROF);
        assertThat(ExportFormat.ofFile("a.speedscope.json")).contains(ExportFormat.SPEEDSCOPE);
        assertThat(ExportFormat.ofFile("a.json")).contains(ExportFormat.CHROME);
        assertThat(ExportFormat.ofFile("a.txt")).isEmpty();
    }
}
