package sonde.tools.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.analysis.filter.FilterException;
import sonde.analysis.filter.RowFilter;
import sonde.event.result.Listing.ListingForm;
import sonde.open.ReportSource;
import sonde.recording.ftrace.EventText.TimePrecision;
import sonde.symbol.files.GivenPlaces;
import sonde.testkit.PerfDataBytes;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;

/** Events of files as lines, by every way to choose and to show them. */
final class ListingTest {
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private static final long AT = Scripted.at(20);

    @TempDir Path folder;

    private Path host = Path.of("");
    private Path guest = Path.of("");

    @BeforeEach
    void files() throws IOException {
        TraceDatBytes one = new TraceDatBytes(ORDER, 8);
        one.option(11, one.bytes().u64(77));
        host = write("host.dat", one, 1_000_000_000L);
        TraceDatBytes two = new TraceDatBytes(ORDER, 8).instance("inst");
        // TIME_SHIFT: peer, flags, CPUs, one sample: time, offset, scaling, fraction
        two.option(
                12, two.bytes().u64(77).u32(0).u32(1).u32(1).u64(0).u64(500_000_000).u64(1).u64(0));
        guest = write("guest.dat", two, 1_000_000_000L);
    }

    private Path write(String name, TraceDatBytes file, long start) throws IOException {
        RingPage page = new RingPage(ORDER, 8, TraceDatBytes.PAGE, start);
        for (int i = 0; i < 3; i++) {
            page.event(1500, file.hello(7, i, "n" + i));
        }
        file.cpu(page.toBytes());
        file.cpu(
                new RingPage(ORDER, 8, TraceDatBytes.PAGE, start + 100_000)
                        .event(0, file.hello(8, 9, "last"))
                        .toBytes());
        return Files.write(folder.resolve(name), file.version7(false));
    }

    private static String list(ListingOptions listing, Path... files) throws IOException {
        return list(listing, null, null, files);
    }

    private static String list(ListingOptions listing, Double from, Double to, Path... files)
            throws IOException {
        ReportOptions options =
                new ReportOptions(
                        List.of(),
                        from,
                        to,
                        Set.of(),
                        List.of(),
                        List.of(),
                        40,
                        listing,
                        StackOptions.DEFAULT);
        try (ReportSource source = ReportSource.open(List.of(files), GivenPlaces.NONE)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            new ReportRecipe(options).events(source).rows().writeTo(out, ListingForm.TEXT);
            return out.toString(StandardCharsets.UTF_8);
        }
    }

    /**
     * What perf script does not write is not counted, and what is older than the start is no start.
     */
    @Test
    void recordsOfPerfAreNotAmongTheFirst() throws IOException {
        PerfDataBytes file = new PerfDataBytes(ORDER);
        // IP TID TIME
        file.event(file.attr(1, 0, 1 | 2 | 4, 0, 0), 1);
        for (int tid = 5; tid < 9; tid++) {
            file.record(3, 0, file.fields().u32(5).u32(tid).text("t" + tid, 8));
        }
        for (int i = 0; i < 4; i++) {
            file.record(9, 2, file.fields().u64(0x10).u32(5).u32(5 + i).u64(AT + 1000L * i));
        }
        Path perf = Files.write(folder.resolve("perf.data"), file.file());
        assertThat(list(options(2, -1), perf)).contains("t5", "t6").hasLineCount(2);
        assertThat(list(options(-1, 1), perf)).contains("t8").hasLineCount(1);
        assertThat(list(ListingOptions.ALL, 0.5e-6, 2.5e-6, perf))
                .contains("t6", "t7")
                .hasLineCount(2);
    }

    private static ListingOptions options(long first, long last, String... filters) {
        List<RowFilter> parsed = List.of(filters).stream().map(RowFilter::parse).toList();
        return new ListingOptions(
                Set.of(), first, last, parsed, TimePrecision.MICROS, 0, false, false, false);
    }

    @Test
    void rowsAreChosenByFilterCpuAndNumber() throws IOException {
        assertThat(list(ListingOptions.ALL, host).lines()).hasSize(4);
        assertThat(list(options(-1, -1, "number >= 1 && name ~ \"n*\""), host))
                .contains("number=1", "number=2")
                .doesNotContain("number=0", "number=9");
        assertThat(list(options(-1, -1, "number == 0", "test/hello: name == last"), host).lines())
                .hasSize(2);
        assertThat(list(options(1, -1), host).lines()).singleElement().asString().contains("n0");
        assertThat(list(options(-1, 2), host).lines())
                .hasSize(2)
                .last()
                .asString()
                .contains("name=last");
        assertThat(list(options(1, 3), host)).contains("number=1").hasLineCount(1);
        ListingOptions cpu =
                new ListingOptions(
                        Set.of(1), -1, -1, List.of(), TimePrecision.MICROS, 0, false, false, false);
        assertThat(list(cpu, host)).contains("number=9").hasLineCount(1);
        assertThatThrownBy(() -> list(options(-1, -1, "nummer == 1"), host))
                .isInstanceOf(FilterException.class)
                .hasMessageContaining("nummer");
    }

