package sonde.conformance.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.analysis.stack.SampleUnwinding;
import sonde.binary.Input;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.recording.perfdata.CopiedStackSamples;
import sonde.recording.perfdata.PerfDataReader;
import sonde.symbol.ModuleImages;
import sonde.symbol.SymbolOptions;
import sonde.symbol.unwind.ModuleFrames;

/**
 * User stacks of the corpus whose binaries are there: the frames of {@code perf script} and of the
 * text that came with the files (KDAB/perfparser, tests/auto/perfdata).
 */
class UnwindConformanceTest {
    private static final String BUILD =
            "/home/milian/projects/kdab/rnd/hotspot/3rdparty/perfparser/tests/auto/perfdata/";

    /** A frame of the expected text: where it ran, twice; inlined functions have a 0. */
    private static final Pattern EXPECTED = Pattern.compile("^\t([0-9a-f]+) \\1\t.*");

    @TempDir Path folder;

    /** Addresses of user code, callee first, of each sample in the order of time. */
    private static List<List<Long>> ours(Path file, Path binaries) throws Exception {
        SymbolOptions options =
                new SymbolOptions(List.of(binaries.toString()), List.of(), false, 0);
        List<List<Long>> samples = new ArrayList<>();
        try (Recording recording = PerfDataReader.open(Input.open(file))) {
            SampleUnwinding unwinding =
                    new SampleUnwinding(
                            "x86_64", new ModuleFrames(new ModuleImages(options)), Map.of());
            recording
                    .capability(CopiedStackSamples.class)
                    .orElseThrow()
                    .userStacks(unwinding::lane);
            for (Lane lane : recording.lanes()) {
                for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                    for (int row = 0; row < batch.size(); row++) {
                        String system = batch.source().types().get(batch.type(row)).system();
                        if (system.equals("perf")) {
                            samples.add(user(batch, row));
                        }
                    }
                }
                lane.close();
            }
        }
        return samples;
    }

    private static List<Long> user(Batch batch, int row) {
        List<Long> frames = new ArrayList<>();
        for (int i = 0; i < batch.stackDepth(row); i++) {
            long entry = batch.stackEntry(row, i);
            if (entry >= 0) {
                frames.add(frames.isEmpty() ? entry : entry - 1);
            }
        }
        return batch.isChainMade(row) ? frames : List.of();
    }

    private List<List<Long>> perf(Path file, Path symfs) throws Exception {
        Path out = folder.resolve("script.txt");
        Process perf =
                new ProcessBuilder(
                                "perf",
                                "script",
                                "--no-inline",
                                "--symfs",
                                symfs.toString(),
                                "-F",
                                "tid,time,ip",
                                "-i",
                                file.toString())
                        .redirectOutput(out.toFile())
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        assertThat(perf.waitFor()).isZero();
        List<List<Long>> samples = new ArrayList<>();
        for (String line : Files.readAllLines(out)) {
            if (line.startsWith("\t")) {
                long address = Long.parseUnsignedLong(line.strip(), 16);
                if (address >= 0) {
                    samples.getLast().add(address & 0xfff);
                }
            } else if (!line.isBlank()) {
                samples.add(new ArrayList<>());
            }
        }
        return samples;
    }

    @ParameterizedTest
    @CsvSource({
        "vector_static_gcc, perf.data, vector_static_gcc_v9.1.0, home",
        "vector_static_gcc, perf.data.zstd, vector_static_gcc_v9.1.0, home",
        "vector_static_clang, perf.data, vector_static_clang_v8.0.1, /tmp/",
        "fork_static_gcc, perf.data.zstd, fork, home"
    })
    void framesOfPerfScript(String where, String file, String binary, String ran) throws Exception {
        Path from = PerfCorpus.folder().resolve("traces/perfparser").resolve(where);
        assumeTrue(Files.exists(from.resolve(file)), "no corpus here");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/perf")), "no perf here");
        String place = ran.equals("home") ? BUILD + where + "/" : ran;
        Path symfs = folder.resolve("root");
        Path copy = symfs.resolve((place + binary).substring(1));
        Files.createDirectories(copy.getParent());
        Files.copy(from.resolve(binary), copy);
        List<List<Long>> theirs = perf(from.resolve(file), symfs);
        // perf shows offsets in the file where it knows one: a page's part of addresses is equal
        List<List<Long>> found =
                ours(from.resolve(file), from).stream()
                        .map(chain -> chain.stream().map(address -> address & 0xfff).toList())
                        .toList();
        assertThat(found).hasSameSizeAs(theirs);
        for (int i = 0; i < found.size(); i++) {
            // perf 6.1 leaves off early in some; never do we leave off before it
            List<Long> wanted = theirs.get(i);
            assertThat(found.get(i).subList(0, Math.min(wanted.size(), found.get(i).size())))
                    .as("sample %d", i)
                    .isEqualTo(wanted);
        }
    }

    /** perf 6.1 shows one frame of each sample of this file; the text has all. */
    @Test
    void framesOfTheTextThatCameWithIt() throws Exception {
        Path from = PerfCorpus.folder().resolve("traces/perfparser/vector_static_gcc");
        assumeTrue(Files.exists(from), "no corpus here");
        List<List<Long>> expected = new ArrayList<>();
        for (String line : Files.readAllLines(from.resolve("perf.data.expected.txt"))) {
            Matcher frame = EXPECTED.matcher(line);
            if (frame.matches() && !frame.group(1).equals("0")) {
                long address = Long.parseLong(frame.group(1), 16);
                List<Long> chain = expected.getLast();
                if (chain.isEmpty() || chain.getLast() != address) {
                    chain.add(address); // inlined functions repeat it
                }
            } else if (!line.isBlank() && !line.startsWith("\t")) {
                expected.add(new ArrayList<>());
            }
        }
        List<List<Long>> found = ours(from.resolve("perf.data"), from);
        assertThat(found).hasSameSizeAs(expected);
        for (int i = 0; i < found.size(); i++) {
            if (!expected.get(i).isEmpty() && !found.get(i).isEmpty()) {
                assertThat(found.get(i)).as("sample %d", i).isEqualTo(expected.get(i));
            }
        }
    }
}
