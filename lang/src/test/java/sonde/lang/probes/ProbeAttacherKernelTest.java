package sonde.lang.probes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.bpf.AttachType;
import sonde.bpf.Link;
import sonde.bpf.TestRun.TestOutcome;
import sonde.bpf.feature.BpfFeatureProbe;
import sonde.bpf.link.KernelIterator;
import sonde.lang.probes.ExpanderOptions.MissingPolicy;
import sonde.lang.probes.Probe.IteratorProbe;
import sonde.lang.probes.Probe.TracepointProbe;
import sonde.lang.probes.Probe.UsdtProbe;
import sonde.lang.probes.Probe.UserProbe;
import sonde.lang.source.CompilerDiagnostics;

/** Programs that count how often each kind of probe is hit. */
@Tag("kernel")
final class ProbeAttacherKernelTest {
    private static final String WORK =
            """
            #include <unistd.h>
            #include <sys/syscall.h>
            %s
            int work(int x) { return x + 1; }
            int main() {
                int sum = 0;
                for (int i = 0; i < 10; i++) {
                    sum += work(i);
                    syscall(SYS_getppid);
                }
                return sum == 0;
            }
            """;

    @TempDir Path folder;
    private Map<String, Integer> before = Map.of();

    @BeforeEach
    void look() throws Exception {
        before = Hits.open();
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        assertThat(Hits.open()).isEqualTo(before);
    }

