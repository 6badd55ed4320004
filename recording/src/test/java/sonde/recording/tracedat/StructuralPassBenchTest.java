package sonde.recording.tracedat;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedOutputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.Input;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;

/** How fast pages become batches: bars 0.8 GB/s in the first pass, 5 GB/s warm, one core. */
@Tag("bench")
class StructuralPassBenchTest {
    private static final int PAGES = 1 << 16;

    @TempDir Path folder;

    /** One CPU with 256 MB of pages, 63 events of 64 bytes each. */
    private Path file() throws Exception {
        TraceDatBytes bytes = new TraceDatBytes(ByteOrder.LITTLE_ENDIAN, 8);
        RingPage page = new RingPage(ByteOrder.LITTLE_ENDIAN, 8, TraceDatBytes.PAGE, 0);
        byte[] payload = Arrays.copyOf(bytes.hello(7, 1, "x"), 60);
        for (int i = 0; i < 63; i++) {
            page.event(10, payload);
        }
        byte[] one = page.toBytes();
        byte[] whole = bytes.cpu(one).version6();
        int start = whole.length - one.length;
        ByteBuffer.wrap(whole)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(lastIndexOf(whole, one.length), (long) one.length * PAGES);
        Path path = folder.resolve("trace.dat");
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(path))) {
            out.write(whole, 0, start);
            for (long i = 0; i < PAGES; i++) {
                ByteBuffer.wrap(one).order(ByteOrder.LITTLE_ENDIAN).putLong(0, i * 1000);
                out.write(one);
            }
        }
        return path;
    }

    /** Where the CPU's size stands, before the pages. */
    private static int lastIndexOf(byte[] bytes, long value) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = bytes.length - TraceDatBytes.PAGE - 8; at >= 0; at--) {
            if (buffer.getLong(at) == value) {
                return at;
            }
        }
        throw new AssertionError("no size of " + value);
    }

    @Test
    void pagesBecomeBatches(TestReporter reporter) throws Exception {
        double best = 0;
        try (TraceDatRecording recording = TraceDatRecording.of(Input.open(file()))) {
            for (int pass = 0; pass < 12; pass++) {
                long start = System.nanoTime();
                long rows = 0;
                long sum = 0;
                for (Lane lane : recording.lanes()) {
                    Batch batch = lane.next();
                    while (batch != null) {
                        rows += batch.size();
                        sum += batch.time(batch.size() - 1);
                        batch = lane.next();
                    }
                    lane.close();
                }
                double seconds = (System.nanoTime() - start) / 1e9;
                assertThat(rows).isEqualTo(63L * PAGES);
                assertThat(sum).isPositive();
                double gigabytes = (double) PAGES * TraceDatBytes.PAGE / 1e9;
                best = Math.max(best, gigabytes / seconds);
                reporter.publishEntry(
                        "pass " + pass,
                        "%.2f GB/s, %.0f M events/s"
                                .formatted(gigabytes / seconds, rows / seconds / 1e6));
            }
        }
        assertThat(best).isGreaterThan(5);
    }
}
