package sonde.conformance.ctf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.binary.MalformedInputException;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.Source;
import sonde.recording.InputSet;
import sonde.recording.ctf.CtfRecording;
import sonde.recording.ftrace.EventListing;
import sonde.recording.ftrace.EventListing.ListedLane;
import sonde.recording.ftrace.RowText;

/** CTF traces of many makers read as babeltrace2 reads them. */
class CtfConformanceTest {
    /** Traces that babeltrace 2.0.4 does not read whole: see known-differences/babeltrace.md. */
    private static final Set<String> MORE_THAN_BABELTRACE =
            Set.of("invalid-packet-size", "funky_trace", "hello-lost", "scp_dest");

    /** A trace with a line that babeltrace 2.0.4 writes wrongly: see the same. */
    private static final String STALE_TEXT = "many-threads";

    private static final Set<String> REFUSED =
            Set.of(
                    "fail1",
                    "fail2",
                    "integer-range",
                    "invalid-sequence-length-field-class",
                    "invalid-variant-selector-field-class",
                    "lttng-modules-2.0-pre1",
                    "metadata-syntax-error",
                    "packet-based-metadata",
                    "smalltrace");

    @TempDir Path scratch;

    static List<Path> traces() throws IOException {
        return CtfCorpus.traces();
    }

    @Test
    void theCorpusIsThere() throws IOException {
        assumeTrue(Files.isDirectory(CtfCorpus.folder()), "no corpus at " + CtfCorpus.folder());
        assertThat(CtfCorpus.traces()).hasSizeGreaterThan(90);
    }

    private static boolean isRefused(Path trace) {
        boolean fails = trace.toString().contains("/fail/");
        return fails && REFUSED.contains(trace.getFileName().toString());
    }

    private static boolean contains(Set<String> names, Path trace) {
        return names.stream().anyMatch(name -> trace.toString().contains(name));
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("traces")
    void linesEqualBabeltrace(Path trace) throws Exception {
        if (isRefused(trace)) {
            assertThatThrownBy(() -> CtfRecording.open(InputSet.below(trace)))
                    .isInstanceOf(MalformedInputException.class);
            return;
        }
        List<String> lines = lines(trace);
        boolean second =
                Files.readString(trace.resolve("metadata"), StandardCharsets.ISO_8859_1)
                        .startsWith("\u001e");
        if (second || contains(MORE_THAN_BABELTRACE, trace)) {
            assertThat(lines).isNotEmpty();
            return;
        }
        assumeTrue(hasBabeltrace(), "no babeltrace2");
        List<String> theirs = babeltrace(trace);
        if (trace.endsWith(STALE_TEXT)) {
            assertThat(different(lines, theirs))
                    .containsExactly("syscall_entry_access: { cpu_id = 4 }, { filename = \"\", ");
            return;
        }
        assertThat(lines).isEqualTo(theirs);
    }

    /** What differs, without the times and what follows the text. */
    private static List<String> different(List<String> ours, List<String> theirs) {
        assertThat(ours).hasSameSizeAs(theirs);
        List<String> different = new ArrayList<>();
        for (int i = 0; i < ours.size(); i++) {
            if (!ours.get(i).equals(theirs.get(i))) {
                String line = ours.get(i);
                different.add(line.substring(line.indexOf("syscall_"), line.indexOf("mode = ")));
            }
        }
        return different;
    }

    // Counts of Trace Compass (CtfTestTrace.java), and of the traces of babeltrace that its own
    // metadata in TSDL gives.
    @ParameterizedTest
    @CsvSource({
        "tracecompass-test-traces/flipping-endianness, 14310",
        "tracecompass-test-traces/funky_trace, 100002",
        "tracecompass-test-traces/hello-lost, 32300",
        "tracecompass-test-traces/synctraces/scp_dest, 85729",
        "tracecompass-test-traces/perf-taskset2, 1500",
        "tracecompass-test-traces/CTF2-7.0-succeed1, 7809",
        "tracecompass-test-traces/CTF2-7.0-smalltrace, 2",
        "tracecompass-test-traces/CTF2-7.0-lttng-event-after-packet, 2",
        "tracecompass-test-traces/CTF2-7.0-barectf-event-before-packet, 2",
        "tracecompass-test-traces/CTF2-vl-ints, 1",
    })
    void counts(String name, long events) throws IOException {
        Path trace = CtfCorpus.folder().resolve("traces").resolve(name);
        assumeTrue(Files.isDirectory(trace), "no corpus at " + CtfCorpus.folder());
        assertThat(lines(trace)).hasSize((int) events);
    }

    @ParameterizedTest
    @CsvSource({
        "CTF2-7.0-succeed1, succeed1",
        "CTF2-7.0-smalltrace, smalltrace",
        "CTF2-7.0-lttng-event-after-packet, lttng-event-after-packet",
        "CTF2-7.0-barectf-event-before-packet, barectf-event-before-packet",
        "CTF2-7.0-meta-variant-no-underscore, meta-variant-no-underscore",
    })
    void bothVersionsOfATraceAreOne(String second, String first) throws IOException {
        Path traces = CtfCorpus.folder().resolve("traces");
        Path inTsdl = traces.resolve("babeltrace/tests/data/ctf-traces/succeed").resolve(first);
        Path inJson = traces.resolve("tracecompass-test-traces").resolve(second);
        assumeTrue(Files.isDirectory(inTsdl), "no corpus at " + CtfCorpus.folder());
        assertThat(lines(inJson)).isEqualTo(lines(inTsdl));
    }

    @Test
    void lossesAreThoseOfTheCounters() throws IOException {
        Path trace = CtfCorpus.folder().resolve("traces/tracecompass-test-traces/hello-lost");
        assumeTrue(Files.isDirectory(trace), "no corpus at " + CtfCorpus.folder());
        try (CtfRecording recording = CtfRecording.open(InputSet.below(trace))) {
            long lost = 0;
            for (Lane lane : recording.lanes()) {
                for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                    for (int row = 0; row < batch.size(); row++) {
                        int type = batch.type(row);
                        String name = lane.source().types().get(type).qualifiedName();
                        lost += name.equals("notice:lost") ? batch.weight(row) : 0;
                    }
                }
            }
            assertThat(lost).isEqualTo(967_700);
        }
    }

    private static List<String> lines(Path trace) throws IOException {
        try (CtfRecording recording = CtfRecording.open(InputSet.below(trace))) {
            Map<Source, RowText> texts = new IdentityHashMap<>();
            List<ListedLane> parts = new ArrayList<>();
            for (Lane lane : recording.lanes()) {
                RowText text =
                        texts.computeIfAbsent(
                                lane.source(), of -> recording.text(of, ZoneOffset.UTC, null));
                parts.add(new ListedLane(lane, text, ""));
            }
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            new EventListing(parts, EventListing.Filter.ALL).writeTo(out);
            return out.toString(StandardCharsets.UTF_8).lines().toList();
        }
    }

    private static boolean hasBabeltrace() throws Exception {
        try {
            Process process = new ProcessBuilder("babeltrace2", "--version").start();
            return process.waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    private List<String> babeltrace(Path trace) throws Exception {
        Path out = scratch.resolve("out");
        ProcessBuilder builder =
                new ProcessBuilder("babeltrace2", "--clock-gmt", trace.toString())
                        .redirectOutput(out.toFile())
                        .redirectError(ProcessBuilder.Redirect.DISCARD);
        Process process = builder.start();
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        return Files.readString(out).lines().toList();
    }
}
