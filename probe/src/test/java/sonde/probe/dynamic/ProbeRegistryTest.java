package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProbeRegistryTest {
    private static final int THREADS = 4;
    private static final int EACH = 25;

    @TempDir Path folder;

    private static ProbeDefinition definition(String name) {
        return new ProbeDefinition('p', "probe", name, name + "+8", List.of(), false, name, "");
    }

    /** A lock of flock(2) is of the open file: threads stand for processes. */
    @Test
    void severalMayWriteAtOnce() throws InterruptedException {
        Path file = folder.resolve("sonde/probes");
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            String of = "of" + i + "_";
            threads.add(
                    Thread.ofPlatform()
                            .start(() -> {
                                for (int k = 0; k < EACH; k++) {
                                    new ProbeRegistry(file).add(definition(of + k), "line\t" + k);
                                }
                            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(new ProbeRegistry(file).read())
                .hasSize(THREADS * EACH)
                .containsEntry("probe:of3_7 of3_7+8", "line 7");
        assertThat(folder.resolve("sonde")).isDirectoryContaining("glob:**/probes");
        assertThat(folder.resolve("sonde").toFile().list()).hasSize(1);
        new ProbeRegistry(file).remove("probe:of3_7");
        assertThat(new ProbeRegistry(file).read()).hasSize(THREADS * EACH - 1);
    }
}
