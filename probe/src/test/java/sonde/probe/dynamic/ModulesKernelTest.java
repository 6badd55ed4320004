package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.symbol.files.GivenPlaces;

/** Functions of a loaded module by its own BTF. Runs in the guests, whose root is an overlay. */
@Tag("kernel")
final class ModulesKernelTest {
    private static final Path TYPES = Path.of("/sys/kernel/btf/overlay");

    @BeforeEach
    void needsAModule() {
        Assumptions.assumeTrue(
                TraceText.hasKernelProbes() && Files.exists(TYPES),
                "no kprobes, or no module overlay");
    }

    private static ProbedObject overlay() throws java.io.IOException {
        return ProbedObject.module("overlay", GivenPlaces.NONE);
    }

    @Test
    void parametersOfItsFunctions() throws Exception {
        // ovl_open(struct inode *inode, struct file *file)
        String name = " name=file->f_path.dentry->d_name.name:string";
        String own = " fs=((struct ovl_fs *)inode->i_sb->s_fs_info)->workdir";
        List<Map<String, String>> seen =
                KernelProbes.recorded(
                        ModulesKernelTest::overlay,
                        UnaryOperator.identity(),
                        List.of("ovl_open" + name + own, "ovl_open%return r=$retval"),
                        List.of("/bin/cat", "/etc/hostname"));
        assertThat(seen)
                .anySatisfy(one ->
                        assertThat(one)
                                .containsEntry("event", "ovl_open")
                                .containsEntry("name", "hostname")
                                .containsKey("fs"));
        assertThat(seen)
                .anySatisfy(one ->
                        assertThat(one)
                                .containsEntry("event", "ovl_open__return")
                                .containsEntry("r", "0"));
    }

    @Test
    void placesNameTheModule() throws Exception {
        try (ProbedObject overlay = overlay();
                ProbedObject kernel = KernelProbes.kernel()) {
            ProbeDefiner definer = new ProbeDefiner(overlay);
            assertThat(definer.define(PointSpec.parse("ovl_open inode")))
                    .extracting(ProbeDefinition::text)
                    .containsExactly("p:probe/ovl_open overlay:ovl_open inode=%di:x64");
            assertThat(definer.define(PointSpec.parse("here=ovl_open%return")))
                    .extracting(ProbeDefinition::source, ProbeDefinition::note)
                    .containsExactly(tuple("overlay:ovl_open%return", ""));
            assertThat(new ProbeDefiner(kernel).define(PointSpec.parse("ovl_open inode")))
                    .extracting(ProbeDefinition::text)
                    .containsExactly("p:probe/ovl_open ovl_open inode=%di:x64");
            assertThatThrownBy(() -> definer.define(PointSpec.parse("ovl_opn")))
                    .hasMessageContaining("did you mean ovl_open");
            assertThatThrownBy(() -> definer.define(PointSpec.parse("ovl_open:3")))
                    .hasMessageContaining("no debugging information of module overlay");
        }
        assertThatThrownBy(() -> ProbedObject.module("overlayy", GivenPlaces.NONE))
                .hasMessageContaining("there is no module overlayy")
                .hasMessageContaining("did you mean overlay?");
    }
}
