package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What only a terminal gets; script(1) is one. */
@Tag("product")
class TerminalTest {
    private static final String EVENT = "app-7 [000] .... 1.000001: sched_process_exit: pid=7";
    private static final String ERASE = "\r\033[K";

    @TempDir Path folder;

    @BeforeEach
    void script() {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")), "needs script(1)");
    }

    private String onTerminal(String command) throws Exception {
        List<String> script = List.of("script", "-qec", command, "/dev/null");
        return Sonde.in(folder).execute(script).out();
    }

    private static String slow(String redirection) {
        String sonde = Sonde.ROOT.resolve("sonde").toString();
        return "(sleep 2.5; echo '" + EVENT + "') | " + sonde + " report - " + redirection;
    }

    @Test
    void workOfMoreThanASecondHasALineThatIsTakenAway() throws Exception {
        String shown = onTerminal(slow(""));
        assertThat(shown).startsWith(ERASE + "report -: 1 s");
        String result = shown.substring(shown.lastIndexOf(ERASE));
        assertThat(result).contains("1 event of 1 thread").doesNotContain("report -:");
    }

    @Test
    void aPipeGetsNoSuchLine() throws Exception {
        assertThat(onTerminal(slow("2>err >out"))).isEmpty();
        assertThat(folder.resolve("err")).isEmptyFile();
        assertThat(folder.resolve("out")).content().contains("1 event").doesNotContain("report -:");
    }

    /** A pager has the terminal as soon as anything comes. */
    @Test
    void whatAPipeShowsIsNotDrawnOver() throws Exception {
        String pager = "sh -c 'read -r line; echo SHOWN; sleep 2; cat >/dev/null'";
        String lines = "for i in $(seq 1 40000); do echo \"" + EVENT + " $i\"; done";
        String slow = "(sleep 1.5; " + lines + ")";
        String shown =
                onTerminal(
                        slow
                                + " | "
                                + Sonde.ROOT.resolve("sonde")
                                + " report --events - | "
                                + pager);
        assertThat(shown).contains("report -: 1 s", "SHOWN");
        assertThat(shown.substring(shown.indexOf("SHOWN"))).doesNotContain("report -:");
    }
}
