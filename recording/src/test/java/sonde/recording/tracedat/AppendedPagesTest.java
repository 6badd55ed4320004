package sonde.recording.tracedat;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.recording.AppendedEvents;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;

class AppendedPagesTest {
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    private final TraceDatBytes file = new TraceDatBytes(ORDER, 8);

    private RingPage page(long time, int... deltas) {
        RingPage page = new RingPage(ORDER, 8, TraceDatBytes.PAGE, time);
        Arrays.stream(deltas).forEach(delta -> page.event(delta, file.hello(7, 1, "x")));
        return page;
    }

    private static List<String> rows(Lane lane) throws IOException {
        List<String> rows = new ArrayList<>();
        for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
            for (int row = 0; row < batch.size(); row++) {
                String name = batch.source().types().get(batch.type(row)).name();
                rows.add(batch.cpu(row) + " " + batch.time(row) + " " + name);
            }
        }
        return rows;
    }

    @Test
    void piecesOfARingAreReadWithTheTypesOfTheFile() throws IOException {
        byte[] first = page(1000, 0, 5).toBytes();
        try (TraceDatRecording opened =
                TraceDatRecordingTest.open(file.cpu(first).cpu().version6())) {
            AppendedEvents later = opened.capability(AppendedEvents.class).orElseThrow();
            // The same sub-buffer in two parts, as reads of a page that is being filled give it.
            byte[] rest = page(1005, 2, 3).toBytes();
            byte[] lossy = page(2000, 0).lost(9).toBytes();
            byte[] both = Arrays.copyOf(rest, rest.length + lossy.length);
            System.arraycopy(lossy, 0, both, rest.length, lossy.length);
            assertThat(rows(later.lane("", 0, both, both.length)))
                    .containsExactly("0 1007 hello", "0 1010 hello", "0 2000 lost", "0 2000 hello");
            byte[] torn = Arrays.copyOf(both, both.length - 1);
            assertThat(later.wholeBytes(torn)).isEqualTo(rest.length);
        }
    }
}
