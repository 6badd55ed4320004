package sonde.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.analysis.CountedThreads;
import sonde.analysis.stack.ProcessSymbols;
import sonde.event.result.Frame;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;
import sonde.store.RecordingStore.StoreOptions;
import sonde.store.derive.DerivedTable;
import sonde.store.derive.TraceInput;
import sonde.store.duckdb.QueryRows;
import sonde.store.duckdb.SqlException;
import sonde.symbol.ProcessMaps;

/** Statements over recordings made by rule. */
final class RecordingStoreTest {
    private static final int TURNS = 5000;

    @TempDir Path folder;

    static TraceInput input(SampleRecording recording, long shift) {
        return new TraceInput(
                "sample",
                List.of(recording),
                shift,
                CountedThreads.everything(),
                Map.of(),
                null,
                List.of(new RecordedLoss("sample", "", 0, RecordingMeta.LossKind.RING_FULL, 12)),
                type -> false,
                type -> false,
                number -> "call" + number,
                () -> new ProcessSymbols(new ProcessMaps(), at -> Frame.label("f" + at)),
                () -> {
                    throw new AssertionError("no statement asks for incidents");
                });
    }

    private RecordingStore open(SampleRecording... recordings) throws IOException {
        List<TraceInput> inputs = new ArrayList<>();
        for (SampleRecording one : recordings) {
            inputs.add(input(one, inputs.isEmpty() ? 0 : 500));
        }
        return RecordingStore.open(inputs, new StoreOptions(500, folder, List.of(), null));
    }

    static List<List<@Nullable Object>> rows(RecordingStore store, String sql) throws IOException {
        List<List<@Nullable Object>> all = new ArrayList<>();
        try (QueryRows rows = store.query(sql)) {
            for (int size = rows.next(); size > 0; size = rows.next()) {
                for (int row = 0; row < size; row++) {
                    @Nullable Object[] values = new Object[rows.columns().size()];
                    for (int i = 0; i < values.length; i++) {
                        values[i] = rows.value(i, row);
                    }
                    all.add(Arrays.asList(values));
                }
            }
        }
        return all;
    }

    @Test
    void everyEventIsARow() throws IOException {
        try (RecordingStore store = open(new SampleRecording(TURNS))) {
            assertThat(
                            rows(
                                    store,
                                    "SELECT name, count(*), min(ts) FROM events GROUP BY 1 ORDER BY 1"))
                    .containsExactly(
                            List.of("app.odd", 1L, 1_000_400L),
                            List.of("raw_syscalls.sys_enter", 2L * TURNS, 1_000_200L),
                            List.of("raw_syscalls.sys_exit", 2L * TURNS, 1_000_300L),
                            List.of("sched.sched_switch", 2L * TURNS, 1_000_000L));
        }
    }

    @Test
    void fieldsKeepTheirValues() throws IOException {
        try (RecordingStore store = open(new SampleRecording(TURNS))) {
            assertThat(
                            rows(
                                    store,
                                    "SELECT cpu, prev_comm, next_comm, next_pid, count(*)"
                                            + " FROM \"sched.sched_switch\" GROUP BY ALL"
                                            + " ORDER BY ALL LIMIT 1"))
                    .containsExactly(List.of(0L, "t10", "thread number 11", 11L, (long) TURNS / 2));
            assertThat(rows(store, "SELECT * EXCLUDE (utid) FROM \"app.odd\""))
                    .containsExactly(
                            List.of(
                                    1_000_400L,
                                    1L,
                                    21L,
                                    7L,
                                    new java.math.BigInteger("18446744073709551615"),
                                    0.5,
                                    "grün",
                                    "sample",
                                    0L));
        }
    }

    @Test
    void onlyWhatIsNamedIsDecoded() throws IOException {
        try (RecordingStore store = open(new SampleRecording(TURNS))) {
            rows(store, "SELECT sum(next_pid) FROM \"sched.sched_switch\" WHERE cpu = 0");
            assertThat(store.decoded())
                    .isEqualTo(
                            Map.of(
                                    "sched.sched_switch",
                                    Map.of("cpu", 2L * TURNS, "next_pid", 2L * TURNS)));
        }
    }

