package sonde.tools.convert;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Lane;
import sonde.exchange.export.ExportFormat;
import sonde.open.ReportSource;
import sonde.testkit.PcapBytes;
import sonde.testkit.PerfettoBytes;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;
import sonde.tools.convert.ConvertRecipe.ConvertOutcome;

class ConvertRecipeTest {
    @TempDir Path folder;

    private long rows(Path file, String event) throws IOException {
        long count = 0;
        try (ReportSource source = ReportSource.open(file)) {
            for (Lane lane : source.recordings().getFirst().lanes()) {
                for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                    for (int row = 0; row < batch.size(); row++) {
                        EventType type = batch.source().types().get(batch.type(row));
                        count += type.name().equals(event) ? 1 : 0;
                    }
                }
                lane.close();
            }
        }
        return count;
    }

    @Test
    void aTraceDatBecomesPackets() throws IOException {
        Path from = folder.resolve("trace.dat");
        TraceDatBytes format = new TraceDatBytes(ByteOrder.LITTLE_ENDIAN, 8);
        RingPage page = new RingPage(ByteOrder.LITTLE_ENDIAN, 8, TraceDatBytes.PAGE, 5000);
        page.event(10, format.hello(7, 1, "one")).event(20, format.hello(7, 2, "two"));
        Files.write(from, format.cpu(page.toBytes()).version7(false));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new ConvertRecipe().convert(from, out, ExportFormat.PERFETTO);
        Path to = folder.resolve("x");
        Files.write(to, out.toByteArray());
        String event = "hello";
        assertThat(rows(from, event)).isEqualTo(2);
        assertThat(rows(to, event)).isEqualTo(2);
    }

    @Test
    void whatIsNotHeldIsListed() throws IOException {
        Path from = folder.resolve("any name");
        Files.write(from, PerfettoBytes.example());
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ConvertOutcome outcome = new ConvertRecipe().convert(from, out, ExportFormat.FOLDED);
        assertThat(out.toString(StandardCharsets.UTF_8))
                .isEqualTo("worker;[/lib.so+0x20];leaf 10000000\n");
        assertThat(outcome.losses()).contains("3 × sched:sched_switch (no stack)");
        assertThat(outcome.notes()).anyMatch(note -> note.contains("9999"));
    }

    @Test
    void packetsOpenAsAReport() throws IOException {
        Path from = folder.resolve("capture");
        byte[] packet =
                PcapBytes.ethernet(-1, 0x0800, PcapBytes.ipv4(6, PcapBytes.tcp(1, 2, new byte[3])));
        Files.write(from, PcapBytes.pcap(ByteOrder.LITTLE_ENDIAN, true, 1, packet, packet));
        assertThat(rows(from, "packet")).isEqualTo(2);
    }
}
