package sonde.lang.probes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.lang.probes.ExpanderOptions.MissingPolicy;
import sonde.lang.source.CompilerDiagnostics;

/** What this machine has for attach points. */
@Tag("kernel")
final class ProbeExpanderKernelTest {
    @TempDir Path folder;

    private static List<String> names(ExpanderOptions options, String... texts) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        List<String> names = expand(options, diagnostics, texts);
        assertThat(Points.messages(diagnostics)).isEmpty();
        return names;
    }

    private static List<String> expand(
            ExpanderOptions options, CompilerDiagnostics diagnostics, String... texts) {
        ParseSettings settings = new ParseSettings(List.of(), options.pid(), options.unsafe());
        List<AttachPoint> points =
                List.of(texts).stream().map(text -> Points.parse(text, settings)).toList();
        try (ProbeExpander expander = new ProbeExpander(options)) {
            return expander.expandProbe(Points.span(texts[0]), points, diagnostics).stream()
                    .map(Probe::name)
                    .toList();
        }
    }

    private static List<String> said(ExpanderOptions options, String... texts) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        expand(options, diagnostics, texts);
        return Points.messages(diagnostics);
    }

    private static String error(String text) {
        List<String> all = said(ExpanderOptions.USUAL, text);
        assertThat(all).isNotEmpty();
        return all.getLast();
    }

    private static String hint(String text) {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        expand(ExpanderOptions.USUAL, diagnostics, text);
        return diagnostics.all().getLast().hint();
    }

    @Test
    void namesWithoutTheMachine() {
        assertThat(
                        names(
                                ExpanderOptions.USUAL,
                                "BEGIN",
                                "self:signal:SIGUSR1",
                                "bench:a",
                                "interval:1s",
                                "p:hz:99",
                                "s:cpu:100000",
                                "software:faults",
                                "h:cycles:10",
                                "w:0x1000:8:wr",
                                "mine=interval:s:1"))
                .containsExactly(
                        "begin",
                        "self:signal:SIGUSR1",
                        "bench:a",
                        "interval:us:1000000",
                        "profile:hz:99",
                        "software:cpu:100000",
                        "software:faults",
                        "hardware:cycles:10",
                        "watchpoint:4096:8:rw",
                        "mine");
    }

    @Test
    void tracepoints() {
        assertThat(names(ExpanderOptions.USUAL, "tracepoint:sched:sched_switch"))
                .containsExactly("tracepoint:sched:sched_switch");
        List<String> opens = names(ExpanderOptions.USUAL, "t:syscalls:sys_*_open*");
        assertThat(opens)
                .contains(
                        "tracepoint:syscalls:sys_enter_openat",
                        "tracepoint:syscalls:sys_exit_openat")
                .allMatch(name -> name.matches("tracepoint:syscalls:sys_.*_open.*"))
                .isSorted();
        String[] folders = new File("/sys/kernel/tracing/events/raw_syscalls").list();
        assertThat(folders).contains("sys_enter");
        assertThat(names(ExpanderOptions.USUAL, "tracepoint:raw_syscalls:*"))
                .containsExactly(
                        "tracepoint:raw_syscalls:sys_enter", "tracepoint:raw_syscalls:sys_exit");
        assertThat(names(ExpanderOptions.USUAL, "t:raw_*:sys_enter"))
                .containsExactly("tracepoint:raw_syscalls:sys_enter");
    }

    @Test
    void rawTracepoints() {
        assertThat(names(ExpanderOptions.USUAL, "rt:sys_exit"))
                .containsExactly("rawtracepoint:vmlinux:sys_exit");
        assertThat(names(ExpanderOptions.USUAL, "rawtracepoint:vmlinu*:sys_e*"))
                .containsExactly(
                        "rawtracepoint:vmlinux:sys_enter", "rawtracepoint:vmlinux:sys_exit");
        assertThat(error("rawtracepoint:nonsense"))
                .isEqualTo("ERROR: Probe has no valid attach points.");
        assertThat(error("rawtracepoint:nonsense:sys_exit"))
                .isEqualTo("ERROR: No matches for rawtracepoint nonsense:sys_exit.");
    }

    @Test
    void functionsOfTheKernel() throws Exception {
        assertThat(names(ExpanderOptions.USUAL, "kprobe:vfs_read", "kr:vmlinux:vfs_write"))
                .containsExactly("kprobe:vfs_read", "kretprobe:vmlinux:vfs_write");
        assertThat(names(ExpanderOptions.USUAL, "kprobe:vfs_read+4"))
                .containsExactly("kprobe:vfs_read+4");
        assertThat(names(ExpanderOptions.USUAL, "kprobe:vfs_re*"))
                .contains("kprobe:vfs_read", "kprobe:vfs_readv")
                .allMatch(name -> name.startsWith("kprobe:vfs_re"));
        assertThat(names(ExpanderOptions.USUAL, "kprobe:vmlinu*:vfs_read"))
                .containsExactly("kprobe:vmlinux:vfs_read");
        assertThat(error("kprobe:rcu_*")).isEqualTo("ERROR: Probe has no valid attach points.");
        assertThat(error("kprobe:nonsense:vfs_read"))
                .isEqualTo(
                        "ERROR: specified module nonsense in probe kprobe:nonsense:vfs_read is"
                                + " not loaded.");
        Path list = Files.writeString(folder.resolve("list"), "alpha\nbeta [beta_mod]\nrcu_x\n");
        ExpanderOptions only = ExpanderOptions.USUAL.tracing(list.toString());
        assertThat(names(only, "kprobe:*a")).containsExactly("kprobe:alpha", "kprobe:beta");
        assertThat(names(only, "kprobe:b*:*")).containsExactly("kprobe:beta_mod:beta");
    }

    @Test
    void functionsWithTypes() {
        assertThat(names(ExpanderOptions.USUAL, "fentry:vfs_read", "kretfunc:vmlinux:vfs_open"))
                .containsExactly("fentry:vmlinux:vfs_read", "fexit:vmlinux:vfs_open");
        assertThat(names(ExpanderOptions.USUAL, "fentry:vmlinu*:vfs_re*ad"))
                .contains("fentry:vmlinux:vfs_read");
        assertThat(error("fentry:nonsense")).isEqualTo("ERROR: No matches for fentry nonsense.");
        assertThat(names(ExpanderOptions.USUAL, "iter:task", "it:task_file:pin"))
                .containsExactly("iter:task", "iter:task_file");
        assertThat(error("iter:nonsense"))
                .isEqualTo("ERROR: iter nonsense not available for your kernel version.");
    }

    @Test
    void whatIsMissing() {
        assertThat(said(ExpanderOptions.USUAL, "t:syscalls:nonsense"))
                .containsExactly("ERROR: No matches for tracepoint syscalls:nonsense.");
        assertThat(said(ExpanderOptions.USUAL, "kprobe:vmlinux:nonsense"))
                .containsExactly(
                        "WARNING: nonsense is not traceable (either non-existing, inlined, or"
                                + " marked as \"notrace\"); attaching to it will likely fail",
                        "ERROR: No matches for kprobe vmlinux:nonsense.");
        assertThat(hint("kprobe:vfs_raed")).startsWith("did you mean 'vfs_read'");
        ExpanderOptions warn = ExpanderOptions.USUAL.with(MissingPolicy.WARN);
        assertThat(said(warn, "t:syscalls:nonsense"))
                .containsExactly(
                        "WARNING: No matches for tracepoint syscalls:nonsense. Skipping.",
                        "WARNING: Probe has no valid attach points. It is being removed which may"
                                + " cause issues with program behavior.");
        assertThat(said(ExpanderOptions.USUAL.with(MissingPolicy.IGNORE), "kprobe:nonsense"))
                .isEmpty();
        assertThat(said(ExpanderOptions.USUAL, "kprobe:vfs_read", "kprobe:nonsense*")).isEmpty();
    }

    @Test
    void filteredByName() {
        ExpanderOptions some =
                new ExpanderOptions(
                        OptionalInt.empty(),
                        false,
                        1024,
                        1024,
                        MissingPolicy.ERROR,
                        Pattern.compile(":200"),
                        null,
                        java.util.Set.of());
        assertThat(names(some, "BEGIN", "interval:ms:100", "interval:ms:200"))
                .containsExactly("begin", "interval:ms:200");
    }

    @Test
    void limits() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        ExpanderOptions few =
                new ExpanderOptions(
                        OptionalInt.empty(),
                        false,
                        3,
                        3,
                        MissingPolicy.ERROR,
                        null,
                        null,
                        java.util.Set.of());
        try (ProbeExpander expander = new ProbeExpander(few)) {
            AttachPoint point = Points.parse("t:syscalls:sys_enter_open*");
            List<Probe> probes = expander.expand(point, diagnostics);
            assertThat(probes).hasSizeGreaterThan(3);
            assertThat(expander.overLimit()).contains("exceeds the current limit of 3 probes");
            assertThat(expander.group(point.span(), probes, false, diagnostics)).hasSize(1);
            assertThat(diagnostics.all()).isEmpty();
            expander.group(point.span(), probes, true, diagnostics);
            assertThat(diagnostics.all().getFirst().render())
                    .contains("BPF programs, which exceeds the current limit of 3")
                    .contains("BPFTRACE_MAX_BPF_PROGS");
        }
    }

    @Test
    void filesAndTheirFunctions() throws Exception {
        Path file =
                Programs.compile(
                        folder,
                        "p",
                        """
                        #include <stdio.h>
                        int one(int x) { return x + 1; }
                        int one_more(int x) { return one(x) + 1; }
                        int other(int x) { return x; }
                        int main() { return one_more(1) - 3 + other(0); }
                        """);
        assertThat(names(ExpanderOptions.USUAL, "uprobe:" + file + ":one*"))
                .containsExactly("uprobe:" + file + ":one", "uprobe:" + file + ":one_more");
        assertThat(names(ExpanderOptions.USUAL, "ur:" + folder + "/?*:other"))
                .containsExactly("uretprobe:" + file + ":other");
        assertThat(names(ExpanderOptions.USUAL, "uprobe:" + file + ":one+4"))
                .containsExactly("uprobe:" + file + ":one+4");
        assertThat(error("uprobe:" + file + ":nope"))
                .isEqualTo("ERROR: No matches for uprobe " + file + ":nope.");
        assertThat(hint("uprobe:/lib/x86_64-linux-gnu/libpthread.so.0:pthread_create"))
                .isEqualTo("it is in /lib/x86_64-linux-gnu/libc.so.6");
        assertThat(error("uprobe:" + file + ":one+1000000"))
                .startsWith("ERROR: Offset outside the function bounds ('one' size is ");
        assertThat(error("uprobe:" + file + ":10"))
                .isEqualTo("ERROR: Could not resolve address: " + file + ":0xa");
        assertThat(error("uprobe:" + file + ":_init"))
                .contains("Could not determine boundary for _init (symbol has size 0).")
                .contains("Use --unsafe to force attachment. WARNING: This option could lead to");
        assertThat(error("uprobe:/notexistfile:f"))
                .isEqualTo(
                        "ERROR: uprobe target file '/notexistfile' does not exist or is not"
                                + " executable");
        assertThat(error("usdt:notexistfile:a:f"))
                .isEqualTo(
                        "ERROR: usdt target file 'notexistfile' does not exist or is not"
                                + " executable");
        assertThat(error("usdt::a:f")).contains("usdt probe must specify at least path or pid");
    }

    @Test
    void linesThatAreNotThere() throws Exception {
        String source = "int main() {\n    return 0;\n}\n";
        Path plain = Programs.compile(folder, "plain", source);
        assertThat(error("uprobe:" + plain + "@plain.c:1"))
                .isEqualTo(
                        "ERROR: No DWARF debug info found for '"
                                + plain
                                + "', cannot attach by source code location.");
        Path file = Programs.compile(folder, "lines", source, "-g");
        assertThat(names(ExpanderOptions.USUAL, "uprobe:" + file + "@lines.c:2")).hasSize(1);
        assertThat(error("uprobe:" + file + "@invalid.c:1"))
                .isEqualTo("ERROR: No compilation unit matches invalid.c");
        assertThat(error("uprobe:" + file + "@lines.c:77:3"))
                .isEqualTo("ERROR: Unable to map 'lines.c:77:3' to address");
    }

    @Test
    void librariesByName() {
        assertThat(names(ExpanderOptions.USUAL, "uprobe:libc:malloc"))
                .hasSize(1)
                .allMatch(name -> name.matches("uprobe:/.*/libc\\.so\\.6:malloc"));
        assertThat(names(ExpanderOptions.USUAL, "uprobe:c:malloc"))
                .isEqualTo(names(ExpanderOptions.USUAL, "uprobe:libc:malloc"));
        assertThat(names(ExpanderOptions.USUAL, "uprobe:libc.so.6:fread"))
                .hasSize(1)
                .allMatch(name -> name.endsWith("/libc.so.6:fread"));
        int pid = (int) ProcessHandle.current().pid();
        assertThat(
                        names(
                                ExpanderOptions.USUAL.of(OptionalInt.of(pid)),
                                "uprobe:*:JNI_CreateJavaVM"))
                .anyMatch(name -> name.endsWith("/libjvm.so:JNI_CreateJavaVM"));
    }

    @Test
    void functionsOfCpp() throws Exception {
        Path file =
                Programs.compile(
                        folder,
                        "q.cc",
                        """
                        namespace a {
                        struct S { int f(int x) const { return x; } int f(long x) { return 1; } };
                        }
                        int main() { a::S s; return s.f(0) + s.f(0L) - 1; }
                        """);
        assertThat(names(ExpanderOptions.USUAL, "uprobe:" + file + ":cpp:\"a::S::f\""))
                .containsExactly(
                        "uprobe:" + file + ":cpp:_ZN1a1S1fEl",
                        "uprobe:" + file + ":cpp:_ZNK1a1S1fEi");
        assertThat(names(ExpanderOptions.USUAL, "uprobe:" + file + ":cpp:\"a::S::f(long)\""))
                .containsExactly("uprobe:" + file + ":cpp:_ZN1a1S1fEl");
        try (ProbeExpander expander = new ProbeExpander(ExpanderOptions.USUAL)) {
            CompilerDiagnostics diagnostics = new CompilerDiagnostics();
            assertThat(
                            new ProbeListing(ExpanderOptions.USUAL, expander)
                                    .list(
                                            List.of(
                                                    Points.parse(
                                                            "uprobe:" + file + ":cpp:\"a::S*\"")),
                                            diagnostics))
                    .containsExactly(
                            "uprobe:" + file + ":cpp:\"a::S::f(long)\"",
                            "uprobe:" + file + ":cpp:\"a::S::f(int) const\"");
        }
    }

    @Test
    void listings() throws Exception {
        try (ProbeExpander expander = new ProbeExpander(ExpanderOptions.USUAL)) {
            ProbeListing listing = new ProbeListing(ExpanderOptions.USUAL, expander);
            assertThat(listing.list("interval:*"))
                    .containsExactly("interval:hz:", "interval:ms:", "interval:s:", "interval:us:");
            assertThat(listing.list("software:*")).contains("software:cpu:", "software:cpu-clock:");
            assertThat(listing.list("*ware:*")).contains("hardware:cpu-cycles:", "software:cs:");
            assertThat(listing.list("hardware:cycles")).containsExactly("hardware:cycles:");
            assertThat(listing.list("tracepoint:raw_syscalls:*"))
                    .contains("tracepoint:raw_syscalls:sys_exit");
            assertThat(listing.list("tracepoint:*sched_switch"))
                    .containsExactly("tracepoint:sched:sched_switch");
            assertThat(listing.list("rawtracepoint:sys_*"))
                    .contains("rawtracepoint:vmlinux:sys_exit");
            assertThat(listing.list("fentry:vfs_r*")).contains("fentry:vmlinux:vfs_read");
            assertThat(listing.list("kprobe:vfs_read,kprobe:vfs_write"))
                    .containsExactly("kprobe:vfs_read", "kprobe:vfs_write");
            assertThat(listing.list("iter:*")).contains("iter:task", "iter:task_file");
            assertThat(listing.list("self")).containsExactly("self:signal:SIGUSR1");
            assertThat(listing.list("uprobe:libc:mallo*")).anyMatch(n -> n.endsWith(":malloc"));
            assertThat(listing.list("nonsense")).isEmpty();
            assertThat(listing.list("nonsense:*")).isEmpty();
            CompilerDiagnostics diagnostics = new CompilerDiagnostics();
            assertThat(
                            listing.list(
                                    List.of(
                                            Points.parse("begin"),
                                            Points.parse("hardware:cache-misses:10"),
                                            Points.parse("interval:1s"),
                                            Points.parse("tracepoint:xdp:mem_connect")),
                                    diagnostics))
                    .containsExactly(
                            "hardware:cache-misses:", "interval:us:", "tracepoint:xdp:mem_connect");
            ProbeListing detailed =
                    new ProbeListing(
                            ExpanderOptions.USUAL,
                            expander,
                            probe -> List.of("of " + probe.kind().longName()));
            assertThat(detailed.list("kprobe:vfs_read"))
                    .containsExactly("kprobe:vfs_read", "    of kprobe");
        }
    }

    @Test
    void allThatCanBeListed() throws Exception {
        try (ProbeExpander expander = new ProbeExpander(ExpanderOptions.USUAL)) {
            List<String> all = new ProbeListing(ExpanderOptions.USUAL, expander).list("");
            assertThat(all)
                    .contains(
                            "kprobe:vfs_read",
                            "fentry:vmlinux:vfs_read",
                            "tracepoint:sched:sched_switch",
                            "rawtracepoint:vmlinux:sched_switch",
                            "software:faults:",
                            "hardware:cycles:",
                            "iter:task")
                    .noneMatch(line -> line.contains("__ftrace_invalid_address__"))
                    .doesNotHaveDuplicates();
        }
    }
}
