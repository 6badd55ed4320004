package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A recording that {@code ./sonde record} left, read by its report and by the classic tools. */
final class Recorded {
    private static final Pattern TRACE_LINE =
            Pattern.compile("(?m)^.*?\\s\\[\\d+\\]\\s+[\\d.]+:\\s+(\\w+):\\s");

    final Path bundle;
    final Sonde.Outcome outcome;
    private final Sonde sonde;

    private Recorded(Path bundle, Sonde.Outcome outcome, Sonde sonde) {
        this.bundle = bundle;
        this.outcome = outcome;
        this.sonde = sonde;
    }

    /** Records into NAME.sonde of that folder; options and command follow. */
    static Recorded record(Path folder, String name, String... rest) throws Exception {
        Sonde sonde = Sonde.in(folder);
        List<String> words = new ArrayList<>(List.of("record", "--no-summary", "-o", name));
        words.addAll(List.of(rest));
        Sonde.Outcome outcome = sonde.run(words.toArray(String[]::new));
        Path bundle = folder.resolve(name + ".sonde");
        assertThat(bundle).as("%s", outcome).isDirectory();
        return new Recorded(bundle, outcome, sonde);
    }

    /** A bundle that is there. */
    static Recorded of(Path bundle) {
        return new Recorded(
                bundle,
                new Sonde.Outcome(0, "", ""),
                Sonde.in(bundle.toAbsolutePath().getParent()));
    }

    Json meta() throws IOException {
        return Json.parse(Files.readString(bundle.resolve("meta.json")));
    }

    /** {@code sonde report BUNDLE --json OPTIONS}. */
    Json report(String... options) throws Exception {
        List<String> words = new ArrayList<>(List.of("report", bundle.toString(), "--json"));
        words.addAll(List.of(options));
        Sonde.Outcome report = sonde.run(words.toArray(String[]::new));
        assertThat(report.status()).as("%s", report.err()).isZero();
        return Json.parse(report.out());
    }

    /** Rows of a table of the report. */
    List<Json> rows(String option, String section) throws Exception {
        return rows(report(option), section);
    }

    /** Rows of a table of a report that is there. */
    static List<Json> rows(Json report, String section) {
        return report.object("sections").object(section).objects("rows");
    }

    /** Sum of a column over the rows that fit. */
    static long sum(List<Json> rows, String column, Predicate<Json> wanted) {
        return rows.stream().filter(wanted).mapToLong(row -> row.number(column)).sum();
    }

    /** What meta.json says was lost of a source (perf.data, trace.dat), by kind. */
    Map<String, Long> losses(String source) throws IOException {
        Map<String, Long> sums = new TreeMap<>();
        for (Json loss : meta().objects("losses")) {
            if (loss.text("source").equals(source)) {
                sums.merge(loss.text("kind"), loss.number("count"), Long::sum);
            }
        }
        return sums;
    }

    /** Another tool's answer about a file of the bundle; nothing may stand on its stderr. */
    String tool(String... command) throws Exception {
        Sonde.Outcome answer = sonde.execute(List.of(command));
        assertThat(answer.status()).as("%s: %s", List.of(command), answer.err()).isZero();
        assertThat(answer.err()).as("stderr of %s", List.of(command)).isEmpty();
        return answer.out();
    }

    /** {@code trace-cmd report}. */
    String traceReport() throws Exception {
        return tool("trace-cmd", "report", "-i", file("trace.dat"));
    }

    String file(String name) {
        return bundle.resolve(name).toString();
    }

    /** Events of trace.dat by name, all buffers, as trace-cmd reads them. */
    Map<String, Long> traceCounts() throws Exception {
        return counts(traceReport());
    }

    /** Events by name in what trace-cmd report printed. */
    static Map<String, Long> counts(String report) {
        Map<String, Long> counts = new TreeMap<>();
        Matcher line = TRACE_LINE.matcher(report);
        while (line.find()) {
            counts.merge(line.group(1), 1L, Long::sum);
        }
        return counts;
    }

    /** Nodes of a call tree as paths of names, root first, with what {@code use} makes of them. */
    static void walk(Json tree, TreeVisit visit) {
        walk(tree.object("root"), new ArrayList<>(), visit);
    }

    private static void walk(Json node, List<String> path, TreeVisit visit) {
        path.add(node.text("name"));
        visit.node(List.copyOf(path), node);
        for (Json child : node.objects("children")) {
            walk(child, path, visit);
        }
        path.removeLast();
    }

    /** Sees a node of a call tree. */
    interface TreeVisit {
        void node(List<String> path, Json node);
    }

    /** Sum of "self" over the nodes whose path holds all names in that order. */
    static long selfUnder(Json tree, String... names) {
        long[] sum = {0};
        walk(
                tree,
                (path, node) -> {
                    int found = 0;
                    for (String step : path) {
                        if (found < names.length && step.equals(names[found])) {
                            found++;
                        }
                    }
                    if (found == names.length) {
                        sum[0] += node.number("self");
                    }
                });
        return sum[0];
    }
}
