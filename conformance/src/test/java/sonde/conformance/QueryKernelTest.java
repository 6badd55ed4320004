package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code sonde query} as its user runs it, over a recording made here. */
@Tag("kernel")
final class QueryKernelTest {
    @TempDir private static Path folder;

    private static Recorded recorded;

    @BeforeAll
    static void record() throws Exception {
        String work = "ls -R /usr/include | sort | head -5; sleep 0.05; cat /etc/hostname";
        recorded = Recorded.record(folder, "work", "--", "sh", "-c", work);
    }

    private static Sonde.Outcome query(String... rest) throws Exception {
        List<String> words = new ArrayList<>(List.of("query", recorded.bundle.toString()));
        words.addAll(List.of(rest));
        return Sonde.in(folder).run(words.toArray(String[]::new));
    }

    private static List<Json> rows(String sql) throws Exception {
        Sonde.Outcome answer = query("--format", "json", sql);
        assertThat(answer.status()).as("%s", answer).isZero();
        return answer.out().lines().map(QueryKernelTest::parse).toList();
    }

    private static Json parse(String line) {
        try {
            return Json.parse(line);
        } catch (java.io.IOException e) {
            throw new AssertionError(line, e);
        }
    }

    @Test
    void threadsHaveTheTimesOfTheReport() throws Exception {
        Map<String, List<Long>> expected = new TreeMap<>();
        for (Json row : Recorded.rows(recorded.report("--threads", "--rows", "1000"), "threads")) {
            expected.put(
                    row.text("thread") + " " + row.number("tid"),
                    List.of(
                            row.number("user") + row.number("kernel"),
                            row.number("kernel"),
                            row.number("waiting"),
                            row.number("preempted"),
                            row.number("sleeping"),
                            row.number("blocked")));
        }
        Map<String, List<Long>> found = new TreeMap<>();
        for (Json row :
                rows(
                        "SELECT t.name, t.tid, sum(dur) FILTER (state = 'Running') AS running,"
                                + " sum(kernel_dur) AS kernel,"
                                + " sum(dur) FILTER (state = 'R') AS waiting,"
                                + " sum(dur) FILTER (state = 'R+') AS preempted,"
                                + " sum(dur) FILTER (state = 'S') AS sleeping,"
                                + " sum(dur) FILTER (state = 'D') AS blocked"
                                + " FROM thread_state JOIN thread t USING (utid) GROUP BY t.utid,"
                                + " t.name, t.tid")) {
            List<Long> times = new ArrayList<>();
            for (String column :
                    List.of("running", "kernel", "waiting", "preempted", "sleeping", "blocked")) {
                times.add(row.has(column) ? row.number(column) : 0);
            }
            found.put(row.text("name") + " " + row.number("tid"), times);
        }
        assertThat(found).isNotEmpty().isEqualTo(expected);
    }

    @Test
    void callsHaveTheTotalsOfTheReport() throws Exception {
        Map<String, List<Long>> expected = new TreeMap<>();
        List<Json> calls =
                Recorded.rows(recorded.report("--syscalls", "--rows", "1000"), "system_calls");
        for (Json row : calls) {
            if (row.number("count") > 0) {
                expected.put(
                        row.text("call"),
                        List.of(row.number("count"), row.number("total"), row.number("max")));
            }
        }
        Map<String, List<Long>> found = new TreeMap<>();
        for (Json row :
                rows(
                        "SELECT name, count(*) AS calls, sum(dur) AS total, max(dur) AS longest"
                                + " FROM slice WHERE category = 'syscall' AND dur >= 0 GROUP BY"
                                + " name")) {
            found.put(
                    row.text("name"),
                    List.of(row.number("calls"), row.number("total"), row.number("longest")));
        }
        assertThat(found).isNotEmpty().isEqualTo(expected);
    }

    @Test
    void countsAreThoseOfTheReportWithAndWithoutTheIndex() throws Exception {
        Map<String, Long> expected = new TreeMap<>();
        for (Json row : Recorded.rows(recorded.report("--stats", "--rows", "1000"), "events")) {
            expected.merge(row.text("event").replaceFirst(":", "."), row.number("rows"), Long::sum);
        }
        String sql = "SELECT name, count(*) AS n FROM events GROUP BY name";
        for (int i = 0; i < 2; i++) {
            Map<String, Long> found = new TreeMap<>();
            rows(sql).forEach(row -> found.put(row.text("name"), row.number("n")));
            assertThat(found).isEqualTo(expected);
        }
    }

    @Test
    void everyQueryOfTheLibraryRunsOrNamesWhatItLacks() throws Exception {
        Sonde.Outcome list = query("--list");
        assertThat(list.out().lines()).hasSizeGreaterThanOrEqualTo(10);
        for (String line : list.out().lines().toList()) {
            Sonde.Outcome answer = query("--run", line.split(" ")[0]);
            if (answer.status() != 0) {
                assertThat(answer.err()).contains("does not exist");
            }
        }
    }

    @Test
    void wrongStatementsAreToldInTwoLines() throws Exception {
        Sonde.Outcome syntax = query("SELECT 1 FROMM events");
        assertThat(syntax.status()).isEqualTo(2);
        // A busy machine may have lost events, which is said first.
        assertThat(syntax.err().replaceAll("sonde: .* (?:were lost|stacks are cut) .*\n", ""))
                .contains("Parser Error")
                .contains("line 1")
                .hasLineCount(2);
        Sonde.Outcome table = query("SELECT * FROM sched_swich");
        assertThat(table.status()).isEqualTo(2);
        assertThat(table.err()).contains("sched.sched_switch");
        Sonde.Outcome file = query("SELECT * FROM read_text('/etc/shadow')");
        assertThat(file.status()).isEqualTo(2);
        assertThat(file.out()).isEmpty();
    }

    @Test
    void filesAreWrittenWhole() throws Exception {
        Path parquet = folder.resolve("out.parquet");
        assertThat(query("-o", parquet.toString(), "SELECT ts, name FROM events").status())
                .isZero();
        byte[] bytes = Files.readAllBytes(parquet);
        assertThat(new String(bytes, 0, 4, java.nio.charset.StandardCharsets.US_ASCII))
                .isEqualTo("PAR1");
        Path csv = folder.resolve("out.csv");
        assertThat(query("-o", csv.toString(), "SELECT 'a,\"b' AS x, NULL AS y").status()).isZero();
        assertThat(csv).hasContent("x,y\n\"a,\"\"b\",\n");
    }

    @Test
    void whatIsNoRecordingIsRefused() throws Exception {
        Path junk = Files.writeString(folder.resolve("junk.dat"), "nothing of the kind");
        Sonde.Outcome answer = Sonde.in(folder).run("query", junk.toString(), "SELECT 1 AS n");
        assertThat(answer.status()).isEqualTo(4);
    }
}
