package sonde.tools.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import sonde.tools.kernel.MemoryLeak.LeakGroup;

class MemoryLeakTest {
    /** Forms of Linux 5.x (with an age), 6.1 and 6.10 (a checksum, no addresses). */
    private static final String TEXT =
            """
            unreferenced object 0x82d43100 (size 64):
              comm "insmod", pid 140, jiffies 4294943424 (age 270.420s)
              hex dump (first 32 bytes):
                b4 bb e1 8f c8 a4 e1 8f 8c ce e1 8f 88 c6 e1 8f  ................
              backtrace:
                [<(ptrval)>] slab_post_alloc_hook+0xa8/0x1b8
                [<1836406b>] kmem_cache_alloc_trace+0xb8/0x104
                [<89fff56d>] leaky_init+0x38/0x60 [leaky]
            unreferenced object 0xffff888003eb8580 (size 32):
              comm "a "b" (c)", pid 53, jiffies 4294896292
              hex dump (first 32 bytes):
                6c 65 61 6b 65 64 2d 6e 6f 64 65 00 00 00 00 00  leaked-node.....
              backtrace (crc 9a8b7c6d):
                kmalloc_trace+0x26/0xc0
                leak+0x2e/0x5d [sondebug]
            unreferenced object 0x82d43200 (size 64):
              comm "insmod", pid 141, jiffies 4294943424 (age 1.002s)
              backtrace:
                [<(ptrval)>] slab_post_alloc_hook+0xa8/0x1b8
                [<1836406c>] kmem_cache_alloc_trace+0xb8/0x104
                [<89fff56e>] leaky_init+0x38/0x60 [leaky]
            unreferenced object 0x1 (size 8):
            """;

    @Test
    void formsOfAllKernelsAreRead() {
        List<MemoryLeak> leaks = MemoryLeak.parse(TEXT);
        assertThat(leaks).hasSize(4);
        assertThat(leaks.getFirst().ageMillis()).isEqualTo(270_420);
        assertThat(leaks.get(1))
                .isEqualTo(
                        new MemoryLeak(
                                "0xffff888003eb8580",
                                32,
                                "a \"b\" (c)",
                                53,
                                0,
                                List.of("kmalloc_trace+0x26/0xc0", "leak+0x2e/0x5d [sondebug]")));
        assertThat(leaks.getLast().stack()).isEmpty();
        assertThat(MemoryLeak.parse("")).isEmpty();
        assertThat(MemoryLeak.parse("\0garbage\nunreferenced object\n")).isEmpty();
    }

    @Test
    void equalStacksAreOneRowAndTheAllocatorIsNotBlamed() {
        List<LeakGroup> groups = MemoryLeak.groups(MemoryLeak.parse(TEXT));
        assertThat(groups).hasSize(3);
        assertThat(groups.getFirst().leaks()).hasSize(2);
        assertThat(groups.getFirst().bytes()).isEqualTo(128);
        assertThat(groups.getFirst().culprit()).isEqualTo("leaky_init+0x38/0x60 [leaky]");
        assertThat(groups.getLast().culprit()).isEmpty();
    }

    @Test
    void aRealReportIsGrouped() throws IOException {
        String corpus =
                System.getProperty(
                        "sonde.corpus", System.getenv().getOrDefault("SONDE_CORPUS", ""));
        Path file = Path.of(corpus, "kernel/dbg61/G/kmemleak.txt");
        Assumptions.assumeTrue(Files.exists(file), "no corpus");
        String text = Files.readString(file);
        List<MemoryLeak> leaks = MemoryLeak.parse(text);
        assertThat(leaks).hasSize((int) text.lines().filter(l -> l.startsWith("unref")).count());
        assertThat(leaks).allMatch(one -> !one.stack().isEmpty() && !one.comm().isEmpty());
        List<LeakGroup> groups = MemoryLeak.groups(leaks);
        assertThat(groups.stream().mapToLong(one -> one.leaks().size()).sum())
                .isEqualTo(leaks.size());
        // The module leaks five nodes of a list by one call.
        assertThat(groups)
                .anyMatch(one -> one.culprit().startsWith("leak+") && one.leaks().size() == 5);
        assertThat(groups).allMatch(one -> !one.culprit().startsWith("k"));
    }
}
