package sonde.open.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import sonde.open.format.Samples;
import sonde.open.format.TraceFormat;

/** What a new reader needs beside its code. */
class FormatListTest {
    private static final Path PAGES =
            Path.of(System.getProperty("sonde.root", ".."), "docs", "formats");

    /** Formats of many parts, which packages of tests and pages of their own are about. */
    private static final Set<TraceFormat> OWN_SAMPLES =
            EnumSet.of(TraceFormat.TRACEDAT, TraceFormat.PERFDATA, TraceFormat.TEXT);

    @Test
    void everyFormatHasASampleAFuzzReaderAndAPage() throws Exception {
        String index = Files.readString(PAGES.resolve("README.md"));
        List<String> missing = new ArrayList<>();
        for (TraceFormat format : TraceFormat.values()) {
            if (OWN_SAMPLES.contains(format)) {
                continue;
            }
            String label = format.label();
            if (Samples.all().keySet().stream()
                    .noneMatch(name -> name.split(" ")[0].equals(label))) {
                missing.add(label + ": a sample, made by a writer of testkit, in Samples.all()");
            }
            if (Arrays.stream(FuzzReader.values()).noneMatch(one -> one.label().equals(label))) {
                missing.add(label + ": an entry of FuzzReader");
            }
            if (!Files.exists(PAGES.resolve(label + ".md"))) {
                missing.add(label + ": the page docs/formats/" + label + ".md");
            }
            if (!index.contains("(" + label + ".md)")) {
                missing.add(label + ": a link to its page in docs/formats/README.md");
            }
        }
        assertThat(missing).as("missing for a format of TraceFormat").isEmpty();
    }
}
