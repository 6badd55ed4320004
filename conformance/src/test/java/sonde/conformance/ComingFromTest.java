package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of {@code docs/coming-from.md} do what their neighbours in other tools do. */
@Tag("product")
@Tag("long")
@Tag("tracefs")
class ComingFromTest {
    private static final Pattern ROW = Pattern.compile("(?m)^\\| .* \\| `(.*)` \\|$");

    private static final String SOURCE =
            """
            #include <stdio.h>
            #include <unistd.h>
            struct item { int weight; char name[8]; };
            __attribute__((noinline)) int my_func(int n, struct item *it) {
                int sum = n * 2;
                for (int i = 0; i < n; i++)
                    sum += it->weight;
                printf("%s %d\\n", it->name, sum);
                return sum;
            }
            int main(void) {
                struct item it = {3, "abc"};
                for (int i = 0; i < 5; i++) {
                    my_func(i, &it);
                    usleep(1000);
                }
                return 0;
            }
            """;

    /** What some of them must say, by how they begin. */
    private static final Map<String, String> SAYS =
            Map.of(
                    "sonde report app.sonde --syscalls", "clock_nanosleep",
                    "sonde probe funcs", "my_func",
                    "sonde probe vars", "struct item * it",
                    "sonde probe list", "probe_my_app:my_func__return",
                    "sonde report probed.sonde", "n=4",
                    "sonde trace -c", "[4, 8)",
                    "sonde symbolize -fi", "my_func",
                    "sonde elf --libs", "libc.so.6",
                    "sonde elf --disassemble", "printf(",
                    "sonde elf --types", "size: 12");

    @TempDir Path folder;

    @Test
    void commandsDoWhatTheyDoElsewhere() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        Files.writeString(folder.resolve("my_app.c"), SOURCE);
        assertThat(shell("gcc -g -O1 -o my_app my_app.c").status()).isZero();
        String page = Files.readString(Sonde.ROOT.resolve("docs/coming-from.md"));
        List<String> commands =
                ROW.matcher(page)
                        .results()
                        .map(row -> row.group(1).replace("\\|", "|"))
                        .filter(command -> !command.startsWith("dmesg"))
                        .toList();
        assertThat(commands).hasSizeGreaterThan(30);
        try {
            for (String command : commands) {
                run(command);
            }
        } finally {
            // Left only by a failure before the page's own removal.
            shell(Sonde.ROOT + "/sonde probe del 'probe_my_app:*'");
        }
    }

    private void run(String command) throws Exception {
        Sonde.Outcome outcome = shell("exec " + Sonde.ROOT + "/" + command);
        assertThat(outcome.status()).as("%s: %s", command, outcome).isZero();
        assertThat(outcome.err()).as(command).doesNotContain("Exception", "\tat ");
        SAYS.forEach((begins, says) -> {
            if (command.startsWith(begins)) {
                assertThat(outcome.out()).as(command).contains(says);
            }
        });
    }

    private Sonde.Outcome shell(String script) throws Exception {
        return Sonde.in(folder).execute(List.of("/bin/bash", "-c", script));
    }
}
