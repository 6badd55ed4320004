package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code sonde bpf verify} and {@code tracelog} as a user runs them. */
@Tag("kernel")
final class BpfVerifyKernelTest {
    private static final Path EVENT =
            Path.of("/sys/kernel/tracing/events/bpf_trace/bpf_trace_printk/enable");

    @TempDir private static Path folder;

    private static Sonde.Outcome verify(String program, String... options) throws Exception {
        Files.writeString(folder.resolve("it.asm"), program);
        String[] words = new String[3 + options.length];
        words[0] = "bpf";
        words[1] = "verify";
        words[2] = "it.asm";
        System.arraycopy(options, 0, words, 3, options.length);
        return Sonde.in(folder).run(words);
    }

    private static final String LOOKUP =
            """
            *(u32 *)(r10 -4) = 0
            r2 = r10
            r2 += -4
            r1 = map[fd:3]
            call bpf_map_lookup_elem
            r6 = r0
            r0 = *(u64 *)(r6 +0)      ; not checked
            exit
            """;

    @Test
    void aRefusalIsExplained() throws Exception {
        Sonde.Outcome text = verify(LOOKUP, "--map", "3=hash,4,8,16");
        assertThat(text.status()).as("%s", text).isEqualTo(1);
        assertThat(text.out())
                .startsWith("it: refused as socket_filter\nr6 (what bpf_map_lookup_elem returned)")
                .contains("it.asm:7: r0 = *(u64 *)(r6 +0)      ; not checked")
                .contains("what helps: compare r6 with 0")
                .contains("verifier: R6 invalid mem access 'map_value_or_null'")
                .doesNotContain("processed ");
        assertThat(verify(LOOKUP, "--map", "3=hash,4,8,16", "--log").out())
                .contains("processed 7 insns");
        Sonde.Outcome json = verify(LOOKUP, "--map", "3=hash,4,8,16", "--json");
        Json one = Json.parse("{\"all\":" + json.out() + "}").objects("all").getFirst();
        Json explanation = one.object("explanation");
        assertThat(explanation.text("id")).isEqualTo("null-pointer");
        assertThat(explanation.number("line_num")).isEqualTo(7);
        assertThat(explanation.objects("history")).hasSize(2);
        assertThat(one.object("statistics").number("processed_insns")).isEqualTo(7);
    }

    @Test
    void anAcceptedProgramShowsWhatItTook() throws Exception {
        Sonde.Outcome text = verify("*(u64 *)(r10 -16) = 0\nr0 = 2\nexit\n", "--type", "xdp");
        assertThat(text.status()).as("%s", text).isZero();
        assertThat(text.out())
                .contains("it: accepted as xdp", "looked at 3 times", "stack         16 bytes");
        assertThat(verify("r0 = 0\nexit\n", "--log").out()).contains("0: (b7) r0 = 0");
        Files.write(folder.resolve("it.bin"), new byte[] {(byte) 0x95, 0, 0, 0, 0, 0, 0, 0});
        Sonde.Outcome raw = Sonde.in(folder).run("bpf", "verify", "it.bin");
        assertThat(raw.status()).isEqualTo(1);
        assertThat(raw.out()).contains("r0 is read here");
    }

    @Test
    void whatTheVerifierDidNotSeeIsNoRefusalOfIts() throws Exception {
        assertThat(verify("").status()).isEqualTo(3);
        assertThat(verify("r0 = nonsense\n").status()).isEqualTo(4);
        assertThat(verify("r0 = 0\nexit\n", "--type", "nonsense").status()).isEqualTo(2);
        assertThat(verify("r0 = 0\nexit\n", "--map", "3=nonsense").status()).isEqualTo(2);
        assertThat(
                        verify("r0 = 0\nexit\n", "--type", "tracing", "--attach", "tp_btf:nonsense")
                                .status())
                .isEqualTo(3);
        Sonde.Outcome attached =
                verify("r0 = 0\nexit\n", "--type", "tracing", "--attach", "tp_btf:sched_switch");
        assertThat(attached.status()).as("%s", attached).isZero();
    }

    @Test
    void theEventOfTracePrintkIsNotLeftOn() throws Exception {
        String before = Files.readString(EVENT);
        String prints =
                """
                *(u64 *)(r10 -8) = 0x6968
                r1 = r10
                r1 += -8
                r2 = 8
                call bpf_trace_printk
                r0 = 0
                exit
                """;
        assertThat(verify(prints, "--type", "raw_tracepoint").status()).isZero();
        assertThat(Files.readString(EVENT)).isEqualTo(before);
        assertThat(Sonde.in(folder).run("bpf", "tracelog", "--duration", "100ms").status())
                .isZero();
        assertThat(Files.readString(EVENT)).isEqualTo(before);
    }
}