    @Test
    void whatPerfTellsBesideTracepointsIsReadable() throws IOException {
        PerfDataBytes file = new PerfDataBytes(ORDER);
        // PERF_COUNT_SW_BPF_OUTPUT with TID, TIME, RAW, IDENTIFIER; sample_id_all
        long parts = 1 << 1 | 1 << 2 | 1 << 10 | 1 << 16;
        file.event(file.attr(1, 10, parts, 0, 1 << 18), 5);
        file.record(10, 2, mapping(file, 0xfe, "/bin/dash"));
        file.record(10, 2 | 1 << 14, mapping(file, 20, "/bin/made"));
        file.record(9, 2, named(file, 100, 1, -100, 3, "/etc/passwd"));
        file.record(9, 2, named(file, 100, 1, 4, -2, "no\tne"));
        byte[] address = file.fields().u16(2).raw(new byte[] {0x1f, -112, 127, 0, 0, 1}).toArray();
        file.record(9, 2, named(file, 100, 3, 5, 0, address));
        file.record(9, 2, named(file, 99, 1, -100, 3, "/another/program's"));
        Path bundle = Scripted.write(folder);
        Files.write(bundle.resolve("perf.data"), file.file());
        String text = list(ListingOptions.ALL, bundle);
        assertThat(text)
                .contains(" 100/100: [0x1000(0x2000) @ 0x3000 fe:01 260180 9]: r-xp /bin/dash\n")
                .contains("0x3000 <0100000054f80300000000000900000000000000>]: r-xp /bin/made\n")
                .contains(" open /etc/passwd = 3\n")
                .contains(" open 4/no\tne = -2\n")
                .contains(" connect 5 to 127.0.0.1:8080 = 0\n")
                .doesNotContain("another");
    }

    private static PerfDataBytes.Fields mapping(PerfDataBytes file, int first, String name) {
        PerfDataBytes.Fields body = file.fields().u32(100).u32(100).u64(0x1000, 0x2000, 0x3000);
        body.u32(first).u32(1).u64(260180, 9).u32(5).u32(2).text(name, 16);
        return body.u32(100).u32(100).u64(AT).u64(5);
    }

    private static PerfDataBytes.Fields named(
            PerfDataBytes file, int tid, int kind, int descriptor, long result, String path) {
        byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
        return named(file, tid, kind, descriptor, result, bytes);
    }

    /** A sample of thread 100 with the layout of NamedCall. */
    private static PerfDataBytes.Fields named(
            PerfDataBytes file, int tid, int kind, int descriptor, long result, byte[] bytes) {
        PerfDataBytes.Fields call = file.fields().u32(257).u32(tid).u32(tid).u32(descriptor);
        call.u64(result).u16(bytes.length).u16(kind).raw(bytes);
        int size = (call.size() + 4 + 7) / 8 * 8 - 4;
        PerfDataBytes.Fields body = file.fields().u64(5).u32(100).u32(100).u64(AT);
        return body.u32(size).raw(call.toArray()).raw(new byte[size - call.size()]);
    }

    @Test
    void rowsAreShownAsAsked() throws IOException {
        ListingOptions nanos =
                new ListingOptions(
                        Set.of(), 2, -1, List.of(), TimePrecision.NANOS, 7, true, true, false);
        assertThat(list(nanos, host))
                .containsSubsequence(
                        " 1.000001507:          hello:",
                        " number=0 name=n0\n",
                        " 1.000003007: (+1500)  hello:",
                        " number=1 name=n1\n");
        ListingOptions raw =
                new ListingOptions(
                        Set.of(), 1, -1, List.of(), TimePrecision.RAW, 0, false, false, false);
        assertThat(list(raw, host)).contains("[000]  1000001500: hello:");
    }

    @Test
    void filesOfHostAndGuestAreOneListing() throws IOException {
        String listing = list(options(-1, -1), guest, host);
        assertThat(listing.lines())
                .hasSize(8)
                .anyMatch(line -> line.startsWith("host.dat:            seven-7 "))
                .anyMatch(line -> line.startsWith("    inst:            seven-7 "));
        assertThat(listing).contains("1.500002: hello").contains("1.000002: hello");
        assertThat(listing.indexOf("host.dat")).isLessThan(listing.indexOf("inst"));
        try (ReportSource source = ReportSource.open(List.of(guest, host), GivenPlaces.NONE)) {
            assertThat(source.notes()).isEmpty();
        }
        try (ReportSource source = ReportSource.open(List.of(guest, guest), GivenPlaces.NONE)) {
            assertThat(source.notes()).anyMatch(note -> note.contains("whose own file is not"));
        }
    }

    @Test
    void optionsOfListingsAreKnownByName() {
        assertThat(ListingOptions.ALL.given()).isEmpty();
        assertThat(ListingOptions.of(Set.of(0), List.of()).given()).containsExactly("--cpu");
    }
}
