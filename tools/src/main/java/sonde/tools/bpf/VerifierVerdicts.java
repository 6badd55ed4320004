package sonde.tools.bpf;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.Program;
import sonde.bpf.ProgramFacts;
import sonde.bpf.ProgramType;
import sonde.bpf.VerifierException;
import sonde.bpf.verifier.Explanation;
import sonde.bpf.verifier.HistoryStep;
import sonde.bpf.verifier.SourceLine;
import sonde.bpf.verifier.VerifierLog;
import sonde.bpf.verifier.VerifierStatistics;
import sonde.tools.bpf.VerifyRecipe.VerifyOutcome;
import sonde.view.TextEscape;

/** What the verifier says of programs, one after the other. */
final class VerifierVerdicts {
    private final boolean log;
    private final @Nullable PrintWriter out;
    private final List<Map<String, @Nullable Object>> rows = new ArrayList<>();
    private boolean refused;
    private boolean unseen;

    /**
     * @param log whether the verifier's own words are shown
     * @param out gets lines for people at once; null for rows alone
     */
    VerifierVerdicts(boolean log, @Nullable PrintWriter out) {
        this.log = log;
        this.out = out;
    }

    /** One row a program. */
    List<Map<String, @Nullable Object>> rows() {
        return rows;
    }

    VerifyOutcome outcome() {
        return refused
                ? VerifyOutcome.REFUSED
                : unseen ? VerifyOutcome.UNSEEN : VerifyOutcome.ACCEPTED;
    }

    private Map<String, @Nullable Object> row(String name, String type, boolean accepted) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("name", name);
        if (!type.isEmpty()) {
            row.put("type", type);
        }
        row.put("accepted", accepted);
        rows.add(row);
        return row;
    }

    /** A program that is loaded, with the log it was asked for. */
    void accepted(String name, Program program) throws IOException {
        VerifierStatistics statistics = VerifierLog.read(program.log()).statistics();
        ProgramFacts facts = program.facts();
        String type = ProgramType.nameOf(facts.type());
        Map<String, @Nullable Object> row = row(name, type, true);
        row.put("insns", (long) program.slots());
        row.put("bytes_xlated", (long) facts.translatedBytes());
        row.put("bytes_jited", (long) facts.jitedBytes());
        row.put("statistics", tree(statistics));
        if (log) {
            row.put("log", program.log());
        }
        if (out == null) {
            return;
        }
        out.printf("%s: accepted as %s%n", TextEscape.line(name), type);
        out.printf(
                "  instructions  %d, looked at %s times (of at most %s)%n",
                program.slots(), count(statistics.processed()), count(statistics.limit()));
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
        raw(out, program.log());
    }

    /** A program that the verifier found fault with. */
    void refused(String name, String type, Explanation explanation, String raw) {
        refused = true;
        Map<String, @Nullable Object> row = row(name, type, false);
        row.put("explanation", tree(explanation));
        row.put("statistics", tree(explanation.statistics()));
        if (log) {
            row.put("log", raw);
        }
        if (out != null) {
            String as = type.isEmpty() ? "" : " as " + type;
            out.printf("%s: refused%s%n", TextEscape.line(name), as);
            explanation.lines().forEach(line -> out.println(TextEscape.line(line)));
            raw(out, raw);
        }
    }

    /** A program that needs what this kernel lacks, at a place that the verifier came to. */
    void missing(String name, @Nullable String problem, VerifierException failure) {
        refused = true;
        Map<String, @Nullable Object> row = row(name, "", false);
        row.put("error", problem);
        row.put("statistics", tree(failure.explanation().statistics()));
        if (log) {
            row.put("log", failure.log());
        }
        if (out != null) {
            out.printf("%s: refused%n%s%n", TextEscape.line(name), TextEscape.line("" + problem));
            raw(out, failure.log());
        }
    }

    /** A program that did not come as far as the verifier. */
    void unseen(String name, String problem) {
        unseen = true;
        row(name, "", false).put("error", problem);
        if (out != null) {
            out.printf("%s: not looked at%n%s%n", TextEscape.line(name), TextEscape.line(problem));
        }
    }

    private void raw(PrintWriter out, String text) {
        if (log) {
            out.println();
            text.lines().forEach(line -> out.println(TextEscape.line(line)));
        }
    }

    private static String stack(VerifierStatistics statistics) {
        return String.join(" + ", statistics.stackBytes().stream().map(String::valueOf).toList());
    }

    private static String count(long number) {
        return number < 0 ? "?" : Long.toString(number);
    }

    private static Map<String, @Nullable Object> tree(VerifierStatistics statistics) {
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
