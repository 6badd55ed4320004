package sonde.open.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
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

    /** The tests of rows. They name a format by the constant of testkit that has its sample. */
    private static String tests() throws IOException {
        StringBuilder text = new StringBuilder();
        Path folder = Path.of("src/test/java/sonde/open/format");
        for (String test : List.of("ReadersTest", "PerfettoReaderTest")) {
            text.append(Files.readString(folder.resolve(test + ".java")));
        }
        return text.toString().toLowerCase(Locale.ROOT);
    }

    @Test
    void everyFormatHasASampleAFuzzReaderAndAPage() throws Exception {
        String index = Files.readString(PAGES.resolve("README.md"));
        String readme = Files.readString(PAGES.resolve("../../README.md")).toLowerCase(Locale.ROOT);
        String rows = tests();
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
            if (!readme.contains(label)) {
                missing.add(label + ": its name in the table of formats in README.md");
            }
            if (!rows.contains(label)) {
                missing.add(label + ": a test of its rows in ReadersTest");
            }
        }
        assertThat(missing).as("missing for a format of TraceFormat").isEmpty();
    }
}
