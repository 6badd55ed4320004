package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** perf and trace-cmd read our files without a word on stderr and count what we count. */
@Tag("kernel")
class PeersTest {
    private static final Pattern STAT_LINE = Pattern.compile("^\\s+([A-Z_0-9]+) events:\\s+(\\d+)");
    private static final Pattern EVENT_HEAD = Pattern.compile("^(\\S.*) stats:$");

    @TempDir Path folder;
    private Recorded recorded;

    @BeforeEach
    void recordAPipeline() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/perf")), "needs perf");
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/trace-cmd")), "needs trace-cmd");
        recorded =
                Recorded.record(
                        folder,
                        "peers",
                        "--",
                        "sh",
                        "-c",
                        "seq 1 300000 | sort -r >sorted; dd if=sorted of=copy oflag=direct bs=4k"
                                + " conv=sync 2>/dev/null; true");
        assertThat(recorded.outcome.status()).as("%s", recorded.outcome).isZero();
    }

    @Test
    void perfReadsPerfData() throws Exception {
        String data = recorded.file("perf.data");
        assertThat(recorded.tool("perf", "script", "--no-inline", "-i", data))
                .contains("sort", "sched_switch");
        String header = recorded.tool("perf", "script", "-i", data, "--header-only");
        assertThat(header)
                .contains("# hostname :", "# os release :", "# arch :", "# nrcpus online :")
                .contains(
                        "# cmdline :",
                        "# time of first sample",
                        "# clockid: monotonic",
                        "cpu-clock");
        assertThat(recorded.tool("perf", "script", "--header", "-G", "-i", data))
                .contains("# clockid frequency:", "sort");
        assertThat(recorded.tool("perf", "buildid-list", "-i", data))
                .containsPattern("(?m)^[0-9a-f]{40} .*libc")
                .containsPattern("(?m)^[0-9a-f]{40} \\[kernel");
        assertStatsAgree(recorded.tool("perf", "report", "--stats", "-i", data));
    }

    /** perf's number of samples of each event, and of records of each kind, against ours. */
    private void assertStatsAgree(String stats) throws Exception {
        Map<String, Long> ours = new HashMap<>();
        for (Json row : eventRows("perf.data")) {
            String event = row.text("event");
            ours.merge(event.substring(event.indexOf(':') + 1), row.number("rows"), Long::sum);
        }
        Map<String, Long> theirs = new HashMap<>();
        String head = "";
        for (String line : stats.lines().toList()) {
            Matcher event = EVENT_HEAD.matcher(line);
            if (event.find()) {
                head = event.group(1).replaceFirst(".*:", "");
            }
            Matcher count = STAT_LINE.matcher(line);
            if (count.find()) {
                boolean samples = count.group(1).equals("SAMPLE");
                String key =
                        samples ? head : head.equals("Aggregated") ? count.group(1) : "ignored";
                theirs.put(key, Long.parseLong(count.group(2)));
            }
        }
        for (String event : List.of("sched_switch", "cpu-clock", "page-faults")) {
            assertThat(theirs.get(event)).as("%s in %s", event, stats).isPositive();
            assertThat(ours.get(event)).as(event).isEqualTo(theirs.get(event));
        }
        for (String record : List.of("MMAP2", "COMM", "FORK", "EXIT")) {
            String name = record.toLowerCase(java.util.Locale.ROOT);
            Long counted =
                    theirs.entrySet().stream()
                            .filter(entry -> entry.getKey().equals(record))
                            .map(Map.Entry::getValue)
                            .findFirst()
                            .orElseGet(() -> aggregated(stats, record));
            assertThat(ours.get(name)).as(name).isEqualTo(counted);
        }
    }

    private static long aggregated(String stats, String record) {
        Matcher line = Pattern.compile("\\s" + record + " events:\\s+(\\d+)").matcher(stats);
        assertThat(line.find()).as("%s in %s", record, stats).isTrue();
        return Long.parseLong(line.group(1));
    }

    private List<Json> eventRows(String source) throws Exception {
        List<Json> rows = Recorded.rows(recorded.report("--stats", "--rows", "500"), "events");
        return rows.stream().filter(row -> row.text("source").contains(source)).toList();
    }

    @Test
    void traceCmdReadsTraceDat() throws Exception {
        Map<String, Long> theirs = recorded.traceCounts();
        Map<String, Long> ours = new HashMap<>();
        for (Json row : eventRows("trace.dat")) {
            String event = row.text("event");
            ours.merge(event.substring(event.indexOf(':') + 1), row.number("rows"), Long::sum);
        }
        assertThat(ours).isEqualTo(theirs);
        assertThat(theirs).containsKeys("sys_enter", "sched_process_exec", "block_rq_issue");
        String stat =
                recorded.tool("trace-cmd", "report", "--stat", "-i", recorded.file("trace.dat"));
        assertThat(stat).contains("Kernel buffer statistics", "dropped events: 0");
    }
}
