package sonde.tools.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.LiveResult;
import sonde.event.result.Result;
import sonde.open.ReportSource;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;

/** Live lines of lanes that have ended: what they show must not depend on when they come. */
class LiveEventsTest {
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    @TempDir Path folder;

    private final TraceDatBytes file = new TraceDatBytes(ORDER, 8);

    private RingPage page(long time, int number) {
        return new RingPage(ORDER, 8, TraceDatBytes.PAGE, time)
                .event(0, file.hello(7, number, "n"))
                .event(2000, file.hello(8, number + 1, "n"));
    }

    private static byte[] join(byte[] one, byte[] two) {
        byte[] all = Arrays.copyOf(one, one.length + two.length);
        System.arraycopy(two, 0, all, one.length, two.length);
        return all;
    }

    private Path recording(byte[] first, byte[] second) throws IOException {
        byte[] other = page(1_000_001_000L, 5).toBytes();
        return Files.write(folder.resolve("t.dat"), file.cpu(first, second).cpu(other).version6());
    }

    private static ReportOptions options() {
        return new ReportOptions(List.of(), null, null, Set.of(), List.of(), List.of(), 0);
    }

    private static String live(Path path, ListingForm form) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        CountDownLatch ended = new CountDownLatch(0);
        try (ReportSource source = ReportSource.open(path)) {
            LiveResult live = LiveEvents.of(source, options(), ended);
            for (Result tick = live.ticks().next(); tick != null; tick = live.ticks().next()) {
                ((Listing) tick).rows().writeTo(out, form);
            }
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    private static String listed(Path path, ListingForm form) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ReportSource source = ReportSource.open(path)) {
            new EventRows(source, options()).writeTo(out, form);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void theLinesAreThoseOfTheListing() throws IOException {
        byte[] lossy = page(1_000_010_000L, 3).lost(4).toBytes();
        Path path = recording(page(1_000_000_000L, 1).toBytes(), lossy);
        // In front of each line are the milliseconds since the first event.
        String since = " *-?\\d+\\.\\d{3} ";
        assertThat(live(path, ListingForm.TEXT).lines().map(line -> line.substring(0, 11)))
                .allMatch(column -> column.matches(since))
                .startsWith("     0.000 ");
        assertThat(live(path, ListingForm.TEXT).replaceAll("(?m)^.{11}", ""))
                .isEqualTo(listed(path, ListingForm.TEXT))
                .contains("CPU:0 [4 EVENTS DROPPED]\n")
                .hasLineCount(7);
        assertThat(live(path, ListingForm.JSON_LINES))
                .isEqualTo(listed(path, ListingForm.JSON_LINES));
    }

    @Test
    void aLineBehindItsTimeSaysSo() throws IOException {
        byte[] older = page(1_000_000_000L, 3).toBytes();
        // Behind a newer page of the same batch; the first page is a batch of its own.
        byte[] behind = join(page(1_000_020_000L, 7).toBytes(), older);
        Path path = recording(page(1_000_010_000L, 1).toBytes(), behind);
        assertThat(live(path, ListingForm.TEXT).lines().filter(line -> line.endsWith(" [LATE]")))
                .hasSize(2)
                .allMatch(line -> line.contains("1.00000"));
        assertThat(live(path, ListingForm.JSON_LINES).lines())
                .filteredOn(line -> line.endsWith(",\"late\":true}"))
                .hasSize(2);
    }
}
