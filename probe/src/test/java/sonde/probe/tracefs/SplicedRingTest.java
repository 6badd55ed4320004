package sonde.probe.tracefs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.testkit.Bytes;
import sonde.testkit.RingPage;

class SplicedRingTest {
    @TempDir Path folder;

    private static RingPage page() {
        return new RingPage(ByteOrder.nativeOrder(), 8, 4096, 1000);
    }

    /** Of every kind that a ring holds only those with data are events. */
    @Test
    void countsTheEventsOfAFile() throws Exception {
        RingPage mixed =
                page().extend(1L << 40)
                        .event(5, new byte[8])
                        .longEvent(1, new byte[200])
                        .discarded(3, 40)
                        .stamp(77)
                        .event(0, new byte[112])
                        .padding();
        Bytes ring = new Bytes(ByteOrder.nativeOrder());
        for (int i = 0; i < 70; i++) { // more than are looked at in one go
            ring.raw(mixed.toBytes()).raw(page().toBytes());
        }
        Path raw = Files.write(folder.resolve("raw"), ring.toBytes());
        int from = FileCalls.open(raw.toString(), FileCalls.O_RDONLY);
        int flags = FileCalls.O_RDWR | FileCalls.O_CREAT;
        int to = FileCalls.open(folder.resolve("spool").toString(), flags, 0600);
        Fd.Pipe pipe = Fd.pipe2(0);
        try (SplicedRing spliced = new SplicedRing(0, from, to, pipe, 4096)) {
            while (spliced.drain() > 0) {
                assertThat(spliced.writeErrno()).isZero();
            }
            assertThat(spliced.written()).isEqualTo(140 * 4096);
            assertThat(spliced.writtenEvents()).isEqualTo(210);
        } finally {
            Fd.discard(pipe.readEnd());
            Fd.discard(pipe.writeEnd());
        }
    }
}
