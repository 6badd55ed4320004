package sonde.tools.bpf;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.bpf.Program;
import sonde.bpf.ProgramFacts;
import sonde.bpf.RunStatistics;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.view.TextEscape;

/** {@code sonde bpf prog profile}: runs and their time over a while. */
public final class ProgramProfile {
    private ProgramProfile() {}

    /** Waits that long. */
    public static Result of(List<Program> programs, long nanos) throws IOException {
        List<Map<String, Object>> rows = new ArrayList<>();
        try (RunStatistics _ = RunStatistics.open()) {
            List<ProgramFacts> before = facts(programs);
            long start = System.nanoTime();
            MapRecipe.sleep(nanos);
            long took = System.nanoTime() - start;
            List<ProgramFacts> after = facts(programs);
            for (int i = 0; i < programs.size(); i++) {
                rows.add(row(before.get(i), after.get(i), took));
            }
        }
        return Document.of(
                rows,
                Listing.ofLines(out -> {
                    for (Map<String, Object> row : rows) {
                        row.forEach((key, value) ->
                                out.printf("%-20s %s%n", key, TextEscape.line("" + value)));
                        out.println();
                    }
                }));
    }

    private static List<ProgramFacts> facts(List<Program> programs) throws IOException {
        List<ProgramFacts> all = new ArrayList<>();
        for (Program program : programs) {
            all.add(program.facts());
        }
        return all;
    }

    private static Map<String, Object> row(ProgramFacts before, ProgramFacts after, long took) {
        long runs = after.runCount() - before.runCount();
        long nanos = after.runNanos() - before.runNanos();
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", (long) after.id());
        row.put("name", after.name());
        row.put("duration_ns", took);
        row.put("run_cnt", runs);
        row.put("run_time_ns", nanos);
        row.put("recursion_misses", after.missed() - before.missed());
        if (runs > 0) {
            row.put("ns_per_run", nanos / runs);
        }
        row.put("cpu_percent", Math.round(nanos * 10000.0 / took) / 100.0);
        return row;
    }
}
