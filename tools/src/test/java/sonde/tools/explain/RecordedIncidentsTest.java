package sonde.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.IncidentList;
import sonde.event.result.TimelineLanes.MarkLane;
import sonde.open.ReportSource;
import sonde.testkit.RingPage;
import sonde.testkit.TraceDatBytes;
import sonde.tools.query.OutputFormat;
import sonde.tools.query.QueryRecipe;
import sonde.tools.report.ReportOptions;
import sonde.tools.report.ReportRecipe;
import sonde.tools.report.ReportRecipe.ReportPage;
import sonde.tools.report.section.ReportSections;

/** Incidents of the kernel's log in recordings. */
class RecordedIncidentsTest {
    private static final int CONSOLE = 99;
    private static final long START = 5_000_000_000L;

    /** Two tasks report at the same time; the thread of each event keeps them apart. */
    private static final List<String> PRINTED =
            List.of(
                    "7 BUG: kernel NULL pointer dereference, address: 0000000000000050",
                    "9 BUG: scheduling while atomic: heron/9/0x00000002",
                    "7 #PF: supervisor read access in kernel mode",
                    "7 Oops: 0000 [#1] SMP",
                    "9 CPU: 0 PID: 9 Comm: heron Not tainted 6.6.9-pond #1",
                    "7 CPU: 1 PID: 7 Comm: fisher Not tainted 6.6.9-pond #1",
                    "9 Call Trace:",
                    "7 RIP: 0010:pond_read+0x4a/0x90 [pond]",
                    "9  reed_wave+0x14/0x30 [reed]",
                    "7 Call Trace:\n vfs_read+0x1b1/0x710",
                    "9  schedule+0x1/0x9",
                    // In older kernels the event has what goes to the console, with its time.
                    "7 [    5.000900] ---[ end trace 0000000000000000 ]---",
                    "8 duck[8]: segfault at 10 ip 0000000000400101 sp 00007ffc0 error 4 in duck[4000+1]");

    @TempDir Path folder;

    private Path traceDat() throws IOException {
        TraceDatBytes trace =
                new TraceDatBytes(ByteOrder.LITTLE_ENDIAN, 8)
                        .event(
                                "printk",
                                "console",
                                CONSOLE,
                                "\tfield:__data_loc char[] msg;\toffset:8;\tsize:4;\tsigned:0;\n");
        RingPage page = new RingPage(ByteOrder.LITTLE_ENDIAN, 8, TraceDatBytes.PAGE, START);
        for (String line : PRINTED) {
            byte[] text = (line.substring(2) + "\0").getBytes(StandardCharsets.UTF_8);
            byte[] padded = java.util.Arrays.copyOf(text, (text.length + 3) / 4 * 4);
            byte[] event =
                    trace.bytes()
                            .u16(CONSOLE)
                            .u8(0)
                            .u8(0)
                            .u32(line.charAt(0) - '0')
                            .u32(text.length << 16 | 12)
                            .raw(padded)
                            .toBytes();
            page.longEvent(1_000, event);
        }
        return Files.write(folder.resolve("t.dat"), trace.cpu(page.toBytes()).version7(false));
    }

    private static String query(Path file, String sql) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (QueryRecipe recipe = QueryRecipe.open(List.of(file), null, false)) {
            recipe.run(sql, OutputFormat.CSV, out);
        }
        return out.toString(StandardCharsets.UTF_8).replace("\r\n", "\n");
    }

    @Test
    void eventsOfTheConsoleAreRowsOfSql() throws IOException {
        assertThat(
                        query(
                                traceDat(),
                                "SELECT id, ts, dur, severity, is_fault, identity, function, module,"
                                        + " task, pid, kernel, after_id, thread_tid FROM"
                                        + " (SELECT i.*, t.tid AS thread_tid FROM log_incident i"
                                        + " JOIN thread t USING (utid)) ORDER BY id"))
                .isEqualTo(
                        """
                        id,ts,dur,severity,is_fault,identity,function,module,task,pid,kernel,after_id,thread_tid
                        1,5000001000,11000,fatal,true,BUG: unable to handle kernel NULL pointer dereference in pond_read,pond_read,pond,fisher,7,6.6.9-pond,,7
                        2,5000002000,9000,error,true,BUG: scheduling while atomic in reed_wave,reed_wave,reed,heron,9,6.6.9-pond,1,9
                        3,5000013000,0,notice,false,segfault of duck in duck,,,duck,8,,,8
                        """);
    }

    @Test
    void reportAndTimelineShowThem() throws IOException {
        try (ReportSource source = ReportSource.open(traceDat())) {
            ReportPage page =
                    new ReportRecipe(ReportOptions.of(ReportSections.named("incidents")))
                            .page(source);
            assertThat(page.report().answer())
                    .singleElement()
                    .asString()
                    .startsWith("The kernel reported 2 faults")
                    .contains("#1, BUG: unable to handle kernel NULL pointer dereference in pond");
            assertThat(page.report().sections())
                    .singleElement()
                    .isInstanceOfSatisfying(
                            IncidentList.class, list -> assertThat(list.shown().rows()).hasSize(3));
            List<MarkLane> lanes =
                    page.timeline().lanes().marks().stream()
                            .filter(lane -> lane.event().startsWith("kernel log: "))
                            .toList();
            assertThat(lanes)
                    .extracting(MarkLane::event)
                    .containsExactly(
                            "kernel log: fatal", "kernel log: error", "kernel log: notice");
            assertThat(lanes.getFirst().time()).containsExactly(START + 1_000);
        }
    }

    @Test
    void aLogIsQueriedAsAFile() throws IOException {
        StringBuilder log = new StringBuilder();
        for (String line : PRINTED.subList(0, PRINTED.size() - 2)) {
            for (String part : line.substring(2).split("\n")) {
                log.append("[    5.000001][    T%c] %s%n".formatted(line.charAt(0), part));
            }
        }
        Path file = Files.writeString(folder.resolve("log.txt"), log);
        assertThat(query(file, "SELECT identity FROM log_incident ORDER BY id"))
                .isEqualTo(
                        """
                        identity
                        BUG: unable to handle kernel NULL pointer dereference in pond_read
                        BUG: scheduling while atomic in reed_wave
                        """);
        assertThat(query(traceDat(), "SELECT count(*) AS lines FROM log"))
                .isEqualTo("lines\n" + PRINTED.size() + "\n");
    }
}
