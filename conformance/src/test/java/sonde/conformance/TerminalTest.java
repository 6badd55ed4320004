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
}
