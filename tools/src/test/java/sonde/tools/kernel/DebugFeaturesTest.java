package sonde.tools.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.Table;

class DebugFeaturesTest {
    @TempDir private Path root;

    @BeforeEach
    void release() throws IOException {
        file("/proc/sys/kernel/osrelease", "6.1.7-test\n");
    }

    private void file(String path, String text) throws IOException {
        Path file = root.resolve(path.substring(1));
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private List<Object> row(String name) {
        Table table = (Table) DebugFeatures.examine(new KernelFiles(root)).sections().getFirst();
        return table.rows().stream()
                .filter(row -> name.equals(row.getFirst()))
                .findFirst()
                .orElseThrow();
    }

    private Object state(String name) {
        return row(name).get(1);
    }

    @Test
    void withoutConfigurationAndSymbolsNothingIsClaimed() {
        assertThat(state("KASAN")).isEqualTo("unknown");
        assertThat(state("kmemleak")).isEqualTo("unknown");
        assertThat(state("tracer function")).isEqualTo("unknown");
        assertThat(row("KASAN").get(2)).isEqualTo("KASAN");
    }

    @Test
    void symbolsTellWhereTheyAreNeitherStaticNorInlined() throws IOException {
        file("/proc/kallsyms", "0 T kasan_report\n0 t other\n0 T register_kprobe\n");
        assertThat(state("KASAN")).isEqualTo("on");
        assertThat(state("kprobes")).isEqualTo("built in");
        assertThat(state("kmemleak")).isEqualTo("absent");
        assertThat(state("UBSAN")).isEqualTo("unknown"); // UBSAN_TRAP has no such symbols
    }

    @Test
    void theConfigurationTellsWhatIsAbsent() throws IOException {
        file(
                "/boot/config-6.1.7-test",
                "CONFIG_KASAN=y\nCONFIG_KASAN_GENERIC=y\n# CONFIG_KCSAN is not set\n"
                        + "CONFIG_DEBUG_KMEMLEAK=y\nCONFIG_DEBUG_KMEMLEAK_DEFAULT_OFF=y\n");
        assertThat(row("KASAN").subList(1, 3)).isEqualTo(List.of("on", "KASAN=y KASAN_GENERIC=y"));
        assertThat(state("KCSAN")).isEqualTo("absent");
        assertThat(state("kmemleak")).isEqualTo("off");
        file("/proc/cmdline", "kmemleak=on\n");
        assertThat(state("kmemleak")).isEqualTo("on");
    }

    @Test
    void theConfigurationOfTheRunningKernelCountsFirst() throws IOException {
        file("/boot/config-6.1.7-test", "CONFIG_KASAN=y\n");
        Files.createDirectories(root.resolve("proc"));
        try (OutputStream out =
                new GZIPOutputStream(Files.newOutputStream(root.resolve("proc/config.gz")))) {
            out.write("CONFIG_KGDB=y\n".getBytes(StandardCharsets.US_ASCII));
        }
        assertThat(state("KASAN")).isEqualTo("absent");
        assertThat(state("KGDB")).isEqualTo("built in");
        file("/sys/module/kgdboc/parameters/kgdboc", "\n");
        assertThat(state("KGDB")).isEqualTo("off");
        file("/sys/module/kgdboc/parameters/kgdboc", "ttyS0,115200\n");
        assertThat(state("KGDB")).isEqualTo("on");
    }

    @Test
    void whatSwitchedItselfOffIsOff() throws IOException {
        file("/proc/lockdep_stats", " lock-classes:  900 [max: 8192]\n debug_locks:   1\n");
        assertThat(state("lockdep")).isEqualTo("on");
        file("/proc/lockdep_stats", " lock-classes:  900 [max: 8192]\n debug_locks:   0\n");
        assertThat(state("lockdep")).isEqualTo("off");
        file("/proc/sys/kernel/hung_task_timeout_secs", "120\n");
        file("/proc/sys/kernel/hung_task_warnings", "0\n");
        assertThat(state("hung tasks")).isEqualTo("off");
        assertThat(row("hung tasks").get(3)).asString().endsWith("all warnings are used up");
        file("/sys/kernel/debug/failslab/probability", "0\n");
        file("/sys/kernel/debug/fail_futex/probability", "10\n");
        assertThat(state("fault injection")).isEqualTo("on");
    }

    @Test
    void tracersAreThoseThatTracefsLists() throws IOException {
        file("/sys/kernel/tracing/available_tracers", "hwlat function nop\n");
        file("/sys/kernel/tracing/current_tracer", "hwlat\n");
        assertThat(state("tracer hwlat")).isEqualTo("on");
        assertThat(state("tracer function")).isEqualTo("built in");
        assertThat(state("tracer function_graph")).isEqualTo("absent");
    }

    /** A kernel with sanitizers, and its own list of symbols. */
    @Test
    void aDebugKernelsConfigurationAndSymbolsAgree() throws Exception {
        String corpus =
                System.getProperty(
                        "sonde.corpus", System.getenv().getOrDefault("SONDE_CORPUS", ""));
        Path config = Path.of(corpus, "kernel/dbg61/A/config.txt");
        Assumptions.assumeTrue(Files.exists(config), "no corpus");
        file("/proc/kallsyms", symbols(Path.of(corpus, "kernel/dbg61/A/kallsyms.txt.zst")));
        Map<Object, Object> bySymbols = states();
        file("/boot/config-6.1.7-test", Files.readString(config));
        Map<Object, Object> byConfiguration = states();
        assertThat(byConfiguration)
                .containsEntry("KMSAN", "absent")
                .containsEntry("fault injection", "absent")
                .containsEntry("lockdep", "built in")
                .containsEntry("kmemleak", "on");
        assertThat(bySymbols).containsEntry("lockdep", "built in");
        bySymbols.forEach((feature, state) -> {
            if (!state.equals("unknown")) {
                boolean absent = byConfiguration.get(feature).equals("absent");
                assertThat(state.equals("absent")).as(feature + " " + state).isEqualTo(absent);
            }
        });
    }

    private Map<Object, Object> states() {
        Table table = (Table) DebugFeatures.examine(new KernelFiles(root)).sections().getFirst();
        Map<Object, Object> states = new HashMap<>();
        table.rows().forEach(row -> states.put(row.get(0), row.get(1)));
        return states;
    }

    private static String symbols(Path packed) throws Exception {
        Process zstd = new ProcessBuilder("zstd", "-dc", packed.toString()).start();
        byte[] text = zstd.getInputStream().readAllBytes();
        Assumptions.assumeTrue(zstd.waitFor() == 0, "zstd is missing");
        return new String(text, StandardCharsets.ISO_8859_1);
    }

    @Test
    void fentryIsOffWhereTheKernelKeepsItsListOfFunctionsClosed() throws IOException {
        file("/proc/kallsyms", "0 T register_ftrace_direct\n");
        assertThat(state("fentry")).isEqualTo("built in");
        String list = "/sys/kernel/tracing/available_filter_functions";
        file(list, "");
        assertThat(row("fentry").subList(1, 4)).contains("off", list + " is empty");
        Files.delete(root.resolve(list.substring(1)));
        Files.createDirectory(root.resolve(list.substring(1))); // read(2) fails, as under lockdown
        assertThat(state("fentry")).isEqualTo("off");
    }
}
