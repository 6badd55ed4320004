package sonde.bpf.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.AttachType;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Leaks;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.feature.BpfFeatureProbe;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.link.NetworkLinks;

/** Programs on the loopback device that let everything pass. */
@Tag("kernel")
final class NetworkProgramsKernelTest {
    private static final int LOOPBACK = 1;
    private static final int XDP_PASS = 2;
    private static final int TCX_NEXT = -1;

    private static Program load(String name, ProgramType type, AttachType place, int result)
            throws Exception {
        return Program.load(
                new ProgramSpec(name, type, new CodeBuilder().exit(result).build())
                        .expecting(place));
    }

    @Test
    void whatIsOnADevice() throws Exception {
        Leaks before = Leaks.now();
        try (Program program = load("on_lo", ProgramType.XDP, AttachType.XDP, XDP_PASS);
                Link link = NetworkLinks.xdp(program, LOOPBACK, NetworkLinks.XdpMode.ANY)) {
            assertThat(link.fd()).isNotNegative();
            Map<String, Object> row =
                    Map.of(
                            "devname",
                            "lo",
                            "ifindex",
                            1L,
                            "mode",
                            "generic",
                            "id",
                            (long) program.facts().id());
            assertThat(NetworkPrograms.now("lo").get("xdp")).contains(row);
            assertThat(NetworkPrograms.now("")).containsKeys("xdp", "tc", "flow_dissector");
        }
        assertThatThrownBy(() -> NetworkPrograms.now("sonde_none"))
                .isInstanceOf(BpfRefusedException.class)
                .hasMessageContaining("sonde_none: there is no such device");
        before.assertNothingLeftSince();
    }

    @Test
    void trafficControlWithLinks() throws Exception {
        if (!BpfFeatureProbe.attachType(AttachType.TCX_INGRESS).isYes()) {
            assertThat(NetworkPrograms.now("lo").get("tc")).isEmpty();
            return;
        }
        try (Program program =
                        load("on_tcx", ProgramType.SCHED_CLS, AttachType.TCX_INGRESS, TCX_NEXT);
                Link link = NetworkLinks.tcx(program, LOOPBACK, true)) {
            List<Map<String, Object>> rows = NetworkPrograms.now("lo").get("tc");
            assertThat(rows)
                    .anySatisfy(row ->
                            assertThat(row)
                                    .containsEntry("kind", "tcx/ingress")
                                    .containsEntry("name", "on_tcx")
                                    .containsEntry("link_id", (long) link.facts().id()));
        }
    }
}
