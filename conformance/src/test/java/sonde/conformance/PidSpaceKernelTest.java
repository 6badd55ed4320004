package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Scripts in a name space of processes of their own see its numbers. */
@Tag("kernel")
final class PidSpaceKernelTest {
    /** A process of the space that calls getppid over and over, and a script that looks at it. */
    private static String traced(String script) throws Exception {
        String command =
                "(while :; do /bin/sh -c 'sleep 0.01'; done) & other=$!;"
                        + " perl -e 'while (1) { getppid(); select(undef, undef, undef, 0.01); }' &"
                        + " echo target $!; sonde trace -q -p $! '"
                        + script
                        + "'; kill $! $other";
        Sonde.Outcome outcome =
                Sonde.in(Path.of("/tmp"))
                        .with(Map.of("PATH", Sonde.ROOT + ":" + System.getenv("PATH")))
                        .execute(
                                List.of(
                                        "unshare",
                                        "-p",
                                        "-f",
                                        "--mount-proc",
                                        "/bin/sh",
                                        "-c",
                                        command));
        assertThat(outcome.err()).isEmpty();
        return outcome.out();
    }

    private static String target(String printed) {
        return printed.substring("target ".length(), printed.indexOf('\n'));
    }

    @Test
    void theProcessOfTheCommandLineIsOneOfTheSpace() throws Exception {
        String printed =
                traced(
                        "tracepoint:syscalls:sys_enter_getppid { @[pid, comm] = count(); }"
                                + " interval:ms:500 { exit(); }");
        assertThat(target(printed)).hasSizeLessThan(4);
        assertThat(printed).contains("@[" + target(printed) + ", perl]: ");
        assertThat(printed.lines().filter(line -> line.startsWith("@"))).hasSize(1);
    }

    @Test
    void addressesAreNamedByTheProcessOfTheSpace() throws Exception {
        String printed =
                traced(
                        "uprobe:libc:getppid { @[ustack(1)] = count(); @f[usym(reg(\"ip\"))] = 1; }"
                                + " interval:ms:500 { exit(); }");
        assertThat(printed).containsPattern("@\\[\\s+getppid\\+\\d+(@\\S+)?\\s+\\]: ");
        assertThat(printed).contains("@f[getppid]: 1");
    }
}
