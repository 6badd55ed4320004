package sonde.bpf.verifier;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import sonde.bpf.MapType;

/** Logs that are cut, flipped and shuffled: an explanation comes out, and no control character. */
@Isolated("measures time")
final class VerifierLogPropertyTest {
    private static void check(String log) {
        Explanation one =
                RefusalAnalysis.explain(log, null, InstructionLines.NONE, MapType::nameOf);
        assertThat(one.cause()).isNotEmpty();
        for (String line : one.lines()) {
            assertThat(line.chars().filter(c -> c < 0x20 || c >= 0x7f && c <= 0x9f)).isEmpty();
        }
    }

    @Test
    void logsCutAnywhereAreExplained() {
        for (String log : Logs.ALL) {
            for (int at = 0; at < log.length(); at += 7) {
                check(log.substring(0, at));
                check(log.substring(at));
            }
        }
    }

    @Test
    void logsWithFlippedBytesAreExplained() {
        Random random = new Random(20_261_121);
        for (int round = 0; round < 3000; round++) {
            byte[] bytes =
                    Logs.ALL.get(round % Logs.ALL.size()).getBytes(StandardCharsets.US_ASCII);
            for (int flips = 1 + random.nextInt(8); flips > 0; flips--) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            }
            check(new String(bytes, StandardCharsets.UTF_8));
        }
    }

    @Test
    void linesInAnyOrderAreExplained() {
        Random random = new Random(7);
        for (int round = 0; round < 1000; round++) {
            String[] lines = Logs.ALL.get(round % Logs.ALL.size()).split("\n");
            for (int i = 0; i < lines.length; i++) {
                int other = random.nextInt(lines.length);
                String line = lines[i];
                lines[i] = lines[other];
                lines[other] = line;
            }
            check(String.join("\n", Arrays.copyOf(lines, 1 + random.nextInt(lines.length))));
        }
    }

    @Test
    void hugeLogsTakeBoundedTime() {
        Assertions.assertTimeoutPreemptively(
                Duration.ofSeconds(30),
                () -> {
                    check("x\n".repeat(4_000_000));
                    check("1: (07) r1 += 1 ; R1=1\n".repeat(400_000) + "R1 !read_ok\n");
                    check("3: (05) if r1 == 0 goto pc+1\nfrom 3 to 5: R1=1\n".repeat(200_000));
                    check("R1 invalid mem access '" + "(".repeat(1 << 20));
                    check("  insn 1\n".repeat(300_000));
                    check("Verification failed: a: b\nAt:\n" + "  insn 1\n".repeat(300_000));
                });
    }
}
