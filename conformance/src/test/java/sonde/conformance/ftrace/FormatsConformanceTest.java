package sonde.conformance.ftrace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.recording.ftrace.EventFormat;
import sonde.recording.ftrace.PageLayout;
import sonde.recording.ftrace.PrintFmt;
import sonde.recording.ftrace.TextContext;

/** Every event format of a kernel is followed, but for those that only the kernel can evaluate. */
class FormatsConformanceTest {
    private static Path corpus() {
        String named = System.getProperty("sonde.corpus", System.getenv("SONDE_CORPUS"));
        return named != null
                ? Path.of(named)
                : Path.of(System.getProperty("sonde.root", "."), "../shared/corpus");
    }

    /** Names of the events whose fields are shown instead, with the reason. */
    private static List<String> raw(List<String> formats) throws IOException {
        TextContext context = TextContext.of(PageLayout.NATIVE, new byte[0], new byte[0]);
        List<String> raw = new ArrayList<>();
        for (String text : formats) {
            EventFormat format = EventFormat.parse(text.getBytes(StandardCharsets.UTF_8), 8);
            PrintFmt print = PrintFmt.of(format.toType(0, "test"), context);
            if (print.isFallback()) {
                raw.add(format.name() + ": " + print.fallbackReason());
            }
        }
        return raw;
    }

    @Test
    void formatsOf618AreFollowed() throws IOException {
        Path file = corpus().resolve("traces/local-6.18/event-formats-6.18.txt.gz");
        assumeTrue(Files.isRegularFile(file), "no corpus at " + corpus());
        String all;
        try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
            all = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        List<String> formats =
                Stream.of(all.split("(?m)^(?=name: )"))
                        .filter(text -> text.startsWith("name: "))
                        .toList();
        assertThat(formats).hasSize(2323);
        // The layout of a union and the names of an enumeration are not in the formats.
        assertThat(raw(formats))
                .containsExactlyInAnyOrder(
                        "kvm_mmu_get_page: role.word",
                        "kvm_mmu_sync_page: role.word",
                        "kvm_mmu_unsync_page: role.word",
                        "kvm_mmu_prepare_zap_page: role.word",
                        "mc_event: mc_event_error_type()");
    }

    @Test
    @Tag("kernel")
    void formatsOfThisKernelAreFollowed() throws IOException {
        Path events = Path.of("/sys/kernel/tracing/events");
        assumeTrue(Files.isReadable(events), "no tracefs");
        List<String> formats = new ArrayList<>();
        try (Stream<Path> files = Files.find(events, 3, (path, facts) -> path.endsWith("format"))) {
            for (Path file : files.toList()) {
                formats.add(new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
            }
        }
        assertThat(formats).hasSizeGreaterThan(100);
        List<String> raw = raw(formats);
        assertThat(raw).as("shown by field").hasSizeLessThanOrEqualTo(formats.size() / 50);
    }
}
