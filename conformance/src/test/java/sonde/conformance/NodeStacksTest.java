package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** User stacks of a Node program, against what the program says of its own stack. */
@Tag("kernel")
class NodeStacksTest {
    private static final Pattern HIT = Pattern.compile("\\s*\\d+\\s+syscalls:sys_enter_getppid.*");
    private static final Pattern FRAME = Pattern.compile("\\s+([0-9a-f]+) (.*) \\([^()]*\\)");

    /** Addresses of frames of run times are above. */
    private static final long FIRST = 1L << 56;

    @TempDir Path folder;

    @Test
    void namesAreWhatTheProgramSays() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/node")), "needs Node");
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        Path said = folder.resolve("said");
        Recorded recorded = recorded(said);
        List<String> told = Files.readAllLines(said);
        List<List<String>> found = found(recorded);
        assertThat(found).hasSameSizeAs(told);
        List<String> wrong = new ArrayList<>();
        int all = 0;
        for (int i = 0; i < told.size(); i++) {
            List<String> own = new ArrayList<>(List.of(told.get(i).split("\t")));
            List<String> seen = new ArrayList<>(found.get(i));
            // The getter of ppid is Node's own; timers call main.
            seen.subList(0, Math.max(0, seen.indexOf("leaf"))).clear();
            own = own.subList(0, own.indexOf("main") + 1);
            seen = seen.subList(0, seen.indexOf("main") + 1);
            all++;
            if (!own.equals(seen)) {
                wrong.add(own + " but " + seen);
            }
        }
        assertThat(all).isGreaterThan(100);
        String first = wrong.isEmpty() ? "" : wrong.getFirst();
        assertThat(wrong.size()).as("of %d: %s", all, first).isLessThanOrEqualTo(all / 50);
    }

    /** On a busy machine the tables of Node may come after the program. */
    private Recorded recorded(Path said) throws Exception {
        for (int round = 0; ; round++) {
            Recorded recorded =
                    Recorded.record(
                            folder,
                            "node" + round,
                            "-e",
                            "syscalls:sys_enter_getppid",
                            "-T",
                            "--",
                            "/usr/bin/node",
                            TargetProgram.source("stacks.js").toString(),
                            said.toString());
            boolean late = recorded.meta().texts("notes").toString().contains("met a file before");
            if (!late || round == 4) {
                return recorded;
            }
        }
    }

    private List<List<String>> found(Recorded recorded) throws Exception {
        Sonde.Outcome listed =
                Sonde.in(folder)
                        .run(
                                "report",
                                recorded.bundle.toString(),
                                "--events",
                                "--event",
                                "*getppid*",
                                "-F",
                                "tid,event,ip,sym,dso");
        assertThat(listed.status()).as("%s", listed.err()).isZero();
        List<List<String>> found = new ArrayList<>();
        for (String line : listed.out().lines().toList()) {
            Matcher frame = FRAME.matcher(line);
            if (HIT.matcher(line).matches()) {
                found.add(new ArrayList<>());
            } else if (frame.matches() && Long.parseUnsignedLong(frame.group(1), 16) >= FIRST) {
                found.getLast().add(frame.group(2));
            }
        }
        return found;
    }
}
