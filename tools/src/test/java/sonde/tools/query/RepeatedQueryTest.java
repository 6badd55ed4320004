package sonde.tools.query;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import sonde.event.result.LiveResult;
import sonde.symbol.files.GivenPlaces;
import sonde.view.CsvRenderer;

class RepeatedQueryTest {
    private static final long OWN = ProcessHandle.current().pid();
    private static final List<Path> PROC = List.of(Path.of("proc:" + OWN));

    @Test
    void eachTurnReadsTheSystemAnew() throws IOException {
        String sql = "SELECT pid, user_ns + system_ns AS ns, ts FROM \"proc.process\"";
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (RepeatedQuery query = new RepeatedQuery(PROC, GivenPlaces.NONE, sql, 1, 3)) {
            new CsvRenderer().render(new LiveResult("", query), out);
        }
        List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
        assertThat(lines).hasSize(6).filteredOn(line -> line.equals("pid,ns,ts")).hasSize(3);
        assertThat(lines.get(1)).startsWith(OWN + ",");
        assertThat(lines).filteredOn(line -> line.startsWith(OWN + ",")).doesNotHaveDuplicates();
    }

    @Test
    void theEndDoesNotWaitForTheNextTurn() throws IOException {
        long hour = TimeUnit.HOURS.toNanos(1);
        try (RepeatedQuery query =
                new RepeatedQuery(PROC, GivenPlaces.NONE, "SELECT 1", hour, Long.MAX_VALUE)) {
            assertThat(query.next()).isNotNull();
            query.end();
            assertThat(query.next()).isNull();
        }
    }
}
