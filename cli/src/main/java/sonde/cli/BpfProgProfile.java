package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.bpf.Program;
import sonde.bpf.ProgramFacts;
import sonde.bpf.RunStatistics;

/** {@code sonde bpf prog profile}: runs and their time over a while. */
final class BpfProgProfile {
    private BpfProgProfile() {}

    static int run(List<Program> programs, long nanos, boolean json, PrintWriter out)
            throws IOException, InterruptedException {
        List<Map<String, Object>> rows = new ArrayList<>();
        try (RunStatistics _ = RunStatistics.open()) {
            List<ProgramFacts> before = facts(programs);
            long start = System.nanoTime();
            Thread.sleep(nanos / 1_000_000, (int) (nanos % 1_000_000));
            long took = System.nanoTime() - start;
            List<ProgramFacts> after = facts(programs);
            for (int i = 0; i < programs.size(); i++) {
                rows.add(row(before.get(i), after.get(i), took));
            }
        }
        if (json) {
            out.print(BpfJson.of(rows));
        } else {
            for (Map<String, Object> row : rows) {
                row.forEach((key, value) ->
                        out.printf("%-20s %s%n", key, sonde.view.Escape.line("" + value)));
                out.println();
            }
        }
        out.flush();
        return ExitCode.DONE;
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
