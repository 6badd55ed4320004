package sonde.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.event.result.Listing.ListingForm;
import sonde.tools.explain.ExplainRecipe.LogSource;
import sonde.tools.option.CommandModel;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.option.OptionWords;

/** Options that {@code sonde explain} has in common with dmesg(1) and journalctl(1). */
class ExplainArgumentsTest {
    private static final ZonedDateTime NOW =
            ZonedDateTime.of(2026, 11, 24, 16, 0, 0, 0, ZoneId.of("Europe/Berlin"));

    private static final CommandModel MODEL =
            CommandModel.parse(
                    """
                    sonde explain [OPTIONS] [LOG...]

                    Explain.

                    Arguments:
                      [LOG...]  a log

                    Options:
                      --why               a
                      --all               a
                      --identities        a
                      --identity X|Y      a
                      -w, --follow        a
                      -W, --follow-new    a
                      --force             a
                      -T, --ctime         a
                      --source DIR        a
                      -l, --level L,...
                                          a
                      -f, --facility F,...
                                          a
                      --since WHEN        a
                      --until WHEN        a

                    Examples:
                      sonde explain
                    """);

    private static final String OOPS = "Oops: Exception in kernel mode, sig: 5 [#1]";
    private static final String KILLED = "Out of memory: Killed process 7 (heron)";

    /** The incidents that are shown, and the notes behind them. */
    private static String explained(String log, String... words) throws IOException {
        GivenOptions given = OptionWords.read(MODEL, List.of(words));
        ExplainRecipe recipe = new ExplainRecipe(ExplainArguments.options(given), null);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] bytes = log.getBytes(StandardCharsets.UTF_8);
        recipe.of(List.of(new LogSource("log", null, new ByteArrayInputStream(bytes))))
                .rows()
                .writeTo(out, ListingForm.TEXT);
        return out.toString(StandardCharsets.UTF_8) + recipe.notes();
    }

    private static final String LOG =
            """
            <4>[   10.000000] WARNING: CPU: 0 PID: 7 at a/b.c:1 heron_a+0x1/0x2
            <6>[   20.000000] heron[9]: segfault at 8 ip 1 sp 2 error 4 in heron[3+4]
            <12>[  400.000000] BUG: kernel NULL pointer dereference, address: 0
            """;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--since 11s | segfault,NULL",
                "--until 21 | WARNING,segfault",
                "--since 11s --until 21s | segfault",
                "-l err | WARNING",
                "-l err+ | WARNING,NULL",
                "-l +error | WARNING,segfault",
                "-l fatal,notice | segfault,NULL",
                "-l emerg | NULL",
                "-f kern | WARNING,segfault",
                "-f user,daemon | NULL"
            })
    void incidentsAreSelected(String words, String expected) throws IOException {
        String shown = explained(LOG, words.strip().split(" "));
        List<String> kept = new ArrayList<>();
        for (String one : List.of("WARNING", "segfault", "NULL")) {
            if (shown.lines().anyMatch(line -> line.startsWith("#") && line.contains(one))) {
                kept.add(one);
            }
        }
        assertThat(kept).containsExactly(expected.strip().split(","));
    }

    @Test
    void datesSelectWhereTheLogHasThem() throws IOException {
        String dated =
                """
                2026-11-24T10:00:01.5+01:00 pond kernel: BUG: unable to handle page fault for address: 8
                2026-11-24T11:00:01.5Z pond kernel: heron[9]: segfault at 8 ip 1 sp 2 error 4 in x[3+4]
                """;
        assertThat(explained(dated, "--since", "@1795515000"))
                .contains("segfault")
                .doesNotContain("page fault")
                .endsWith("[]");
        assertThat(explained(LOG, "--since", "@1795515000"))
                .contains("#1", "#2", "the log does not say when 3 of these incidents were");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "@1795510800 | 1795510800",
                "now | 1795532400",
                "today | 1795474800",
                "yesterday | 1795388400",
                "10:30 | 1795512600",
                "2026-11-24 10:30:01 | 1795512601",
                "2026-11-23 | 1795388400",
                "-90min | 1795527000",
                "-1h30m | 1795527000",
                "2 hours ago | 1795525200",
                "1 day ago | 1795446000"
            })
    void momentsAreRead(String text, double epoch) {
        assertThat(LogMoment.parse("--since", text, NOW)).isEqualTo(new LogMoment(epoch, false));
    }

    @ParameterizedTest
    @CsvSource({"tomorrowish", "25:00", "2026-13-01", "-3x", "3 months ago", "-", "''"})
    void otherMomentsAreRefused(String text) {
        assertThatThrownBy(() -> LogMoment.parse("--since", text, NOW))
                .isInstanceOf(OptionException.class)
                .hasMessageStartingWith("--since takes");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "<30>[    1.0] x | NaN | 3",
                "12,3,400,-;x | NaN | 1",
                "kern  :warn  : [    1.0] x | NaN | 0",
                "[Tue Nov 24 10:00:01 2026] x | 1795510801 | -1",
                "[2026-11-24 10:00:01] [    1.0] x | 1795510801 | -1",
                "2026-11-24T10:00:01.250+0000 pond kernel: x | 1795514401.25 | -1",
                "<4>1 2026-11-24T10:00:01Z pond kernel - - - x | 1795514401 | 0",
                "Tue 2026-11-24 10:00:01 UTC pond kernel: x | 1795514401 | -1",
                "Nov 24 10:00:01 pond kernel: x | 1795510801 | -1",
                "Dec  4 10:00:01 pond kernel: x | 1764838801 | -1",
                "Nov 24 2026 10:00:01 pond kernel: x | 1795510801 | -1",
                "1795510801.500000 pond kernel: x | 1795510801.5 | -1",
                "Nov 24 25:00:01 pond kernel: x | NaN | -1"
            })
    void linesSayWhenAndByWhomTheyWereWritten(String line, double epoch, int facility) {
        assertThat(LogStamp.of(line, NOW)).isEqualTo(new LogStamp(epoch, facility));
    }

    /** Each field of an entry becomes an empty line, so that lines keep their numbers. */
    @Test
    void entriesInTheExportFormatHaveDateHostAndKernelTime() throws IOException {
        ByteArrayOutputStream export = new ByteArrayOutputStream();
        String head =
                """
                __CURSOR=s=1;i=2
                __REALTIME_TIMESTAMP=1795514401500000
                _SOURCE_MONOTONIC_TIMESTAMP=10000000
                _HOSTNAME=pond
                PRIORITY=4
                SYSLOG_FACILITY=0
                """;
        export.writeBytes((head + "_TRANSPORT=stdout\nMESSAGE=" + OOPS + "\n\n").getBytes());
        byte[] text =
                (KILLED.replace("Out of", "heron invoked oom-killer: gfp_mask=1\nOut of"))
                        .getBytes();
        export.writeBytes((head + "_TRANSPORT=kernel\nMESSAGE\n").getBytes());
        export.writeBytes(new byte[] {(byte) text.length, 0, 0, 0, 0, 0, 0, 0});
        export.writeBytes(text);
        export.writeBytes("\nPOND=1\n\n".getBytes());
        String shown = explained(export.toString(StandardCharsets.ISO_8859_1), "-f", "kern");
        assertThat(shown)
                .startsWith(
                        "#1  out of memory: heron killed\n    notice, oom-kill; line 17, 10.0000")
                .contains("printed by pond\n")
                .doesNotContain("#2");
    }
}
