package sonde.conformance.guest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.Input;
import sonde.event.Recording;
import sonde.event.result.Report;
import sonde.event.result.Table;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.probe.launch.Leftovers;
import sonde.recording.ftrace.EventFormats;
import sonde.recording.ftrace.EventListing;
import sonde.recording.ftrace.EventText;
import sonde.recording.ftrace.TextContext;
import sonde.recording.ftrace.ThreadNames;
import sonde.recording.tracedat.TraceDatReader;
import sonde.tools.ftrace.FtraceArguments;
import sonde.tools.ftrace.FtraceRecipe;
import sonde.tools.ftrace.HistogramRecipe;
import sonde.tools.option.CommandModel;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.PicocliWords;
import sonde.tools.record.RecordOrder;
import sonde.tools.record.RecordOutcome;
import sonde.tools.record.RecordRecipe;
import sonde.tools.report.section.ReportSections;

/**
 * {@code sonde ftrace} where the kernel has its tracers: in 6.1 the function graph is there once,
 * in 6.12 in every instance. After each run tracefs is as before.
 */
@Tag("inguest")
@Timeout(value = 4, unit = TimeUnit.MINUTES) // beside a busy host
final class TracersInGuestTest {
    private static final Path TRACEFS = RawTrace.TRACEFS;

    private static final List<String> FILES =
            List.of(
                    "current_tracer",
                    "set_ftrace_filter",
                    "set_ftrace_notrace",
                    "set_graph_function",
                    "set_graph_notrace",
                    "max_graph_depth",
                    "tracing_thresh",
                    "set_ftrace_pid",
                    "set_ftrace_notrace_pid",
                    "set_event_pid",
                    "set_event",
                    "trace_clock",
                    "tracing_on",
                    "buffer_size_kb");

    @TempDir private Path scratch;

    /** The kernel expands the ring of the top when it is first used, and rounds sizes. */
    @BeforeAll
    static void expand() throws IOException {
        write("buffer_size_kb", "1408");
    }

    private record Traced(Report report, Path trace) {}

    private Traced trace(String word, String... arguments) throws Exception {
        String model = word.equals("graph") ? FtraceArguments.GRAPH : FtraceArguments.FUNCTION;
        Path bundle = scratch.resolve(word);
        List<String> words =
                Stream.concat(Stream.of("-o", bundle.toString()), Stream.of(arguments)).toList();
        GivenOptions given =
                PicocliWords.read(CommandModel.parse(model + CommandModel.COMMON), words);
        RecordOrder order =
                new FtraceArguments(word, given)
                        .order(
                                "0.1.0",
                                InheritedState.capture(),
                                CommandWords.of(
                                        words.subList(words.indexOf("--") + 1, words.size())
                                                .toArray(String[]::new)));
        RecordOutcome outcome = new RecordRecipe(order, null).run();
        assertThat(outcome.removed().get()).isEmpty();
        Path made = outcome.bundle();
        return new Traced(ReportSections.functions(made), made.resolve("trace.dat"));
    }

    private static Map<String, String> state() throws IOException {
        Map<String, String> state = new TreeMap<>();
        for (String file : FILES) {
            state.put(file, Files.readString(TRACEFS.resolve(file)));
        }
        try (Stream<Path> options = Files.list(TRACEFS.resolve("options"))) {
            for (Path option : options.toList()) {
                state.put(option.getFileName().toString(), Files.readString(option));
            }
        }
        try (Stream<Path> instances = Files.list(TRACEFS.resolve("instances"))) {
            state.put("instances", instances.map(Path::toString).sorted().toList().toString());
        }
        state.put("journal", Boolean.toString(Files.exists(Path.of("/run/sonde/ftrace"))));
        return state;
    }

    private static void write(String file, String value) throws IOException {
        Files.writeString(TRACEFS.resolve(file), value);
    }

    private static String text(String... command) throws Exception {
        Process process =
                new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        process.waitFor();
        return text;
    }

