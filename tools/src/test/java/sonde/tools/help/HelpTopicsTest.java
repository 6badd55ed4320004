package sonde.tools.help;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.tools.option.CommandModel;
import sonde.tools.report.NothingMatchesException;

/** Words behind {@code sonde help} lead to the pages of docs, and what is printed is plain text. */
class HelpTopicsTest {
    private static final Path DOCS = Path.of("../docs");
    private static final Map<String, CommandModel> MODELS =
            Map.of(
                    "record",
                    CommandModel.parse(
                            """
                            sonde record [OPTIONS]

                            Record.

                            Options:
                              --call-graph bpf|fp  unwind user stacks in this way
                            """));

    private static HelpTopics topics;

    @BeforeAll
    static void read() throws IOException {
        topics = HelpTopics.read(DOCS, () -> MODELS);
    }

    private static String about(String topic) throws NothingMatchesException {
        return topics.answer(topic, 80);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "filters | filters | --filter 'sched/sched_switch",
                "Lost-Events | lost events | --ring-memory",
                "execsnoop | EXECSNOOP | ARGS    arguments, beginning with the program",
                "stacks | USER STACKS | sonde help stacks Java",
                "language printf | printf | %d",
                "formats/strace | TEXT OF STRACE | -k ",
                "permissions | permissions | sonde doctor",
            })
    void aTopicIsPrintedAsText(String topic, String begin, String part) throws IOException {
        assertThat(about(topic)).startsWith(begin).contains(part).doesNotContain("](", "```", "**");
    }

    @Test
    void longLinesAreBrokenAndTablesAlignedExceptCode() throws IOException {
        for (String topic : new String[] {"files", "environment", "packages"}) {
            assertThat(about(topic).lines().filter(line -> !line.startsWith("    ")))
                    .allMatch(line -> line.length() <= 80, topic);
        }
        assertThat(about("exit status")).contains("  0       done\n", "  5       a fault of sonde");
    }

    @Test
    void otherWordsAreSearchedInPagesAndOptions() throws IOException {
        assertThat(about("page faults")).contains("sonde help ", "    ");
        assertThat(about("--call-graph"))
                .contains("sonde help record\n    --call-graph bpf|fp: unwind user stacks");
        assertThatThrownBy(() -> about("filtres"))
                .isInstanceOf(NothingMatchesException.class)
                .hasMessageContaining("did you mean 'filters'");
        assertThat(about("topics")).contains("lost events", "language  ", "execsnoop");
    }

    @Test
    void everyPlaceThatPagesAndSearchesNameIsThere() throws IOException {
        Pattern call = Pattern.compile("`sonde help ([a-z][^`]*)`");
        try (Stream<Path> files = Files.walk(DOCS)) {
            for (Path file : files.filter(one -> one.toString().endsWith(".md")).toList()) {
                Matcher named = call.matcher(Files.readString(file));
                while (named.find()) {
                    assertThat(about(named.group(1))).as(named.group()).isNotEmpty();
                }
            }
        }
        Matcher found = Pattern.compile("(?m)^sonde help (.*)$").matcher(about("page faults"));
        int places = 0;
        for (; found.find(); places++) {
            if (!MODELS.containsKey(found.group(1))) {
                assertThat(about(found.group(1))).as(found.group()).doesNotContain("other places");
            }
        }
        assertThat(places).isGreaterThan(4);
    }

    @Test
    void whatAPageHoldsCannotMoveTheCursor(@TempDir Path folder) throws IOException {
        Files.writeString(folder.resolve("a.md"), "# a\n\nx\u001b[2Jy\n\n```\n\u001b[31mz\n```\n");
        HelpTopics hostile = HelpTopics.read(folder, Map::of);
        assertThat(hostile.answer("a", 0)).contains("z").doesNotContain("\u001b");
        HelpTopics none = HelpTopics.read(Files.createDirectory(folder.resolve("b")), Map::of);
        assertThatThrownBy(() -> none.answer("a", 0)).hasMessageContaining("no page has 'a'");
    }
}
