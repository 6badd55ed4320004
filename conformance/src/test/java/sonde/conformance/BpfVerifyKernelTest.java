package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
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

    private static final String OPTIONAL =
            """
            #define SEC(n) __attribute__((section(n), used))
            #define __uint(name, val) int (*name)[val]
            #define __type(name, val) typeof(val) *name
            static void *(*lookup)(void *map, const void *key) = (void *) 1;
            struct { __uint(type, 1); __type(key, unsigned); __type(value, long); } counts SEC(".maps");
            SEC("?tracepoint/sched/sched_switch") int first(void *ctx)
            {
                unsigned k = 1;
                long *v = lookup(&counts, &k);
                if (v) *v += 1;
                return 0;
            }
            #ifdef MORE
            SEC("tracepoint/sched/sched_wakeup") int second(void *ctx) { return 0; }
            #endif
            char LICENSE[] SEC("license") = "GPL";
            """;

    private static void compile(String... options) throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/bin/clang")), "no clang");
        Files.writeString(folder.resolve("o.bpf.c"), OPTIONAL);
        List<String> words = new ArrayList<>(List.of("clang", "-g", "-O2", "-target", "bpf"));
        words.addAll(List.of(options));
        words.addAll(List.of("-c", "o.bpf.c", "-o", "o.bpf.o"));
        assertThat(Sonde.in(folder).execute(words).status()).isZero();
    }

    /** As libbpf's tools do before they load their objects. */
    @Test
    void optionalProgramsAndMapsWithoutSize() throws Exception {
        compile();
        Sonde sonde = Sonde.in(folder);
        Sonde.Outcome unsized = sonde.run("bpf", "verify", "o.bpf.o");
        assertThat(unsized.status()).isEqualTo(3);
        assertThat(unsized.out()).contains("first: not looked at", "--map-entries counts=N");
        Sonde.Outcome sized = sonde.run("bpf", "verify", "o.bpf.o", "--map-entries", "counts=64");
        assertThat(sized.status()).as("%s", sized).isZero();
        assertThat(sized.out()).startsWith("first: accepted as tracepoint");
        Sonde.Outcome loaded =
                sonde.run(
                        "bpf", "load", "o.bpf.o", "--only", "first", "--map-entries", "counts=64");
        assertThat(loaded.status()).as("%s", loaded).isZero();
        assertThat(loaded.out()).contains("max_entries 64", "first");
        assertThat(sonde.run("bpf", "load", "o.bpf.o", "--map-entries", "x=1").err())
                .contains("has no map x; it has [counts]");
        compile("-DMORE");
        Sonde.Outcome both = sonde.run("bpf", "verify", "o.bpf.o", "--map-entries", "counts=64");
        assertThat(both.out()).startsWith("second: accepted").doesNotContain("first: ");
        assertThat(both.err()).contains("not verified: first");
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