    @Test
    void statesAddUpToTheTimeThereWas() throws IOException {
        try (RecordingStore store = open(new SampleRecording(TURNS))) {
            assertThat(
                            rows(
                                    store,
                                    "SELECT tid, sum(dur) FROM thread_state JOIN thread USING"
                                            + " (utid) WHERE state = 'Running' GROUP BY 1 ORDER"
                                            + " BY 1"))
                    .hasSize(4)
                    .allSatisfy(row ->
                            assertThat((Long) row.get(1))
                                    .isBetween(TURNS * 500L - 1000, TURNS * 500L + 1000));
            assertThat(rows(store, "SELECT count(*), min(dur), max(dur), min(ret) FROM slice"))
                    .containsExactly(List.of(2L * TURNS, 100L, 100L, -11L));
        }
    }

    @Test
    void aThreadIsTheSameInEveryTable() throws IOException {
        try (RecordingStore store = open(new SampleRecording(50))) {
            assertThat(
                            rows(
                                    store,
                                    "SELECT count(*) FROM events e JOIN thread t USING (utid)"
                                            + " WHERE e.tid = t.tid"))
                    .isEqualTo(rows(store, "SELECT count(*) FROM events"));
        }
    }

    @Test
    void tablesThatTheInputCannotFillAreEmpty() throws IOException {
        try (RecordingStore store = open(new SampleRecording(2))) {
            for (DerivedTable table : DerivedTable.values()) {
                assertThat(rows(store, "SELECT count(*) FROM \"" + table.table() + '"')).hasSize(1);
            }
            assertThat(rows(store, "SELECT * FROM packet")).isEmpty();
        }
    }

    @Test
    void severalTracesShareTheAxis() throws IOException {
        try (RecordingStore store = open(new SampleRecording(2), new SampleRecording(2))) {
            assertThat(rows(store, "SELECT trace_id, min(ts) FROM events GROUP BY 1 ORDER BY 1"))
                    .containsExactly(List.of(0L, 1_000_000L), List.of(1L, 1_000_500L));
            assertThat(rows(store, "SELECT count(DISTINCT utid), count(*) FROM thread"))
                    .containsExactly(List.of(10L, 10L));
        }
    }

    @Test
    void statementsReachNoFiles() throws IOException {
        try (RecordingStore store = open(new SampleRecording(2))) {
            for (String sql :
                    List.of(
                            "SELECT * FROM read_text('/etc/passwd')",
                            "SELECT * FROM '/etc/passwd'",
                            "COPY (SELECT 1) TO '/tmp/sonde-should-not-be'",
                            "ATTACH '/tmp/sonde-should-not-be.db'",
                            "SET enable_external_access = true",
                            "SET lock_configuration = false",
                            "INSTALL httpfs",
                            "LOAD '/tmp/x.duckdb_extension'")) {
                assertThatThrownBy(() -> rows(store, sql)).isInstanceOf(SqlException.class);
            }
        }
    }

    @Test
    void macrosReadTheTablesTheyNeed() throws IOException {
        try (RecordingStore store = open(new SampleRecording(3))) {
            assertThat(rows(store, "SELECT overlap_dur(0, 10, 5, 10), spans_overlap(0, 5, 5, 5)"))
                    .containsExactly(List.of(5L, false));
            assertThat(rows(store, "SELECT count(*) FROM ancestor_slice(1)"))
                    .containsExactly(List.of(0L));
        }
    }

    @Test
    void whatWasReadIsKeptAndADamagedIndexIsMadeAgain() throws IOException {
        String sql = "SELECT cpu, sum(next_pid) FROM \"sched.sched_switch\" GROUP BY 1 ORDER BY 1";
        SampleRecording recording = new SampleRecording(110_000);
        Path kept = folder.resolve("index");
        List<List<@Nullable Object>> cold;
        try (RecordingStore store = kept(recording, kept)) {
            cold = rows(store, sql);
            store.keep();
        }
        assertThat(kept.resolve("manifest")).exists();
        try (RecordingStore store = kept(recording, kept)) {
            assertThat(rows(store, sql)).isEqualTo(cold);
            assertThat(store.decoded().get("sched.sched_switch")).isEmpty();
        }
        try (java.util.stream.Stream<Path> files = java.nio.file.Files.list(kept)) {
            for (Path file : files.filter(one -> one.toString().endsWith(".parquet")).toList()) {
                java.nio.file.Files.write(file, new byte[100]);
            }
        }
        try (RecordingStore store = kept(recording, kept)) {
            assertThat(rows(store, sql)).isEqualTo(cold);
        }
    }

    private RecordingStore kept(SampleRecording recording, Path index) throws IOException {
        return RecordingStore.open(
                List.of(input(recording, 0)), new StoreOptions(500, folder, List.of(), index));
    }
}