    /** The same calls as the program made, as trace-cmd reads them, and nothing left behind. */
    @Test
    void aGraphHasTheCallsOfTheProgramAndLeavesNothing() throws Exception {
        write("max_graph_depth", "5");
        write("set_graph_function", "vfs_write");
        Map<String, String> before = state();
        try {
            Traced traced =
                    trace(
                            "graph",
                            "-g",
                            "ksys_read",
                            "--depth",
                            "3",
                            "--",
                            "dd",
                            "if=/dev/zero",
                            "of=/dev/null",
                            "bs=64",
                            "count=40");
            assertThat(state()).isEqualTo(before);
            String theirs = text("trace-cmd", "report", "-R", traced.trace().toString());
            long read =
                    theirs.lines()
                            .filter(line -> line.contains("funcgraph_entry:"))
                            .filter(line -> line.matches(".*\\bdd-\\d+.*func=ksys_read depth=0"))
                            .count();
            assertThat(read).isBetween(40L, 60L);
            assertThat(
                            theirs.lines()
                                    .filter(line -> line.matches(".*funcgraph_entry.*depth=[3-9]")))
                    .isEmpty();
            assertThat(traced.report().answer().toString())
                    .contains("ksys_read was called " + read + " times");
            sameText(traced.trace());
        } finally {
            write("max_graph_depth", "0");
            write("set_graph_function", "");
        }
    }

    /** Line by line what trace-cmd report prints. */
    private static void sameText(Path trace) throws Exception {
        List<String> theirs =
                text("trace-cmd", "report", trace.toString())
                        .lines()
                        .filter(line -> !line.startsWith("cpus="))
                        .toList();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (Recording recording = TraceDatReader.open(Input.open(trace))) {
            ThreadNames names = ThreadNames.of(recording.threadNames().orElseThrow());
            TextContext context =
                    recording.capability(EventFormats.class).orElseThrow().textContext();
            EventText text = new EventText(recording.sources().getFirst(), context, names);
            new EventListing(recording.lanes(), text).writeTo(out);
        }
        assertThat(out.toString(StandardCharsets.UTF_8).lines().toList()).isEqualTo(theirs);
    }

    @Test
    void callsOfAFunctionAreCountedByCallerAndHaveStacks() throws Exception {
        Map<String, String> before = state();
        Traced traced =
                trace("function", "-l", "vfs_open", "--stacks", "--", "cat", "/etc/hostname");
        assertThat(state()).isEqualTo(before);
        assertThat(traced.report().answer().toString())
                .contains("vfs_open was called")
                .contains("from path_openat");
        assertThat(text("trace-cmd", "report", traced.trace().toString()))
                .contains("function:", "=> vfs_open", "=> do_filp_open", "=> __x64_sys_");
        sameText(traced.trace());
    }

    @Test
    void whatTheKernelDoesNotTakeIsSaidAndUndone() throws Exception {
        Map<String, String> before = state();
        assertThatThrownBy(() -> trace("graph", "-g", "vfs_opex", "--", "true"))
                .hasMessageContaining("no function that can be traced matches");
        assertThatThrownBy(() -> trace("function", "-l", "xfs_opex", "-m", "nosuch", "--", "true"))
                .hasMessageContaining("no module nosuch is loaded");
        assertThatThrownBy(() -> trace("graph", "-g", "vfs_open", "--retval", "--", "true"))
                .hasMessageContaining("needs Linux 6.5");
        assertThat(state()).isEqualTo(before);
    }

    /** A tracer of somebody else is not disturbed. */
    @Test
    void atTheTopSomebodyElseIsRespected() throws Exception {
        boolean once = System.getProperty("sonde.guest.release").startsWith("6.1.");
        write("current_tracer", "function");
        try {
            Map<String, String> before = state();
            if (once) {
                assertThatThrownBy(() -> trace("graph", "-g", "vfs_open", "--", "true"))
                        .hasMessageContaining("the tracer function is set");
            } else {
                trace("graph", "-g", "vfs_open", "--", "true");
            }
            assertThat(state()).isEqualTo(before);
        } finally {
            write("current_tracer", "nop");
            Files.writeString(TRACEFS.resolve("trace"), "");
        }
    }

