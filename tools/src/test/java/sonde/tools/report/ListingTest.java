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
import sonde.event.result.Listing;
import sonde.format.ftrace.EventText.TimeFormat;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;

/** Events of files as lines, by every way to choose and to show them. */
final class ListingTest {
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

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
        ReportOptions options =
                new ReportOptions(
                        Set.of(),
                        null,
                        null,
                        Set.of(),
                        List.of(),
                        List.of(),
                        40,
                        listing,
                        StackOptions.DEFAULT);
        try (ReportSource source = ReportSource.open(List.of(files))) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            new ReportRecipe(options).events(source).rows().writeTo(out, Listing.Form.TEXT);
            return out.toString(StandardCharsets.UTF_8);
        }
    }

    private static ListingOptions options(long first, long last, String... filters) {
        List<RowFilter> parsed = List.of(filters).stream().map(RowFilter::parse).toList();
        return new ListingOptions(
                Set.of(), first, last, parsed, TimeFormat.MICROS, 0, false, false, false);
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
                        Set.of(1), -1, -1, List.of(), TimeFormat.MICROS, 0, false, false, false);
        assertThat(list(cpu, host)).contains("number=9").hasLineCount(1);
        assertThatThrownBy(() -> list(options(-1, -1, "nummer == 1"), host))
                .isInstanceOf(FilterException.class)
                .hasMessageContaining("nummer");
    }

    @Test
    void rowsAreShownAsAsked() throws IOException {
        ListingOptions nanos =
                new ListingOptions(
                        Set.of(), 2, -1, List.of(), TimeFormat.NANOS, 7, true, true, false);
        assertThat(list(nanos, host))
                .containsSubsequence(
                        " 1.000001507:          hello:",
                        " number=0 name=n0\n",
                        " 1.000003007: (+1500)  hello:",
                        " number=1 name=n1\n");
        ListingOptions raw =
                new ListingOptions(
                        Set.of(), 1, -1, List.of(), TimeFormat.RAW, 0, false, false, false);
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
        try (ReportSource source = ReportSource.open(List.of(guest, host))) {
            assertThat(source.notes()).isEmpty();
        }
        try (ReportSource source = ReportSource.open(List.of(guest, guest))) {
            assertThat(source.notes()).anyMatch(note -> note.contains("whose own file is not"));
        }
    }
}
