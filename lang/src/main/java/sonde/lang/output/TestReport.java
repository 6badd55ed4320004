package sonde.lang.output;

import java.util.List;

/** How tests and benchmarks ended, as text. */
final class TestReport {
    private static final String GREEN = "\033[32m";
    private static final String RED = "\033[31m";
    private static final String PLAIN = "\033[0m ";
    private static final int TIME_WIDTH = 15;
    private static final int NAME_WIDTH = 40;
    private static final String ITERATIONS = "Iterations";

    private TestReport() {}

    static void test(
            List<String> all,
            int index,
            long nanos,
            List<Boolean> passed,
            String output,
            TextSink out) {
        if (index == 0) {
            out.put(GREEN + "[==========]" + PLAIN + "Running " + all.size() + " tests.\n");
        }
        out.put(GREEN + "[ RUN      ]" + PLAIN);
        out.foreign(all.get(index));
        out.put('\n');
        if (passed.get(index)) {
            out.put(GREEN + "[       OK ]" + PLAIN);
        } else {
            for (String line : output.split("\n")) {
                if (!line.isEmpty()) {
                    out.put(line);
                    out.put('\n');
                }
            }
            out.put(RED + "[  FAILED  ]" + PLAIN);
        }
        out.foreign(all.get(index));
        out.put(" (" + duration(nanos) + ")\n");
        if (index == all.size() - 1) {
            summary(all, passed, out);
        }
    }

    private static void summary(List<String> all, List<Boolean> passed, TextSink out) {
        int good = 0;
        for (boolean one : passed) {
            good += one ? 1 : 0;
        }
        int bad = passed.size() - good;
        out.put(GREEN + "[==========]" + PLAIN + tests(all.size()) + " ran.\n");
        out.put(GREEN + "[  PASSED  ]" + PLAIN + tests(good) + ".\n");
        if (bad > 0) {
            out.put(RED + "[  FAILED  ]" + PLAIN + tests(bad) + ", listed below:\n");
            for (int i = 0; i < passed.size(); i++) {
                if (!passed.get(i)) {
                    out.put(RED + "[  FAILED  ]" + PLAIN);
                    out.foreign(all.get(i));
                    out.put('\n');
                }
            }
        }
    }

    private static String tests(int count) {
        return count + (count == 1 ? " test" : " tests");
    }

    private static String duration(long nanos) {
        if (nanos >= 1_000_000_000) {
            return nanos / 1_000_000_000 + " s";
        }
        if (nanos >= 1_000_000) {
            return nanos / 1_000_000 + " ms";
        }
        return nanos >= 1_000 ? nanos / 1_000 + " \u03bcs" : nanos + " ns";
    }

    static void benchmark(
            List<String> all, int index, long averageNanos, long iterations, TextSink out) {
        int width = NAME_WIDTH;
        for (String name : all) {
            width = Math.max(width, name.length());
        }
        width++;
        if (index == 0) {
            row("Benchmark", width, "Time(ns)", ITERATIONS, out);
            out.fill('-', width + TIME_WIDTH + ITERATIONS.length());
            out.put('\n');
        }
        row(all.get(index), width, Long.toString(averageNanos), Long.toString(iterations), out);
    }

    private static void row(String name, int width, String time, String count, TextSink out) {
        int start = out.size();
        out.foreign(name);
        out.fill(' ', start + width - out.size());
        start = out.size();
        out.put(time);
        out.fill(' ', start + TIME_WIDTH - out.size());
        out.put(count);
        out.put('\n');
    }
}