    /** What a killed recorder changed is put back by the next command. */
    @Test
    void theJournalOfAKilledRecorderIsUndone() throws Exception {
        write("max_graph_depth", "7");
        Map<String, String> before = state();
        Files.createDirectories(Path.of("/run/sonde"));
        Files.writeString(
                Path.of("/run/sonde/ftrace"),
                "boot\t"
                        + Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip()
                        + "\ntracing_on\t1\nmax_graph_depth\t7\nset_graph_function\t\n"
                        + "current_tracer\tnop\n../../../etc/hostname\tx\n");
        write("tracing_on", "0");
        write("max_graph_depth", "2");
        write("set_graph_function", "vfs_read");
        write("current_tracer", "function_graph");
        try {
            assertThat(Leftovers.remove().toString()).contains("max_graph_depth");
            assertThat(state()).isEqualTo(before);
        } finally {
            write("current_tracer", "nop");
            write("max_graph_depth", "0");
        }
    }

    /** Counted in the kernel, of the command alone. */
    @Test
    void eventsAreCountedByTheirFields() throws Exception {
        Map<String, String> before = state();
        GivenOptions given =
                PicocliWords.read(
                        CommandModel.parse(HistogramRecipe.MODEL + CommandModel.COMMON),
                        List.of("-e", "raw_syscalls:sys_enter", "--by", "id.syscall", "--", "dd"));
        HistogramRecipe recipe = new HistogramRecipe(given);
        CommandWords dd = CommandWords.of("dd", "if=/dev/zero", "of=/dev/null", "count=40");
        Report report = (Report) recipe.run(dd, InheritedState.capture());
        assertThat(recipe.status()).isZero();
        Table table = (Table) report.sections().getFirst();
        assertThat(table.rows().stream().map(Object::toString))
                .anyMatch(row -> row.matches("\\[sys_write \\[ *1\\], 4[0-9]\\]"))
                .noneMatch(row -> row.startsWith("[sys_nanosleep"));
        assertThat(state()).isEqualTo(before);
        GivenOptions wrong =
                PicocliWords.read(
                        CommandModel.parse(HistogramRecipe.MODEL + CommandModel.COMMON),
                        List.of("-e", "kmem:kmalloc", "--by", "nofield", "--", "dd"));
        assertThatThrownBy(() -> new HistogramRecipe(wrong).run(dd, InheritedState.capture()))
                .hasMessageContaining("Couldn't find field");
        assertThat(state()).isEqualTo(before);
    }

    @Test
    void whatOthersLeftIsShownAndReset() throws Exception {
        assertThat(FtraceRecipe.reset(true).isGood()).isTrue();
        Map<String, String> before = state();
        write("set_ftrace_filter", "vfs_read vfs_write:traceoff:3");
        write("set_graph_function", "vfs_read");
        write("max_graph_depth", "4");
        write("events/sched/sched_switch/trigger", "stacktrace:5 if prev_pid == 1");
        write("events/kmem/kmalloc/trigger", "hist:keys=call_site");
        write("current_tracer", "function");
        write("set_event", "sched:sched_wakeup");
        FtraceRecipe.FtraceAnswer shown = FtraceRecipe.reset(false);
        assertThat(shown.isGood()).isFalse();
        assertThat(shown.report().toString())
                .contains("current_tracer, function, nop")
                .contains("events/kmem/kmalloc/trigger, hist:keys=call_site")
                .contains("max_graph_depth, 4, 0");
        FtraceRecipe.FtraceAnswer reset = FtraceRecipe.reset(true);
        assertThat(reset.report().notes()).containsExactly("all of this was reset");
        assertThat(FtraceRecipe.reset(false).report().notes())
                .containsExactly("nothing is on at the top of tracefs");
        assertThat(state()).isEqualTo(before);
    }

    @Test
    void marksAreWrittenWhereSomebodyRecords() throws Exception {
        Path instance = TRACEFS.resolve("instances/other");
        Files.createDirectory(instance);
        try {
            assertThat(FtraceRecipe.mark(List.of("slow", "phase")).report().notes())
                    .containsExactly("marked in other");
            assertThat(Files.readString(instance.resolve("trace"))).contains(": slow phase");
            assertThat(Files.readString(TRACEFS.resolve("trace"))).doesNotContain("slow phase");
        } finally {
            Files.delete(instance);
        }
        assertThat(FtraceRecipe.mark(List.of("x")).isGood()).isFalse();
    }
}
