package sonde.bpf.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An object of gcc, whose version 12 writes types that the kernel refuses. */
@Tag("kernel")
final class GccObjectKernelTest {
    private static final Path COMPILER = Path.of("/usr/bin/bpf-gcc");

    private static final String SOURCE =
            """
            #define SEC(name) __attribute__((section(name), used))
            static void *(*lookup)(void *, const void *) = (void *) 1;
            struct {
                int (*type)[2];
                int (*max_entries)[1];
                unsigned *key;
                unsigned long *value;
            } counts SEC(".maps");
            int hits = 3;
            SEC("raw_tp/sys_enter")
            int count(void *ctx)
            {
                unsigned key = 0;
                unsigned long *value = lookup(&counts, &key);
                if (value)
                    *value += 1;
                hits++;
                return 0;
            }
            char LICENSE[] SEC("license") = "GPL";
            """;

    @Test
    void mapsAndVariablesOfGccWork(@TempDir Path folder) throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(COMPILER), "apt-get install gcc-bpf");
        Path source = Files.writeString(folder.resolve("g.bpf.c"), SOURCE);
        Path made = folder.resolve("g.bpf.o");
        Process gcc =
                new ProcessBuilder(
                                COMPILER.toString(),
                                "-O2",
                                "-gbtf",
                                "-c",
                                source.toString(),
                                "-o",
                                made.toString())
                        .inheritIO()
                        .start();
        assertThat(gcc.waitFor()).isZero();
        try (LoadedObject object = ObjectFile.read(made).load()) {
            object.attach();
            for (int i = 0; i < 20; i++) {
                Files.readAllBytes(Path.of("/proc/self/comm"));
            }
            assertThat(object.globals(".data").number("hits")).isGreaterThan(3);
            assertThat(object.map("counts").spec().valueBytes()).isEqualTo(8);
        }
    }
}
