package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import sonde.lang.bpftrace.run.SessionPairs.Pair;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.Probe;
import sonde.lang.probes.Probe.KernelProbe;
import sonde.lang.probes.ProbeGroup;

class SessionPairsTest {
    private static ProbeGroup begin(String... functions) {
        return group(Kind.KPROBE, "", 0, functions);
    }

    private static ProbeGroup end(String... functions) {
        return group(Kind.KRETPROBE, "", 0, functions);
    }

    private static ProbeGroup group(Kind kind, String module, long offset, String... functions) {
        List<Probe> probes =
                Stream.of(functions)
                        .<Probe>map(f -> new KernelProbe(kind, f, module, f, offset, 0))
                        .toList();
        return new ProbeGroup(probes, true, false);
    }

    private static List<Pair> pairs(ProbeGroup... groups) {
        return SessionPairs.pairs(List.of(groups), () -> true);
    }

    @Test
    void pairsHaveTheSameFunctions() {
        assertThat(pairs(begin("a"), end("b"), end("a"), begin("c", "d"), end("c", "d")))
                .containsExactly(new Pair(0, 2), new Pair(3, 4));
        assertThat(pairs(begin("a", "b"), end("b"))).isEmpty();
    }

    @Test
    void whoIsNotAloneIsNoPair() {
        assertThat(pairs(begin("a"), begin("a"), end("a"))).isEmpty();
        assertThat(pairs(begin("a"), end("a"), end("a"))).isEmpty();
    }

    @Test
    void allFunctionsOfAKernel() {
        ProbeGroup[] groups = new ProbeGroup[100_000];
        Arrays.setAll(groups, i -> i % 2 == 0 ? begin("f" + i) : end("f" + (i - 1)));
        assertTimeoutPreemptively(
                Duration.ofSeconds(10),
                () -> {
                    assertThat(pairs(groups)).hasSize(50_000);
                });
    }

    @Test
    void onlyWholeFunctionsOfTheKernelItself() {
        assertThat(pairs(group(Kind.KPROBE, "", 4, "a"), end("a"))).isEmpty();
        assertThat(pairs(group(Kind.KPROBE, "m", 0, "a"), end("a"))).isEmpty();
        assertThat(SessionPairs.pairs(List.of(begin("a"), end("a")), () -> false)).isEmpty();
    }
}
