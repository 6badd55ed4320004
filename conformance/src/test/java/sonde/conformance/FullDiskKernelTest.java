package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A disk that gets full is said, with what it cost, and is no success. */
@Tag("kernel")
class FullDiskKernelTest {
    private static final Pattern MISSING =
            Pattern.compile("([\\d,]+) events were not written after the [\\d.]+ MiB");

    @TempDir Path folder;

    private Path small;

    @BeforeEach
    void makeASmallDisk() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        small = Files.createDirectory(folder.resolve("small"));
    }

    private void size(String size) throws Exception {
        unmount();
        run("mount", "-t", "tmpfs", "-o", "size=" + size, "none", small.toString());
    }

    @AfterEach
    void unmount() throws Exception {
        Sonde.in(Path.of("/")).execute(List.of("umount", small.toString()));
    }

    private Sonde.Outcome run(String... words) throws Exception {
        Sonde.Outcome outcome = Sonde.in(folder).execute(List.of(words));
        assertThat(outcome.status()).as("%s", outcome).isZero();
        return outcome;
    }

    @Test
    void recording() throws Exception {
        String[] dd = {"dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=1000000"};
        size("8m");
        Sonde.Outcome outcome = record(dd);
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(3);
        Matcher said = MISSING.matcher(outcome.err());
        assertThat(said.find()).as("%s", outcome).isTrue();
        long missing = Long.parseLong(said.group(1).replace(",", ""));
        assertThat(outcome.err().lines().filter(line -> line.startsWith("sonde: ")).findFirst())
                .hasValueSatisfying(
                        line -> assertThat(line).contains("No space left on device", said.group()));
        Recorded recorded = Recorded.of(small.resolve("r.sonde"));
        assertThat(
                        recorded.meta().objects("losses").stream()
                                .filter(loss -> loss.text("kind").equals("not_written"))
                                .mapToLong(loss -> loss.number("count"))
                                .sum())
                .isEqualTo(missing);
        // The program's own status comes first.
        size("8m");
        outcome = record("sh", "-c", String.join(" ", dd) + "; exit 9");
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(9);
        assertThat(outcome.err()).containsPattern(MISSING);
        // Not even the beginning fits: nothing was started, nothing is left.
        for (String size : List.of("1m", "300k", "40k")) {
            size(size);
            outcome = record("touch", folder.resolve("ran").toString());
            assertThat(outcome.status()).as("%s", outcome).isEqualTo(3);
            assertThat(outcome.err().strip().lines()).hasSize(1);
            assertThat(outcome.err()).contains("r.sonde", "the disk is full");
            assertThat(small.resolve("r.sonde")).doesNotExist();
            assertThat(folder.resolve("ran")).doesNotExist();
        }
    }

    private Sonde.Outcome record(String... command) throws Exception {
        String[] words = {"record", "--no-summary", "-o", small.resolve("r").toString(), "--"};
        String[] all = new String[words.length + command.length];
        System.arraycopy(words, 0, all, 0, words.length);
        System.arraycopy(command, 0, all, words.length, command.length);
        return Sonde.in(folder).run(all);
    }

    @Test
    void whatIsMadeOfARecording() throws Exception {
        StringBuilder text = new StringBuilder("# tracer: nop\n#\n");
        for (int i = 0; i < 20_000; i++) {
            text.append(
                    "  a-7  [000] d..2. 1.%06d: sched_wakeup: comm=c%d pid=%d prio=1 target_cpu=0\n"
                            .formatted(i, i * 7919 % 10007, i));
        }
        String trace = Files.writeString(folder.resolve("in.txt"), text).toString();
        size("64k");
        String made = small.resolve("made").toString();
        List<List<String>> all =
                List.of(
                        List.of("report", trace, "--html", made),
                        List.of("query", trace, "-o", made, "SELECT * FROM events"),
                        List.of(
                                "query",
                                trace,
                                "--format",
                                "parquet",
                                "-o",
                                made,
                                "SELECT *, hash(ts) FROM events"),
                        List.of("convert", trace, made, "--to", "csv"),
                        List.of("convert", trace, made, "--to", "tracedat"),
                        List.of("convert", trace, made, "--to", "ctf"));
        for (List<String> words : all) {
            Sonde.Outcome outcome = Sonde.in(folder).run(words.toArray(String[]::new));
            assertThat(outcome.status()).as("%s: %s", words, outcome).isEqualTo(3);
            assertThat(outcome.err())
                    .containsPattern(
                            "made: the disk is full after [\\d,]+ bytes, which are removed");
            try (Stream<Path> left = Files.list(small)) {
                assertThat(left).as("%s", words).isEmpty();
            }
        }
    }
}
