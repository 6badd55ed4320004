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

/** The commands that README tells a new user, in a copy of the checkout that was never built. */
@Tag("product")
@Tag("tracefs")
class ReadmeTest {
    private static final Pattern BLOCK =
            Pattern.compile("(?ms)^```(?:sh|shell|bash|console)[ \\t]*$\\n(.*?)^```[ \\t]*$");

    /** Words a user is to replace, and ones about processes or programs a test does not have. */
    private static final Pattern PLACEHOLDER =
            Pattern.compile(
                    "(?<![\\w-])(?:[A-Z]{3,}|[A-Z]+\\.\\.\\.|\\.\\.\\.|…|\\$PID)(?!\\w)|<\\w+>");

    private static final Pattern STATUS = Pattern.compile("#\\s*(?:exit )?status (\\d+)\\s*$");

    @TempDir Path folder;

    /** A command of README and the exit status it says. */
    record Command(String text, int status) {}

    /** Lines that begin with ./sonde, after a prompt or sudo; a backslash joins lines. */
    static List<Command> commands(String readme) {
        List<Command> commands = new ArrayList<>();
        Matcher block = BLOCK.matcher(readme);
        while (block.find()) {
            String joined = block.group(1).replaceAll("\\s*\\\\\\n\\s*", " ");
            for (String line : joined.lines().toList()) {
                String text = line.strip().replaceFirst("^[$#] +", "").replaceFirst("^sudo +", "");
                String typed = text.replaceFirst("\\s#.*", "");
                if (!text.startsWith("./sonde ") || PLACEHOLDER.matcher(typed).find()) {
                    continue;
                }
                Matcher status = STATUS.matcher(text);
                commands.add(
                        new Command(text, status.find() ? Integer.parseInt(status.group(1)) : 0));
            }
        }
        return commands;
    }

    @Test
    void commandsAreFoundInTheirBlocks() {
        String readme =
                """
                Run `./sonde not-this`.

                ```sh
                $ ./sonde record \\
                    -- ls /
                ./sonde record -- COMMAND...
                sudo ./sonde report ls.sonde    # where the time went, in NAME.sonde
                ./sonde record -- false         # status 1
                ls
                ```

                ./sonde nor-this
                """;
        assertThat(commands(readme))
                .containsExactly(
                        new Command("./sonde record -- ls /", 0),
                        new Command(
                                "./sonde report ls.sonde    # where the time went, in NAME.sonde",
                                0),
                        new Command("./sonde record -- false         # status 1", 1));
    }

    @Test
    void commandsWorkInAFreshCopy() throws Exception {
        Path readme = Sonde.ROOT.resolve("README.md");
        assumeTrue(Files.exists(readme), "no README.md");
        List<Command> commands = commands(Files.readString(readme));
        assertThat(commands).isNotEmpty();
        Path copy = Files.createDirectory(folder.resolve("sonde"));
        Sonde.Outcome copied =
                Sonde.in(Sonde.ROOT)
                        .execute(
                                List.of(
                                        "/bin/bash",
                                        "-c",
                                        "set -o pipefail; git ls-files -z | tar --null"
                                                + " --ignore-failed-read -T - -c -f - | tar -x -C '"
                                                + copy
                                                + "' && chmod -R go-w '"
                                                + copy
                                                + "'"));
        assertThat(copied.status()).as("%s", copied).isZero();
        for (Command command : commands) {
            Sonde.Outcome outcome =
                    Sonde.in(copy).execute(List.of("/bin/bash", "-c", command.text()));
            assertThat(outcome.status())
                    .as("%s: %s", command.text(), outcome)
                    .isEqualTo(command.status());
            assertThat(outcome.err()).doesNotContain("Exception", "\tat ");
        }
    }
}
