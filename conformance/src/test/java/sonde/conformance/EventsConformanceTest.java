package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The events of a bundle against {@code trace-cmd report} and {@code perf script} of its parts. */
@Tag("product")
@Tag("tracefs")
class EventsConformanceTest {
    private static final Pattern LINE =
            Pattern.compile("\\s*(.*)-(\\d+)\\s+\\[(\\d+)\\]\\s+([\\d.]+): (\\S+): +(.*)");
    private static final Pattern SAMPLE =
            Pattern.compile(
                    "\\s*(.*?)\\s+(\\d+)\\s+\\[(\\d+)\\]\\s+([\\d.]+):\\s+(\\d+)\\s+"
                            + "cpu-clock:\\s+([0-9a-f]+).*");

    @TempDir private static Path folder;

    private record Line(int tid, int cpu, String time, String event, String text) {}

    private static List<Line> ours = List.of();
    private static String listing = "";

    @BeforeAll
    static void record() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/mem")), "recording everything needs root");
        assumeTrue(has("trace-cmd") && has("perf"), "no trace-cmd or no perf here");
        Sonde.Outcome recorded =
                Sonde.in(folder).run("record", "-o", "r", "--", "sh", "-c", "ls -lR /etc | wc -c");
        assertThat(recorded.status()).as("%s", recorded).isZero();
        Sonde.Outcome shown = Sonde.in(folder).run("report", "--events", "r.sonde");
        assertThat(shown.status()).as("%s", shown).isZero();
        assertThat(shown.err()).isEmpty();
        listing = shown.out();
        ours = lines(listing);
    }

    private static boolean has(String tool) {
        return Files.isExecutable(Path.of("/usr/bin", tool));
    }

    private static String shell(String script) throws Exception {
        Sonde.Outcome outcome = Sonde.in(folder).execute(List.of("/bin/sh", "-c", script));
        assertThat(outcome.status()).as("%s", outcome).isZero();
        return outcome.out();
    }

    private static List<Line> lines(String text) {
        List<Line> lines = new ArrayList<>();
        for (String line : text.lines().toList()) {
            Matcher found = LINE.matcher(line);
            if (found.matches()) {
                lines.add(
                        new Line(
                                Integer.parseInt(found.group(2)),
                                Integer.parseInt(found.group(3)),
                                found.group(4),
                                found.group(5),
                                found.group(6)));
            }
        }
        return lines;
    }

    private static <T> Map<T, Integer> counted(List<T> all) {
        Map<T, Integer> counts = new HashMap<>();
        all.forEach(each -> counts.merge(each, 1, Integer::sum));
        return counts;
    }

    /** Threads that were made while recording: all they did is the tree's. */
    private static Set<Integer> children() {
        Set<Integer> tids = new HashSet<>();
        for (Line line : ours) {
            if (line.event.equals("sched_process_fork")) {
                tids.add(Integer.parseInt(line.text.replaceFirst(".* child_pid=(\\d+).*", "$1")));
            }
        }
        return tids;
    }

    @Test
    void everyLineOfTheTreeIsTraceCmds() throws Exception {
        List<Line> theirs = lines(shell("trace-cmd report r.sonde/trace.dat"));
        Map<Line, Integer> left = counted(theirs);
        Set<String> events = new HashSet<>();
        theirs.forEach(line -> events.add(line.event));
        assertThat(events).contains("sys_enter", "sys_exit");
        int same = 0;
        for (Line line : ours) {
            // What trace.dat does not have stands in perf.data.
            if (events.contains(line.event)) {
                assertThat(left.merge(line, -1, Integer::sum)).as("%s", line).isNotNegative();
                same++;
            }
        }
        assertThat(same).isGreaterThan(10_000);
        Set<Integer> children = children();
        assertThat(children).hasSizeGreaterThanOrEqualTo(2);
        left.forEach((line, count) -> {
            if (children.contains(line.tid) && count > 0) {
                assertThat(line).as("missing from the listing").isNull();
            }
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-N", "-R", "-t"})
    void aTraceDatByItselfReadsAsWithTraceCmd(String option) throws Exception {
        String theirs = shell("trace-cmd report " + option + " r.sonde/trace.dat | grep -v ^cpus=");
        List<String> arguments = new ArrayList<>(List.of("report", "--events"));
        if (!option.isEmpty()) {
            arguments.add(option);
        }
        arguments.add("r.sonde/trace.dat");
        Sonde.Outcome shown = Sonde.in(folder).run(arguments.toArray(String[]::new));
        assertThat(shown.out().lines().sorted())
                .containsExactlyElementsOf(theirs.lines().sorted().toList());
    }

    @Test
    void everySampleOfTheTreeIsPerfs() throws Exception {
        String script =
                shell(
                        "perf script -i r.sonde/perf.data -G -F comm,tid,cpu,time,event,period,ip"
                                + " 2>/dev/null; true");
        Set<Integer> children = children();
        List<String> theirs = new ArrayList<>();
        for (String line : script.lines().toList()) {
            Matcher found = SAMPLE.matcher(line);
            if (found.matches() && children.contains(Integer.parseInt(found.group(2)))) {
                theirs.add(found.group(2) + " " + found.group(5) + " " + found.group(6));
            }
        }
        List<String> samples = new ArrayList<>();
        for (Line line : ours) {
            if (line.event.equals("cpu-clock") && children.contains(line.tid)) {
                String[] words = line.text.split(" ");
                samples.add(line.tid + " " + words[0] + " " + words[1]);
            }
        }
        assertThat(samples).isNotEmpty().containsExactlyElementsOf(theirs);
    }

    @Test
    void timesAscendAndJsonHasTheSameRows() throws Exception {
        double last = 0;
        for (Line line : ours) {
            double time = Double.parseDouble(line.time);
            assertThat(time).isGreaterThanOrEqualTo(last);
            last = time;
        }
        String json = Sonde.in(folder).run("report", "--events", "--json", "r.sonde").out();
        assertThat(json.lines())
                .hasSameSizeAs(listing.lines().toList())
                .allMatch(line -> line.startsWith("{\"time\":") && line.endsWith("}}"));
    }

    @Test
    void filtersNarrow() throws Exception {
        List<Line> systemCalls =
                ours.stream().filter(line -> line.event.startsWith("sys_e")).toList();
        Line some = systemCalls.get(systemCalls.size() / 2);
        String tid = String.valueOf(some.tid);
        String out =
                Sonde.in(folder)
                        .run(
                                "report",
                                "--events",
                                "--thread",
                                tid,
                                "--event",
                                "sys_enter",
                                "--event",
                                "raw_syscalls:sys_ex*",
                                "r.sonde")
                        .out();
        List<Line> wanted = systemCalls.stream().filter(line -> line.tid == some.tid).toList();
        assertThat(lines(out)).isNotEmpty().isEqualTo(wanted);
        String calls =
                Sonde.in(folder)
                        .run("report", "--events", "--comm", "l?", "--event", "sys_*", "r.sonde")
                        .out();
        assertThat(calls.lines()).isNotEmpty().allMatch(line -> line.startsWith("ls-", 14));
        // By itself it tells names as they come.
        String alone =
                Sonde.in(folder)
                        .run("report", "--events", "--comm", "ls", "r.sonde/perf.data")
                        .out();
        assertThat(alone.lines().filter(line -> !line.isBlank() && line.charAt(0) != '\t'))
                .isNotEmpty()
                .allMatch(line -> line.strip().startsWith("ls ") || line.contains("comm=ls"));
    }

    @Test
    void aClosedPipeEndsItQuietly() throws Exception {
        String script =
                "{ '"
                        + Sonde.ROOT
                        + "/sonde' report --events r.sonde; echo $? >st; }"
                        + " 2>err | head -1 >/dev/null; cat st err";
        assertThat(shell(script)).isEqualTo("0\n");
    }
}
