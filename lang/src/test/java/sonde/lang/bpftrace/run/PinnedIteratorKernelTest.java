package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.testkit.BpfFolder;

@Tag("kernel")
final class PinnedIteratorKernelTest {
    @Test
    void readersGetWhatIsPrinted() throws Exception {
        try (BpfFolder folder = new BpfFolder()) {
            Path pin = Path.of(folder.path("tasks"));
            try (Traced ended =
                    Traced.attach(
                            "iter:task:"
                                    + pin
                                    + " { printf(\"%5d %-16s|100%% 0x%x\\n\", ctx.task.tgid,"
                                    + " ctx.task.comm, 255); }")) {
                assertThat(Files.exists(pin)).isTrue();
            }
            List<String> lines = Files.readAllLines(pin);
            assertThat(lines).hasSizeGreaterThan(2);
            assertThat(lines).allMatch(line -> line.matches(" *\\d+ .{16}\\|100% 0xff"));
            assertThat(lines).anyMatch(line -> line.contains(" kthreadd "));
            assertThat(Files.readAllLines(pin)).isNotEmpty();
            Files.delete(pin);
        }
    }
}
