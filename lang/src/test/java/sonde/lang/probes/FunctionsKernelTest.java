package sonde.lang.probes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.Link;
import sonde.lang.source.CompilerDiagnostics;

/** Functions of the kernel: on kernels with kprobes, mostly the guests'. */
@Tag("kernel")
final class FunctionsKernelTest {
    private static final int OPENS = 20;
    private Map<String, Integer> before = Map.of();

    @BeforeEach
    void needsKprobes() throws Exception {
        Assumptions.assumeTrue(
                Files.exists(Path.of("/sys/bus/event_source/devices/kprobe")),
                "this kernel has no kprobes");
        before = Hits.open();
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        assertThat(Hits.open()).isEqualTo(before);
    }

    private static ProbeGroup group(String text) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        AttachPoint point = Points.parse(text);
        try (ProbeExpander expander = new ProbeExpander(ExpanderOptions.USUAL)) {
            List<Probe> probes = expander.expand(point, diagnostics);
            assertThat(Points.messages(diagnostics)).isEmpty();
            List<ProbeGroup> groups = expander.group(point.span(), probes, false, diagnostics);
            assertThat(groups).hasSize(1);
            return groups.getFirst();
        }
    }

    private static void openFiles() throws Exception {
        for (int i = 0; i < OPENS; i++) {
            Files.readAllBytes(Path.of("/proc/self/comm"));
        }
    }

    private static void assertHit(String text) throws Exception {
        ProbeGroup group = group(text);
        try (Hits hits = Hits.load(group, false)) {
            try (Link _ = ProbeAttacher.attach(group, hits.program(), AttachOptions.EVERYWHERE)) {
                openFiles();
            }
            long count = hits.count();
            assertThat(count).as(text).isGreaterThanOrEqualTo(OPENS);
            openFiles();
            assertThat(hits.count()).as(text).isEqualTo(count);
        }
    }

    @Test
    void singleFunctions() throws Exception {
        assertHit("kprobe:do_sys_openat2");
        assertHit("kprobe:vmlinux:do_sys_openat2");
        assertHit("kprobe:do_sys_openat2+0");
        assertHit("kretprobe:do_sys_openat2");
    }

    @Test
    void patterns() throws Exception {
        for (String kind : List.of("kprobe", "kretprobe")) {
            ProbeGroup group = group(kind + ":do_sys_open*");
            assertThat(group.probes()).hasSizeGreaterThan(1);
            List<String> names = group.probes().stream().map(Probe::function).toList();
            try (Hits hits = Hits.load(group, true)) {
                try (Link _ =
                        ProbeAttacher.attach(group, hits.program(), AttachOptions.EVERYWHERE)) {
                    openFiles();
                }
                assertThat(hits.count(names.indexOf("do_sys_openat2")))
                        .as(kind + " of " + names)
                        .isGreaterThanOrEqualTo(OPENS);
            }
        }
    }

    @Test
    void functionsWithTypes() throws Exception {
        assertHit("fentry:do_sys_openat2");
        assertHit("fexit:vmlinux:do_sys_openat2");
    }

    @Test
    void theMiddleOfAnInstruction() throws Exception {
        Assumptions.assumeTrue(System.getProperty("os.arch").equals("amd64"), "x86 only");
        // The first instruction of a function is endbr64 or a call of five bytes.
        ProbeGroup group = group("kprobe:do_sys_openat2+1");
        try (Hits hits = Hits.load(group, false)) {
            assertThatThrownBy(() ->
                            ProbeAttacher.attach(group, hits.program(), AttachOptions.EVERYWHERE))
                    .isInstanceOfSatisfying(
                            AttachException.class,
                            e -> {
                                assertThat(e)
                                        .hasMessage(
                                                "Unable to attach probe: kprobe:do_sys_openat2+1");
                                assertThat(e.reason())
                                        .isEqualTo(
                                                "Possible attachment attempt in the middle of an"
                                                        + " instruction, try a different offset.");
                            });
        }
    }
}
