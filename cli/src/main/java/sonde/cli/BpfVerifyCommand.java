package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.bpf.Program;
import sonde.bpf.ProgramFacts;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.VerifierException;
import sonde.bpf.verifier.Explainer;
import sonde.bpf.verifier.Explanation;
import sonde.bpf.verifier.HistoryStep;
import sonde.bpf.verifier.SourceLine;
import sonde.bpf.verifier.Statistics;
import sonde.bpf.verifier.VerifierLog;
import sonde.view.Escape;

/** {@code sonde bpf verify}. */
@Command(
        name = "verify",
        mixinStandardHelpOptions = true,
        description = {
            "Has the kernel's verifier look at the programs of FILE, attaches nothing, and explains"
                    + " what it refuses: the instruction and its source line, where the register"
                    + " came from, why, and what usually helps. FILE is text as 'asm' reads it, or"
                    + " instructions."
        },
        footer = {
            "",
            "Examples:",
            "  sonde bpf verify filter.asm --type xdp",
            "  sonde bpf verify count.asm --type kprobe --map 3=hash,4,8,1024",
            "  sonde bpf verify next.asm --type tracing --attach tp_btf:sched_switch",
            "  sonde bpf verify filter.bin --log          and the verifier's own words",
            "",
            "Exit status: 0 accepted, 1 refused, 3 the kernel did not look at it, 4 FILE is no"
                    + " program."
        })
