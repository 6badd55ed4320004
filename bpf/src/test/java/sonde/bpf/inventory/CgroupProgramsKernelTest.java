package sonde.bpf.inventory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.AttachType;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Leaks;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.link.NetworkLinks;

/** A cgroup of our own, with a program. */
@Tag("kernel")
final class CgroupProgramsKernelTest {
    @Test
    void programsOfACgroupAndThoseAbove() throws Exception {
        Path root = CgroupPrograms.root().orElse(null);
        Assumptions.assumeTrue(root != null, "no cgroup2 is mounted");
        Leaks before = Leaks.now();
        Path folder = Files.createDirectory(root.resolve("sonde-test-" + System.nanoTime()));
        Path below = Files.createDirectory(folder.resolve("below"));
        ProgramSpec spec =
                new ProgramSpec(
                                "of_cgroup",
                                ProgramType.CGROUP_SKB,
                                new CodeBuilder().exit(1).build())
                        .expecting(AttachType.CGROUP_INET_EGRESS);
        try (Program program = Program.load(spec);
                Link link =
                        NetworkLinks.cgroup(
                                program, AttachType.CGROUP_INET_EGRESS, folder.toString())) {
            assertThat(link.fd()).isNotNegative();
            Map<String, Object> row =
                    Map.of(
                            "id",
                            (long) program.facts().id(),
                            "attach_type",
                            "cgroup_inet_egress",
                            "attach_flags",
                            "multi",
                            "name",
                            "of_cgroup");
            assertThat(CgroupPrograms.of(folder, false)).containsExactly(row);
            assertThat(CgroupPrograms.of(below, false)).isEmpty();
            assertThat(CgroupPrograms.of(below, true))
                    .anySatisfy(one ->
                            assertThat(one)
                                    .containsEntry("id", row.get("id"))
                                    .doesNotContainKey("attach_flags"));
            assertThat(CgroupPrograms.tree(folder, false))
                    .containsExactly(Map.of("cgroup", folder.toString(), "programs", List.of(row)));
        } finally {
            Files.delete(below);
            Files.delete(folder);
        }
        assertThatThrownBy(() -> CgroupPrograms.of(Path.of("/proc"), false))
                .isInstanceOf(BpfRefusedException.class)
                .hasMessageContaining("/proc: is no cgroup of cgroup2");
        before.assertNothingLeftSince();
    }
}
