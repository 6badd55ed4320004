package sonde.recording.tracedat;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import sonde.binary.MalformedInputException;
import sonde.recording.ftrace.EventListing;
import sonde.testkit.Property;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;

class TraceDatPropertyTest {
    @Test
    void damageIsReadOrRefused() {
        Assertions.assertTimeoutPreemptively(
                Duration.ofMinutes(2),
                () -> Property.forAll(6, 4000, TraceDatPropertyTest::damaged));
    }

    private static void damaged(RandomGenerator random) throws Exception {
        byte[] bytes = file(random);
        for (int flips = random.nextInt(6); flips > 0; flips--) {
            bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
        }
        if (random.nextBoolean()) {
            bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
        }
        try (TraceDatRecording recording = TraceDatRecordingTest.open(bytes)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            long rows = new EventListing(recording.lanes(), recording.eventText()).writeTo(out);
            assertThat(rows).isLessThanOrEqualTo(bytes.length);
        } catch (MalformedInputException e) {
            assertThat(e).hasMessageContaining(":");
        }
    }

    private static byte[] file(RandomGenerator random) {
        ByteOrder order = random.nextBoolean() ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        int longBytes = random.nextBoolean() ? 8 : 4;
        TraceDatBytes file = new TraceDatBytes(order, longBytes);
        RingPage page =
                new RingPage(order, longBytes, TraceDatBytes.PAGE, random.nextLong(1L << 50));
        for (int i = random.nextInt(100); i > 0; i--) {
            byte[] payload = file.hello(random.nextInt(100), random.nextInt(), "x");
            switch (random.nextInt(6)) {
                case 0 -> page.extend(random.nextLong(1L << 50));
                case 1 -> page.longEvent(random.nextInt(1 << 20), payload);
                case 2 -> page.discarded(3, 8 + 4 * random.nextInt(4));
                default -> page.event(random.nextInt(1 << 20), payload);
            }
        }
        file.cpu(page.toBytes()).cpu();
        for (int i = random.nextInt(3); i > 0; i--) {
            byte[] content = new byte[random.nextInt(80)];
            if (random.nextBoolean()) {
                random.nextBytes(content);
            }
            file.option(random.nextInt(28), file.bytes().raw(content));
        }
        if (random.nextInt(8) == 0) {
            file.withoutHeaderPage();
        }
        return switch (random.nextInt(5)) {
            case 0 -> file.version6();
            case 3 -> file.latency6();
            case 4 -> file.latency7(random.nextBoolean());
            case 1 -> file.version7(false);
            default -> file.version7(true);
        };
    }
}