final class BpfVerifyCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "text, instructions, or - for standard input")
    private @Nullable Path file;

    @Option(
            names = "--type",
            paramLabel = "TYPE",
            description = "of the program (default ${DEFAULT-VALUE}); 'sonde bpf feature' has all")
    private String type = "socket_filter";

    @Option(
            names = "--attach",
            paramLabel = "KIND:NAME",
            description = "what it is for: tp_btf, fentry, fexit, fmod_ret, lsm or iter")
    private @Nullable String attach;

    @Option(
            names = "--map",
            paramLabel = "N=TYPE,KEY,VALUE,ENTRIES",
            description = "a map for map[fd:N], made for the time being")
    private @Nullable List<String> maps;

    @Option(names = "--sleepable", description = "it may sleep (BPF_F_SLEEPABLE)")
    private boolean sleepable;

    @Option(
            names = "--license",
            paramLabel = "TEXT",
            description = "of the program (default ${DEFAULT-VALUE})")
    private String license = "GPL";

    @Option(names = "--log", description = "print the verifier's log too")
    private boolean log;

    @Option(names = "--json", description = "as JSON")
    private boolean json;

    BpfVerifyCommand() {
        // picocli fills the options
    }

    @Override
    public Integer call() throws Exception {
        Path from = Objects.requireNonNull(file);
        List<BpfPrograms.Named> programs = BpfPrograms.read(from, programType());
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        PrintWriter out = spec.commandLine().getOut();
        boolean refused = false;
        try (BpfLoadable loadable = BpfLoadable.of(maps, attach, spec.commandLine())) {
            for (BpfPrograms.Named one : programs) {
                ProgramSpec asked =
                        loadable.prepare(one.spec())
                                .with(sleepable ? ProgramSpec.SLEEPABLE : 0)
                                .licensed(license)
                                .with(
                                        log
                                                ? ProgramSpec.Log.EVERYTHING
                                                : ProgramSpec.Log.STATISTICS);
                Map<String, @Nullable Object> row = verify(one, asked, out);
                refused |= Boolean.FALSE.equals(row.get("accepted"));
                rows.add(row);
            }
        }
        if (json) {
            out.print(BpfJson.of(rows));
        }
        out.flush();
        return refused ? ExitCode.NEGATIVE : ExitCode.DONE;
    }

    private ProgramType programType() {
        for (ProgramType one : ProgramType.values()) {
            if (one.kernelName().equals(type)) {
                return one;
            }
        }
        throw new ParameterException(
                spec.commandLine(),
                "no type of program is called " + type + "; 'sonde bpf feature' lists them");
    }

    private Map<String, @Nullable Object> verify(
            BpfPrograms.Named one, ProgramSpec asked, PrintWriter out) throws IOException {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("name", one.name());
        row.put("type", asked.type().kernelName());
        try (Program program = Program.load(asked)) {
            Statistics statistics = VerifierLog.read(program.log()).statistics();
            ProgramFacts facts = program.facts();
            row.put("accepted", true);
            row.put("insns", (long) asked.code().words().length);
            row.put("bytes_xlated", (long) facts.translatedBytes());
            row.put("bytes_jited", (long) facts.jitedBytes());
            row.put("statistics", tree(statistics));
            if (log) {
                row.put("log", program.log());
            }
            if (!json) {
                accepted(one, asked, statistics, facts, program.log(), out);
            }
        } catch (VerifierException e) {
            Explanation explanation =
                    one.sources().isEmpty()
                            ? e.explanation()
                            : Explainer.explain(e.log(), asked.code(), one.sources());
            row.put("accepted", false);
            row.put("insns", (long) asked.code().words().length);
            row.put("explanation", tree(explanation));
            row.put("statistics", tree(explanation.statistics()));
            if (log) {
                row.put("log", e.log());
            }
            if (!json) {
                refused(one, asked, explanation, e.log(), out);
            }
        }
        return row;
    }

    private void accepted(
            BpfPrograms.Named one,
            ProgramSpec asked,
            Statistics statistics,
            ProgramFacts facts,
            String raw,
            PrintWriter out) {
        out.printf("%s: accepted as %s%n", one.name(), asked.type().kernelName());
        out.printf(
                "  instructions  %d, looked at %s times (of at most %s)%n",
                asked.code().words().length,
                count(statistics.processed()),
                count(statistics.limit()));
        out.printf(
                "  states        %s kept, %s at a time, %s at one instruction%n",
                count(statistics.totalStates()),
                count(statistics.peakStates()),
                count(statistics.maxStates()));
        if (!statistics.stackBytes().isEmpty()) {
            out.printf("  stack         %s bytes%n", stack(statistics));
        }
        if (statistics.micros() >= 0) {
            out.printf("  time          %d us%n", statistics.micros());
        }
        out.printf(
                "  in the kernel %d bytes, as machine code %d%n",
                facts.translatedBytes(), facts.jitedBytes());
        raw(raw, out);
    }

    private static String stack(Statistics statistics) {
        return String.join(" + ", statistics.stackBytes().stream().map(String::valueOf).toList());
    }

    private static String count(long number) {
        return number < 0 ? "?" : Long.toString(number);
    }

    private void refused(
            BpfPrograms.Named one,
            ProgramSpec asked,
            Explanation explanation,
            String raw,
            PrintWriter out) {
        out.printf("%s: refused as %s%n", one.name(), asked.type().kernelName());
        explanation.lines().forEach(line -> out.println(Escape.line(line)));
        raw(raw, out);
    }

    private void raw(String text, PrintWriter out) {
        if (log) {
            out.println();
            text.lines().forEach(line -> out.println(Escape.line(line)));
        }
    }

    private static Map<String, @Nullable Object> tree(Statistics statistics) {
        Map<String, @Nullable Object> tree = new LinkedHashMap<>();
        tree.put("processed_insns", known(statistics.processed()));
        tree.put("insns_limit", known(statistics.limit()));
        tree.put("max_states_per_insn", known(statistics.maxStates()));
        tree.put("total_states", known(statistics.totalStates()));
        tree.put("peak_states", known(statistics.peakStates()));
        tree.put("verification_time_us", known(statistics.micros()));
        tree.put("stack_bytes", statistics.stackBytes());
        return tree;
    }

    private static @Nullable Long known(long number) {
        return number < 0 ? null : number;
    }

    private static Map<String, @Nullable Object> tree(Explanation one) {
        Map<String, @Nullable Object> tree = new LinkedHashMap<>();
        tree.put("id", one.id());
        tree.put("cause", one.cause());
        tree.put("remedy", one.remedy());
        tree.put("message", one.message());
        tree.put("insn", one.slot() < 0 ? null : (Object) (long) one.slot());
        tree.put("disasm", one.instruction());
        place(tree, one.source());
        tree.put("register", one.register());
        List<Map<String, @Nullable Object>> history = new ArrayList<>();
        for (HistoryStep step : one.history()) {
            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            row.put("insn", step.slot() < 0 ? null : (Object) (long) step.slot());
            row.put("disasm", step.instruction());
            place(row, step.source());
            row.put("what", step.what());
            row.put("state", step.state());
            history.add(row);
        }
        tree.put("history", history);
        return tree;
    }

    /** Keys as bpftool's {@code linum} dumps have them. */
    private static void place(Map<String, @Nullable Object> row, @Nullable SourceLine line) {
        if (line != null) {
            row.put("src", line.text());
            row.put("file_name", line.file());
            row.put("line_num", (long) line.line());
        }
    }
}