    private static List<ProbeGroup> groups(String text, boolean own, ExpanderOptions options) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        ParseSettings settings = new ParseSettings(List.of(), options.pid(), options.unsafe());
        AttachPoint point = Points.parse(text, settings);
        try (ProbeExpander expander = new ProbeExpander(options)) {
            List<Probe> probes = expander.expand(point, diagnostics);
            List<ProbeGroup> groups = expander.group(point.span(), probes, own, diagnostics);
            assertThat(Points.messages(diagnostics)).isEmpty();
            assertThat(groups).isNotEmpty();
            return groups;
        }
    }

    private static ProbeGroup group(String text) {
        List<ProbeGroup> groups = groups(text, false, ExpanderOptions.USUAL);
        assertThat(groups).hasSize(1);
        return groups.getFirst();
    }

    private Path work() throws Exception {
        return Programs.compile(folder, "work", WORK.formatted(""));
    }

    private static long hits(ProbeGroup group, Path program) throws Exception {
        try (Hits hits = Hits.load(group, false)) {
            try (Link _ = ProbeAttacher.attach(group, hits.program(), AttachOptions.EVERYWHERE)) {
                assertThat(Programs.run(List.of(program.toString()))).isZero();
            }
            long count = hits.count();
            assertThat(Programs.run(List.of(program.toString()))).isZero();
            assertThat(hits.count()).isEqualTo(count);
            return count;
        }
    }

    @Test
    void tracepoints() throws Exception {
        Path program = work();
        assertThat(hits(group("t:syscalls:sys_enter_getppid"), program)).isGreaterThanOrEqualTo(10);
        ProbeGroup both = group("t:syscalls:sys_*_getppid");
        assertThat(both.shared()).isTrue();
        try (Hits hits = Hits.load(both, true)) {
            try (Link _ = ProbeAttacher.attach(both, hits.program(), AttachOptions.EVERYWHERE)) {
                assertThat(Programs.run(List.of(program.toString()))).isZero();
            }
            assertThat(hits.count(0)).isGreaterThanOrEqualTo(10);
            assertThat(hits.count(1)).isGreaterThanOrEqualTo(10);
        }
    }

    @Test
    void rawTracepointsWithAndWithoutTypes() throws Exception {
        Path program = work();
        assertThat(hits(group("rt:sys_enter"), program)).isGreaterThanOrEqualTo(10);
        ProbeGroup both = group("rt:sys_e*");
        assertThat(both.probes()).hasSize(2);
        assertThat(hits(both, program)).isGreaterThanOrEqualTo(20);
    }

    @Test
    void clocks() throws Exception {
        for (String text : List.of("interval:ms:5", "profile:hz:199", "s:cpu-clock:1000000")) {
            ProbeGroup group = group(text);
            try (Hits hits = Hits.load(group, false)) {
                try (Link _ =
                        ProbeAttacher.attach(group, hits.program(), AttachOptions.EVERYWHERE)) {
                    for (int i = 0; i < 100 && hits.count() < 3; i++) {
                        Thread.sleep(20);
                    }
                }
                assertThat(hits.count()).as(text).isGreaterThanOrEqualTo(3);
            }
        }
    }

    @Test
    void countersOfAProcess() throws Exception {
        AttachOptions ours = AttachOptions.of((int) ProcessHandle.current().pid());
        ProbeGroup group = group("software:page-faults:1");
        try (Hits hits = Hits.load(group, false)) {
            try (Link _ = ProbeAttacher.attach(group, hits.program(), ours)) {
                byte[][] kept = new byte[64][];
                for (int i = 0; i < kept.length; i++) {
                    kept[i] = new byte[1 << 16];
                }
                assertThat(Programs.run(List.of("true"))).isZero();
                assertThat(kept[63]).isNotNull();
            }
            assertThat(hits.count()).isPositive();
        }
    }

    @Test
    void functionsOfFiles() throws Exception {
        Path program = work();
        assertThat(hits(group("uprobe:" + program + ":work"), program)).isEqualTo(10);
        assertThat(hits(group("uretprobe:" + program + ":work"), program)).isEqualTo(10);
        ProbeGroup like = group("uprobe:" + program + ":wor*");
        assertThat(like.first().name()).isEqualTo("uprobe:" + program + ":work");
        assertThat(hits(like, program)).isEqualTo(10);
    }

    @Test
    void linesOfSource() throws Exception {
        assumeTrue(
                System.getProperty("sonde.guest.release") == null,
                "reads DWARF, which is the same on every kernel");
        for (String version : List.of("-gdwarf-4", "-gdwarf-5", "-gdwarf-3")) {
            Path program = Programs.compile(folder, "work", WORK.formatted(""), version);
            ProbeGroup line = group("uprobe:" + program + "@work.c:4");
            assertThat(line.first().function()).isEqualTo("work");
            ProbeGroup entry = group("uprobe:" + program + ":work");
            assertThat(((UserProbe) line.first()).fileOffset())
                    .isEqualTo(((UserProbe) entry.first()).fileOffset());
            assertThat(hits(line, program)).as(version).isEqualTo(10);
            String whole = folder.resolve("work.c").toString();
            assertThat(hits(group("uprobe:" + program + "@" + whole + ":8"), program))
                    .isEqualTo(10);
        }
    }

    private static boolean hasMulti() {
        return BpfFeatureProbe.attachType(AttachType.TRACE_UPROBE_MULTI).isYes();
    }

    @Test
    void cookiesTellFunctionsApart() throws Exception {
        Path program = work();
        for (String disabled : List.of("", "uprobe_multi")) {
            ExpanderOptions options =
                    new ExpanderOptions(
                            OptionalInt.empty(),
                            false,
                            1024,
                            1024,
                            MissingPolicy.ERROR,
                            null,
                            null,
                            java.util.Set.of(disabled));
            ProbeGroup group = groups("uprobe:" + program + ":*", false, options).getFirst();
            assertThat(group.multi()).isEqualTo(disabled.isEmpty() && hasMulti());
            List<String> names = group.probes().stream().map(Probe::function).toList();
            try (Hits hits = Hits.load(group, true)) {
                try (Link _ =
                        ProbeAttacher.attach(group, hits.program(), AttachOptions.EVERYWHERE)) {
                    assertThat(Programs.run(List.of(program.toString()))).isZero();
                }
                assertThat(hits.count(names.indexOf("work"))).isEqualTo(10);
                assertThat(hits.count(names.indexOf("main"))).isEqualTo(1);
            }
        }
    }

    @Test
    void aThousandFunctionsAtOnce() throws Exception {
        Assumptions.assumeTrue(hasMulti(), "one by one they take a minute and more");
        StringBuilder source = new StringBuilder();
        for (int i = 0; i < 1000; i++) {
            source.append("int many_").append(i).append("(int x) { return x; }\n");
        }
        Path program = Programs.compile(folder, "thousand", WORK.formatted(source));
        long start = System.nanoTime();
        ProbeGroup group = group("uprobe:" + program + ":many_*");
        assertThat(group.probes()).hasSize(1000);
        try (Hits hits = Hits.load(group, false)) {
            long load = System.nanoTime();
            try (Link _ = ProbeAttacher.attach(group, hits.program(), AttachOptions.EVERYWHERE)) {
                long millis = (System.nanoTime() - start) / 1_000_000;
                System.getLogger("test")
                        .log(
                                System.Logger.Level.INFO,
                                "1000 uprobes: {0} ms, of it attaching {1} ms",
                                millis,
                                (System.nanoTime() - load) / 1_000_000);
                assertThat(millis).isLessThan(5_000);
            }
        }
    }

    private static final String MARKER =
            """
            unsigned short counter __attribute__((section(".probes")));
            #define MARK(NAME, VALUE) __asm__ volatile( \\
                "990: nop\\n" \\
                ".pushsection .note.stapsdt,\\"\\",\\"note\\"\\n" \\
                ".balign 4\\n.4byte 992f-991f, 994f-993f, 3\\n" \\
                "991: .asciz \\"stapsdt\\"\\n992: .balign 4\\n" \\
                "993: .8byte 990b, 0, counter\\n" \\
                ".asciz \\"mine\\"\\n.asciz \\"" NAME "\\"\\n.asciz \\"4@%0\\"\\n" \\
                "994: .balign 4\\n.popsection\\n" : : "r"(VALUE))
            int mark(int x) { MARK("mark", x); MARK("mark", x); return counter; }
            """;

    @Test
    void markersWithTheirCounter() throws Exception {
        String source =
                MARKER
                        + """
                        int main() {
                            int listened = 0;
                            for (int i = 0; i < 10; i++) {
                                listened += mark(i) != 0;
                            }
                            return listened;
                        }
                        """;
        Path program = Programs.compile(folder, "marker", source, "-no-pie");
        for (boolean multi : hasMulti() ? new boolean[] {false, true} : new boolean[1]) {
            ProbeGroup found = group("usdt:" + program + ":mine:mark");
            UsdtProbe probe = (UsdtProbe) found.first();
            assertThat(probe.locations()).hasSize(2);
            assertThat(probe.locations().getFirst().semaphore()).isPositive();
            ProbeGroup group = new ProbeGroup(found.probes(), false, multi);
            try (Hits hits = Hits.load(group, true)) {
                try (Link _ =
                        ProbeAttacher.attach(group, hits.program(), AttachOptions.EVERYWHERE)) {
                    assertThat(Programs.run(List.of(program.toString()))).isEqualTo(10);
                }
                assertThat(hits.count()).isEqualTo(20);
                assertThat(hits.count((int) ProbeGroup.cookie(0, 0))).isEqualTo(10);
                assertThat(hits.count((int) ProbeGroup.cookie(0, 1))).isEqualTo(10);
            }
            assertThat(Programs.run(List.of(program.toString()))).isZero();
        }
    }

    private static void assertListed(ProcessHandle process, String file) throws Exception {
        int pid = Math.toIntExact(process.pid());
        ExpanderOptions options = ExpanderOptions.USUAL.of(OptionalInt.of(pid));
        try (ProbeExpander expander = new ProbeExpander(options)) {
            ProbeListing listing = new ProbeListing(options, expander);
            assertThat(listing.list("usdt:*")).contains("usdt:" + file + ":mine:mark");
            assertThat(listing.list("usdt:*:mine:*")).contains("usdt:" + file + ":mine:mark");
            assertThat(listing.list("uprobe:*")).contains("uprobe:" + file + ":mark");
            assertThat(listing.list("")).contains("uprobe:" + file + ":mark");
        }
        for (String text : List.of("usdt::mine:mark", "uprobe:*:mark", "uprobe:mark")) {
            ProbeGroup group = groups(text, false, options).getFirst();
            try (Hits hits = Hits.load(group, false)) {
                try (Link _ = ProbeAttacher.attach(group, hits.program(), AttachOptions.of(pid))) {
                    for (int i = 0; i < 100 && hits.count() == 0; i++) {
                        Thread.sleep(20);
                    }
                }
                assertThat(hits.count()).as(text).isPositive();
            }
        }
    }

    @Test
    void processesInOtherMountNamespaces() throws Exception {
        assumeTrue(
                System.getProperty("sonde.guest.release") == null,
                "reads /proc, which is the same on every kernel");
        String source =
                "#include <unistd.h>\n"
                        + MARKER
                        + "int main() { for (int i = 0; i < 2000; i++) { mark(i); usleep(10000); }"
                        + " return 0; }\n";
        Path program = Programs.compile(folder, "running", source, "-no-pie");
        Process plain = new ProcessBuilder(program.toString()).start();
        try {
            waitFor(plain, program);
            assertListed(plain.toHandle(), program.toString());
        } finally {
            plain.destroyForcibly().waitFor();
        }
        Path hidden = Files.createDirectory(folder.resolve("hidden"));
        String script =
                "mount -t tmpfs none "
                        + hidden
                        + " && cp "
                        + program
                        + " "
                        + hidden
                        + " && exec "
                        + hidden
                        + "/running";
        Process apart = new ProcessBuilder("unshare", "-m", "sh", "-c", script).start();
        try {
            waitFor(apart, hidden.resolve("running"));
            assertThat(hidden.resolve("running")).doesNotExist();
            String inside = "/proc/" + apart.pid() + "/root" + hidden.resolve("running");
            assertListed(apart.toHandle(), inside);
            int pid = Math.toIntExact(apart.pid());
            ExpanderOptions options = ExpanderOptions.USUAL.of(OptionalInt.of(pid));
            String text = "uprobe:" + hidden.resolve("running") + ":mark";
            assertThat(groups(text, false, options).getFirst().first().name())
                    .isEqualTo("uprobe:" + inside + ":mark");
        } finally {
            apart.destroyForcibly().waitFor();
        }
    }

    private static void waitFor(Process process, Path program) throws Exception {
        Path link = Path.of("/proc/" + process.pid() + "/exe");
        for (int i = 0; i < 200; i++) {
            Path found = Files.readSymbolicLink(link);
            if (found.equals(program)) {
                return;
            }
            Assumptions.assumeFalse(
                    found.endsWith(program.getRoot().relativize(program)),
                    "this root is a folder of another: names of a new name space begin there");
            Thread.sleep(10);
        }
        throw new AssertionError(Files.readSymbolicLink(link) + " is not " + program);
    }

    @Test
    void memoryThatIsWritten() throws Exception {
        String source =
                """
                #include <sys/mman.h>
                int main() {
                    void *at = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
                    volatile int *word = at;
                    for (int i = 0; i < 10; i++) {
                        *word = i;
                    }
                    return 0;
                }
                """;
        Path program = Programs.compile(folder, "memory", source);
        ProbeGroup group = group("watchpoint:0x10000000:4:w");
        try (Hits hits = Hits.load(group, false)) {
            Link link;
            try {
                link = ProbeAttacher.attach(group, hits.program(), AttachOptions.EVERYWHERE);
            } catch (AttachException e) {
                // A virtual machine may have no debug registers to give.
                Assumptions.abort(e.reason());
                return;
            }
            try (link) {
                assertThat(Programs.run(List.of(program.toString()))).isZero();
            }
            assertThat(hits.count()).isEqualTo(10);
        }
    }

    @Test
    void whatTheTracerRuns() throws Exception {
        for (String text : List.of("begin", "end", "self:signal:SIGUSR1", "test:a", "bench:a")) {
            ProbeGroup group = group(text);
            try (Hits hits = Hits.load(group, false)) {
                TestOutcome outcome = ProbeAttacher.runOnce(hits.program());
                assertThat(outcome.value()).as(text).isZero();
                assertThat(hits.count()).as(text).isEqualTo(1);
            }
        }
        ProbeGroup bench = group("bench:often");
        try (Hits hits = Hits.load(bench, false)) {
            assertThat(ProbeAttacher.runOften(hits.program(), 1000).nanos()).isNotNegative();
            assertThat(hits.count()).isEqualTo(1000);
        }
    }

    @Test
    void iteratorsCanBeReadAndPinned() throws Exception {
        ProbeGroup group = group("iter:task");
        try (Hits hits = Hits.load(group, false);
                KernelIterator iterator =
                        ProbeAttacher.iterator((IteratorProbe) group.first(), hits.program())) {
            assertThat(iterator.read(1 << 16)).isEmpty();
            assertThat(hits.count()).isGreaterThan(1);
        }
        ProbeGroup pinned = group("iter:task:sonde_test_pin");
        IteratorProbe probe = (IteratorProbe) pinned.first();
        Path pin = Path.of(ProbeAttacher.pinPath(probe));
        assertThat(pin).hasToString("/sys/fs/bpf/sonde_test_pin");
        if (Files.isDirectory(pin.getParent()) && isBpffs(pin)) {
            try (Hits hits = Hits.load(pinned, false);
                    KernelIterator _ = ProbeAttacher.iterator(probe, hits.program())) {
                Files.readAllBytes(pin);
                assertThat(hits.count()).isGreaterThan(1);
            } finally {
                Files.deleteIfExists(pin);
            }
        }
    }

    private static boolean isBpffs(Path pin) throws Exception {
        return Files.readString(Path.of("/proc/mounts")).contains(" " + pin.getParent() + " bpf ");
    }

    @Test
    void programsInPrograms() throws Exception {
        ProbeGroup group = group("rt:sys_enter");
        try (Hits hits = Hits.load(group, false)) {
            // Without types of its own a program cannot be probed, and is not found.
            int id = hits.program().facts().id();
            CompilerDiagnostics diagnostics = new CompilerDiagnostics();
            try (ProbeExpander expander = new ProbeExpander(ExpanderOptions.USUAL)) {
                AttachPoint point = Points.parse("fentry:bpf:" + id + ":t_hits");
                assertThat(expander.expand(point, diagnostics)).isEmpty();
                assertThat(Points.messages(diagnostics))
                        .containsExactly("ERROR: No matches for fentry bpf:t_hits.");
            }
        }
    }

    @Test
    void whatCannotBeAttached() throws Exception {
        ProbeGroup group = group("t:syscalls:sys_enter_getppid");
        Probe gone = new TracepointProbe("tracepoint:a:b", "a", "b");
        try (Hits hits = Hits.load(group, false)) {
            assertThatThrownBy(() ->
                            ProbeAttacher.attach(
                                    new ProbeGroup(List.of(group.first(), gone), true),
                                    hits.program(),
                                    AttachOptions.EVERYWHERE))
                    .isInstanceOfSatisfying(
                            AttachException.class,
                            e -> {
                                assertThat(e).hasMessage("Unable to attach probe: tracepoint:a:b");
                                assertThat(e.reason())
                                        .isEqualTo("Probe does not exist: tracepoint:a:b");
                            });
        }
    }
}
