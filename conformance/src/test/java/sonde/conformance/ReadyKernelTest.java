package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code record --ready-fd N}. That what happens after the line is recorded is what {@link
 * TruthTest} counts. Descriptors are inherited, so each is a real start.
 */
@Tag("kernel")
class ReadyKernelTest {
    @TempDir Path folder;

    @BeforeEach
    void onlyAsRoot() {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
    }

    /** With descriptor 3 as the shell opens it. */
    private Sonde.Outcome record(String three, String... words) throws Exception {
        List<String> command = new ArrayList<>(List.of("record", "--no-summary", "-o", "r"));
        command.addAll(List.of(words));
        return Sonde.in(folder)
                .behind("/bin/sh", "-c", "exec \"$@\" " + three, "sh")
                .run(command.toArray(String[]::new));
    }

    @Test
    void theLineComesBeforeTheCommandWhichDoesNotInheritTheDescriptor() throws Exception {
        String command = "test -e /proc/$$/fd/3; echo inherited $?";
        Sonde.Outcome outcome = record("3>&1", "--ready-fd", "3", "--", "sh", "-c", command);
        assertThat(outcome.status()).as("%s", outcome).isZero();
        assertThat(outcome.out()).isEqualTo("ready\ninherited 1\n");
    }

    @Test
    void aRecordingThatCannotStartSaysNothing() throws Exception {
        Sonde.Outcome outcome = record("3>&1", "--ready-fd", "3", "--", "/no/such/command");
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(127);
        assertThat(outcome.out()).isEmpty();
    }

    @Test
    void aReaderThatIsGoneChangesNothing() throws Exception {
        Sonde.Outcome outcome =
                record("3>/dev/full", "--ready-fd", "3", "--", "sh", "-c", "echo began");
        assertThat(outcome.status()).as("%s", outcome).isZero();
        assertThat(outcome.out()).isEqualTo("began\n");
        assertThat(outcome.err()).contains("--ready-fd could not be written to: ");
    }

    @Test
    void descriptorsThatCannotBeWrittenToAreUsageErrors() throws Exception {
        String[][] wrong = {
            {"2", "file descriptors 0 to 2 belong to the command"},
            {"7", "file descriptor 7 is not open"},
            {"3", "file descriptor 3 is read-only"},
            {"x", "'x' is not a number"}
        };
        for (String[] one : wrong) {
            Sonde.Outcome outcome = record("3</dev/null", "--ready-fd", one[0], "--", "true");
            assertThat(outcome.status()).as("%s", outcome).isEqualTo(2);
            assertThat(outcome.err()).contains("--ready-fd").contains(one[1]);
        }
    }
}
