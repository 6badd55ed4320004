package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Kinds of probes by the help of tracefs. */
final class ProbeKindsTest {
    private static final String PLACE = "\t    place (uprobe): <path>:<offset>\n";

    @Test
    void anOldKernelHasNone() {
        String help =
                "\t   Format: p[:[<group>/][<event>]] <place> [<args>]\n"
                        + "\t           r[maxactive][:[<group>/][<event>]] <place> [<args>]\n"
                        + PLACE;
        assertThat(ProbeKinds.of(help, true, false))
                .isEqualTo(new ProbeKinds(true, false, false, false, false));
        assertThat(ProbeKinds.of("", false, true))
                .isEqualTo(new ProbeKinds(false, true, false, false, false));
    }

    @Test
    void theFunctionTracerAndTracepoints() {
        String help =
                "\t           f[:[<group>/][<event>]] <func-name>[%return] [<args>]\n"
                        + "\t           t[:[<group>/][<event>]] <tracepoint> [<args>]\n"
                        + PLACE;
        assertThat(ProbeKinds.of(help, false, false))
                .isEqualTo(new ProbeKinds(false, false, true, true, false));
        assertThat(
                        ProbeKinds.of(
                                help
                                        + "\t     kernel return probes support: $retval,"
                                        + " $arg<N>, $comm\n",
                                true,
                                true))
                .isEqualTo(ProbeKinds.ALL);
    }
}
