package sonde.probe.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import sonde.recording.bundle.RecordingMeta;

/** Descriptors of processes of ours, which are allowed to look at themselves. */
class DescriptorTablesTest {
    private static final long SECOND = 1_000_000_000L;

    private static Map<Integer, String> of(
            List<RecordingMeta.Descriptors> tables, Process process) {
        return tables.stream()
                .filter(table -> table.pid() == process.pid())
                .findFirst()
                .orElseThrow()
                .targets();
    }

    @Test
    void bothEndsOfAPipeHaveOneName() throws Exception {
        List<Process> pipeline =
                ProcessBuilder.startPipeline(
                        List.of(
                                new ProcessBuilder("sleep", "20"),
                                new ProcessBuilder("sleep", "21")));
        Process writer = pipeline.getFirst();
        Process reader = pipeline.getLast();
        try {
            List<Integer> both = List.of((int) writer.pid(), (int) reader.pid());
            DescriptorTables.Taken taken = DescriptorTables.take(both, false, 5 * SECOND);
            assertThat(taken.left()).isZero();
            String name = of(taken.tables(), writer).get(1);
            assertThat(name).matches("pipe:\\[\\d+\\] of \\d+:\\d+");
            assertThat(of(taken.tables(), reader)).containsEntry(0, name);

            List<Integer> one = List.of((int) reader.pid());
            taken = DescriptorTables.take(one, false, 5 * SECOND);
            assertThat(of(taken.tables(), reader).get(0))
                    .as("the holder outside the listed")
                    .endsWith(" of " + writer.pid() + ":1");
        } finally {
            pipeline.forEach(Process::destroyForcibly);
        }
    }

    @Test
    void whatThereIsNoTimeForIsCounted() {
        int own = (int) ProcessHandle.current().pid();
        DescriptorTables.Taken taken = DescriptorTables.take(List.of(own, 1), false, -SECOND);
        assertThat(taken.tables()).isEmpty();
        assertThat(taken.left()).isEqualTo(2);
    }

    @Test
    void everybodyIsAllButThisProcess() {
        assertThat(DescriptorTables.everybody())
                .contains(1)
                .doesNotContain((int) ProcessHandle.current().pid());
    }
}
