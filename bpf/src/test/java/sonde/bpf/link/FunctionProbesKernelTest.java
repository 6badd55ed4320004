package sonde.bpf.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.AttachType;
import sonde.bpf.Leaks;
import sonde.bpf.Link;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.feature.BpfFeatureProbe;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.link.Kprobes.KprobePoint;

/** Functions of the kernel: on kernels with kprobes, mostly the guests'. */
@Tag("kernel")
final class FunctionProbesKernelTest {
    private static final String OPEN = "do_sys_openat2";
    private static final Path EVENTS = Path.of("/sys/kernel/tracing/kprobe_events");

    @BeforeEach
    void needsKprobes() {
        Assumptions.assumeTrue(DynamicPmu.KPROBE.isPresent(), "this kernel has no kprobes");
    }

    private static void openFiles(int times) throws Exception {
        for (int i = 0; i < times; i++) {
            Files.readAllBytes(Path.of("/proc/self/comm"));
        }
    }

    private static void assertHits(Counted counted, Link link, long perCall) throws Exception {
        long before = counted.hits();
        try (link) {
            openFiles(20);
        }
        long hits = counted.hits() - before;
        assertThat(hits).as(link.target()).isGreaterThanOrEqualTo(20 * perCall);
        openFiles(20);
        assertThat(counted.hits() - before).as(link.target()).isEqualTo(hits);
    }

    @Test
    void kprobesAndKretprobesByPerf() throws Exception {
        try (Counted counted = Counted.withCookie(ProgramType.KPROBE)) {
            assertHits(counted, Kprobes.byPmu(counted.program, KprobePoint.entry(OPEN), 9), 1);
            assertHits(counted, Kprobes.attach(counted.program, KprobePoint.exit(OPEN), 9), 1);
            assertThat(counted.cookies()).isEqualTo(9 * counted.hits());
            try (Link link = Kprobes.attach(counted.program, KprobePoint.entry(OPEN), 0)) {
                assertThat(link.facts().typeName()).isEqualTo("perf_event");
                if (!link.facts().details().isEmpty()) {
                    assertThat(link.facts().details())
                            .containsEntry("kind", "kprobe")
                            .containsEntry("func", OPEN);
                }
            }
        }
    }

    @Test
    void kprobesByTracefsAreRemoved() throws Exception {
        String group = "sonde_" + ProcessHandle.current().pid();
        try (Counted counted = Counted.of(ProgramType.KPROBE, 0)) {
            for (KprobePoint place : List.of(KprobePoint.entry(OPEN), KprobePoint.exit(OPEN))) {
                Link link = Kprobes.byTracefs(counted.program, place, 0);
                assertThat(Files.readString(EVENTS)).contains(group);
                assertHits(counted, link, 1);
            }
        }
        assertThat(Files.readString(EVENTS)).doesNotContain(group);
    }

    @Test
    void manyFunctionsAtOnce() throws Exception {
        Assumptions.assumeTrue(
                BpfFeatureProbe.attachType(AttachType.TRACE_KPROBE_MULTI).isYes(),
                "this kernel has no kprobe.multi");
        ProgramSpec spec =
                new ProgramSpec("t_multi", ProgramType.KPROBE, new CodeBuilder().build())
                        .expecting(AttachType.TRACE_KPROBE_MULTI);
        try (Counted counted = Counted.of(spec, 0, true)) {
            for (boolean atReturn : new boolean[] {false, true}) {
                Link link =
                        Kprobes.multi(
                                counted.program,
                                List.of(OPEN, "vfs_read"),
                                List.of(5L, 5L),
                                atReturn);
                assertThat(link.facts().typeName()).isEqualTo("kprobe_multi");
                assertHits(counted, link, 2);
            }
            assertThat(counted.cookies()).isEqualTo(5 * counted.hits());
            assertThatThrownBy(
                    () -> Kprobes.multi(counted.program, List.of("no_such_fn"), List.of(), false));
        }
    }

    @Test
    void functionsBeginAndEndByTrampoline() throws Exception {
        int id;
        try (KernelTypes types = KernelTypes.open()) {
            id = types.function(OPEN);
        }
        for (AttachType place :
                new AttachType[] {AttachType.TRACE_FENTRY, AttachType.TRACE_FEXIT}) {
            Assumptions.assumeTrue(
                    BpfFeatureProbe.attachType(place).isYes(), place.kernelName() + " is refused");
            ProgramSpec spec =
                    new ProgramSpec("t_tramp", ProgramType.TRACING, new CodeBuilder().build())
                            .targeting(place, id);
            try (Counted counted = Counted.of(spec, 0, true)) {
                Link link = TracingLinks.attach(counted.program, 4);
                assertThat(link.facts().details())
                        .containsEntry("attach_type", place.kernelName())
                        .containsEntry("target_btf_id", (long) id);
                assertHits(counted, link, 1);
                assertThat(counted.cookies()).isEqualTo(4 * counted.hits());
                assertHits(counted, TracingLinks.attach(counted.program), 1);
            }
        }
    }

    @Test
    void failuresLeaveNothingBehind() throws Exception {
        try (Counted counted = Counted.of(ProgramType.KPROBE, 0)) {
            String events = Files.readString(EVENTS);
            Leaks before = Leaks.now();
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(
                        () -> Kprobes.attach(counted.program, KprobePoint.entry("no_such_fn"), 0));
                assertThatThrownBy(() ->
                        Kprobes.byTracefs(counted.program, KprobePoint.entry("no_such_fn"), 0));
                assertThatThrownBy(() -> TracingLinks.attach(counted.program));
            }
            before.assertNothingLeftSince();
            assertThat(Files.readString(EVENTS)).isEqualTo(events);
        }
    }
}
