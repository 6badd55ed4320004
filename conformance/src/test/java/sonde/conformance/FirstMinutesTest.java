package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.testkit.Shard;

/**
 * The pages below docs/first, followed word by word: files are saved, commands are run in order,
 * and what a comment {@code says} is in what the commands before it print.
 */
@Tag("product")
@Tag("long")
@Tag("tracefs")
class FirstMinutesTest {
    private static final Pattern FILE =
            Pattern.compile(
                    "[Ss]ave (?:this|it) as `([^`]+)`:\\n\\n```\\w+\\n(.*?)```", Pattern.DOTALL);

    private static final Pattern STEP = Pattern.compile("(?m)^\\$ (.*)$|^<!-- says: (.*) -->$");

    @TempDir Path folder;

    static List<String> pages() {
        return Shard.of(List.of("sre", "kernel", "java", "bpftrace", "perf"));
    }

    @ParameterizedTest
    @MethodSource("pages")
    void everyCommandDoesWhatThePageSays(String name) throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        String page = Files.readString(Sonde.ROOT.resolve("docs/first/" + name + ".md"));
        for (Matcher file = FILE.matcher(page); file.find(); ) {
            Files.writeString(folder.resolve(file.group(1)), file.group(2));
        }
        Path bin = Files.createDirectory(folder.resolve("bin"));
        Files.createSymbolicLink(bin.resolve("sonde"), Sonde.ROOT.resolve("sonde"));
        Path jdk = Path.of(System.getProperty("java.home"), "bin");
        String path = "PATH=" + bin + ":" + jdk + ":/usr/sbin:/usr/bin:/sbin:/bin";
        StringBuilder printed = new StringBuilder();
        int commands = 0;
        for (Matcher step = STEP.matcher(page); step.find(); ) {
            if (step.group(1) != null) {
                Sonde.Outcome outcome =
                        Sonde.in(folder)
                                .execute(List.of("env", path, "/bin/bash", "-c", step.group(1)));
                assertThat(outcome.status()).as("%s: %s", step.group(1), outcome).isZero();
                printed.append(outcome.out()).append(outcome.err());
                commands++;
            } else {
                for (String said : step.group(2).split("; ")) {
                    assertThat(printed).as(name).contains(said);
                }
                printed.setLength(0);
            }
        }
        assertThat(commands).isGreaterThan(4);
    }
}
