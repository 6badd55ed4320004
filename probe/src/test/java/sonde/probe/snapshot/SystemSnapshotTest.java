package sonde.probe.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Lane;
import sonde.event.Recording;

class SystemSnapshotTest {
    private static final int OWN = (int) ProcessHandle.current().pid();

    private interface Rows {
        void accept(Batch batch, int row, EventType type) throws IOException;
    }

    private static void each(List<Integer> pids, Rows rows) throws IOException {
        try (Recording now = SystemSnapshot.of(pids);
                Lane lane = now.lanes().getFirst()) {
            for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                for (int row = 0; row < batch.size(); row++) {
                    rows.accept(batch, row, batch.source().types().get(batch.type(row)));
                }
            }
        }
    }

    @Test
    void aProcessHasItsStateAndItsMappings() throws IOException {
        Set<String> starts = new HashSet<>();
        each(
                List.of(OWN),
                (batch, row, type) -> {
                    assertThat(batch.pid(row)).isEqualTo(OWN);
                    switch (type.qualifiedName()) {
                        case "proc:process" -> {
                            assertThat(type.string("name").of(batch, row)).isEqualTo("java");
                            assertThat(type.string("state").of(batch, row)).matches("[RSD]");
                            assertThat(type.string("command_line").of(batch, row)).contains("java");
                            assertThat(type.integer("resident_bytes").of(batch, row))
                                    .isBetween(1L << 24, 1L << 36);
                            assertThat(type.integer("threads").of(batch, row)).isGreaterThan(5);
                            assertThat(type.integer("ppid").of(batch, row))
                                    .isEqualTo(
                                            ProcessHandle.current().parent().orElseThrow().pid());
                        }
                        case "proc:mapping" -> {
                            String path = type.string("path").of(batch, row);
                            long start = type.integer("start").of(batch, row);
                            assertThat(type.integer("end").of(batch, row)).isGreaterThan(start);
                            starts.add(Long.toHexString(start) + " " + path);
                        }
                        default -> assertThat(type.name()).isEqualTo("comm");
                    }
                });
        List<String> java =
                Files.readAllLines(Path.of("/proc/self/maps")).stream()
                        .filter(line -> line.endsWith("/libjvm.so"))
                        .map(line -> line.replaceFirst("^0*([0-9a-f]+)-.* (/.*)", "$1 $2"))
                        .toList();
        assertThat(starts).containsAll(java).anyMatch(start -> start.endsWith("[stack]"));
        assertThat(java).isNotEmpty();
    }

    @Test
    void theSystemHasAllProcessesAndModules() throws IOException {
        Set<Long> pids = new HashSet<>();
        Set<String> modules = new HashSet<>();
        each(
                List.of(),
                (batch, row, type) -> {
                    if (type.name().equals("process")) {
                        pids.add(type.integer("pid").of(batch, row));
                    } else if (type.name().equals("module")) {
                        modules.add(type.string("name").of(batch, row));
                    }
                });
        assertThat(pids).contains(1L, (long) OWN);
        Set<String> stated = new HashSet<>();
        Path file = Path.of("/proc/modules");
        if (Files.exists(file)) {
            Files.readAllLines(file).forEach(line -> stated.add(line.split(" ")[0]));
        }
        assertThat(modules).isEqualTo(stated);
    }

    @Test
    void aProcessThatIsNotThereIsAnError() {
        assertThatThrownBy(() -> SystemSnapshot.of(List.of(Integer.MAX_VALUE)))
                .isInstanceOf(IOException.class)
                .hasMessage("there is no process 2147483647");
    }
}
