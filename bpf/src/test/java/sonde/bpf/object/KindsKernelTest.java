package sonde.bpf.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.AttachType;
import sonde.bpf.BpfMap;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Leaks;
import sonde.bpf.Link;
import sonde.bpf.PrintkGuard;
import sonde.bpf.Program;
import sonde.bpf.feature.BpfFeatureProbe;
import sonde.bpf.object.ProgramSection.AttachWay;
import sonde.testkit.BpfFolder;

/** A program in every kind of section: loaded, and attached where the section says where. */
@Tag("kernel")
final class KindsKernelTest {
    private static final Set<String> PROBES =
            Set.of("p_kprobe", "p_kretprobe", "p_ksyscall", "p_kretsyscall");

    private static LoadOptions only(ObjectFile file, String wanted) {
        LoadOptions options = LoadOptions.USUAL;
        for (ObjectProgram program : file.programs()) {
            options = options.withProgram(program.name(), program.name().equals(wanted));
        }
        return options;
    }

    private static boolean isThere(ObjectProgram program) {
        ProgramSection section = program.section();
        assertThat(section).as(program.sectionName()).isNotNull();
        return section.attach() == null
                || BpfFeatureProbe.attachType(section.attach()).isYes()
                || section.way() == AttachWay.NONE;
    }

    @Test
    void everyKindIsLoadedAndAttached() throws Exception {
        Leaks before = Leaks.now();
        ObjectFile file = Objects.read("kinds");
        List<String> attached = new ArrayList<>();
        for (ObjectProgram program : file.programs()) {
            try (LoadedObject object = file.load(only(file, program.name()))) {
                assertThat(object.programs()).containsOnlyKeys(program.name());
                attach(object, program, attached);
            } catch (BpfRefusedException e) {
                boolean mayBeRefused =
                        e.barrier() == BpfRefusedException.Barrier.POLICY
                                || !BpfFeatureProbe.programType(program.section().type()).isYes()
                                || !isThere(program);
                assertThat(mayBeRefused).as(program.name() + ": " + e.getMessage()).isTrue();
            }
        }
        if (Files.exists(Path.of("/sys/bus/event_source/devices/kprobe"))) {
            assertThat(attached).containsAll(PROBES);
        }
        if (BpfFeatureProbe.attachType(AttachType.TRACE_KPROBE_MULTI).isYes()) {
            assertThat(attached).contains("p_kprobe_multi");
        }
        if (BpfFeatureProbe.attachType(AttachType.TRACE_FENTRY).isYes()) {
            assertThat(attached).contains("p_fentry", "p_fexit");
        }
        if (BpfFeatureProbe.attachType(AttachType.TRACE_UPROBE_MULTI).isYes()) {
            assertThat(attached).contains("p_uprobe_multi");
        }
        assertThat(attached)
                .contains(
                        "p_uprobe",
                        "p_uretprobe",
                        "p_tracepoint",
                        "p_tp",
                        "p_raw_tracepoint",
                        "p_raw_tp",
                        "p_tp_btf",
                        "p_iter")
                .doesNotContain("p_socket", "p_perf_event", "p_syscall", "p_xdp", "p_tc");
        before.assertNothingLeftSince();
    }

    private static void attach(LoadedObject object, ObjectProgram program, List<String> attached)
            throws IOException {
        try {
            List<Link> links = object.attach();
            if (!links.isEmpty()) {
                attached.add(program.name());
            }
        } catch (IOException e) {
            boolean mayFail =
                    PROBES.contains(program.name())
                            || program.name().contains("multi")
                            || program.name().startsWith("p_f");
            assertThat(mayFail).as(program.name() + ": " + e.getMessage()).isTrue();
        }
    }

    @Test
    void devicesAndCgroupsAreNamedWhenAttaching() throws Exception {
        ObjectFile file = Objects.read("kinds");
        try (LoadedObject object = file.load(only(file, "p_xdp"))) {
            assertThat(object.attach(AttachTargets.NONE.onDevice(1))).hasSize(1);
            assertThat(object.links()).containsOnlyKeys("p_xdp");
        }
        assertThatThrownBy(() -> file.load(only(file, "p_socket")).attach("p_socket"))
                .isInstanceOf(ObjectException.class)
                .hasMessageContaining("symbol p_socket")
                .hasMessageContaining("does not say where");
    }

    @Test
    void namesOutliveTheProcess() throws Exception {
        ObjectFile file = Objects.read("switches");
        try (PrintkGuard _ = new PrintkGuard();
                BpfFolder files = new BpfFolder()) {
            Path folder = Path.of(files.path("sw"));
            try (LoadedObject object = file.load()) {
                object.attach();
                assertThat(object.pin(folder))
                        .contains(
                                folder.resolve("count_switch"),
                                folder.resolve("maps/counter_map"),
                                folder.resolve("links/count_switch"));
                assertThatThrownBy(() -> object.pin(folder)).isInstanceOf(IOException.class);
                assertThat(folder.resolve("maps/counter_map")).exists();
            }
            try (BpfMap map = BpfMap.openPinned(folder.resolve("maps/counter_map").toString());
                    Program program =
                            Program.openPinned(folder.resolve("count_switch").toString())) {
                assertThat(program.facts().name()).isEqualTo("count_switch");
                long first = map.word(0);
                for (int i = 0; map.word(0) == first && i < 1000; i++) {
                    Thread.sleep(5);
                }
                assertThat(map.word(0)).isGreaterThan(first);
            }
        }
    }
}
