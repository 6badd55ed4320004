package sonde.conformance.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.event.IntegerField;
import sonde.event.StringField;

/**
 * What only a guest can record: function graphs and kprobes, in the kernel's own buffer, which no
 * product code may touch.
 */
@Tag("inguest")
final class FtraceInGuestTest {
    private static final int OPENS = 40;

    @Test
    void runsOnThePinnedKernel() throws IOException {
        String release = Files.readString(Path.of("/proc/sys/kernel/osrelease")).strip();
        assertThat(release).isEqualTo(System.getProperty("sonde.guest.release"));
    }

    @Test
    void functionGraphsAreRead() throws Exception {
        long function = address("do_sys_openat2");
        RawTrace trace =
                new RawTrace(
                        RawTrace.TRACEFS, "ftrace", List.of("funcgraph_entry", "funcgraph_exit"));
        trace.write("set_graph_function", "do_sys_openat2");
        trace.write("max_graph_depth", "3");
        trace.write("current_tracer", "function_graph");
        try {
            openSomething("/etc/hostname");
            trace.write("tracing_on", "0");
            long[] counts = new long[4];
            var entry = trace.source().type("ftrace", "funcgraph_entry").orElseThrow();
            var exit = trace.source().type("ftrace", "funcgraph_exit").orElseThrow();
            IntegerField entered = entry.integer("func");
            IntegerField left = exit.integer("func");
            trace.forEach((batch, row) -> {
                if (batch.type(row) == entry.id()) {
                    counts[entered.of(batch, row) == function ? 0 : 1]++;
                } else if (batch.type(row) == exit.id()) {
                    counts[left.of(batch, row) == function ? 2 : 3]++;
                }
            });
            assertThat(counts[0]).as("entries of do_sys_openat2").isGreaterThanOrEqualTo(OPENS);
            assertThat(counts[1]).as("entries of what it calls").isGreaterThan(counts[0]);
            // A call under way when tracing began or ended has one side only.
            assertThat(counts[2]).isBetween(counts[0] - 2, counts[0] + 2);
            assertThat(counts[3]).isPositive();
        } finally {
            trace.write("current_tracer", "nop");
            trace.write("set_graph_function", "");
            trace.write("max_graph_depth", "0");
            trace.write("tracing_on", "1");
        }
    }

    @Test
    void kprobesAreRead() throws Exception {
        Path definitions = RawTrace.TRACEFS.resolve("kprobe_events");
        Path instance = RawTrace.TRACEFS.resolve("instances/sonde-guest");
        Files.writeString(
                definitions,
                "p:sonde_guest/opened do_sys_openat2 name=+0($arg2):ustring\n",
                StandardOpenOption.APPEND);
        Files.createDirectory(instance);
        RawTrace trace = new RawTrace(instance, "sonde_guest", List.of("opened"));
        try {
            trace.write("events/sonde_guest/opened/enable", "1");
            openSomething("/etc/hostname");
            trace.write("tracing_on", "0");
            var type = trace.source().type("sonde_guest", "opened").orElseThrow();
            StringField name = type.string("name");
            List<String> names = new ArrayList<>();
            trace.forEach((batch, row) -> {
                assertThat(batch.type(row)).isEqualTo(type.id());
                names.add(name.of(batch, row));
            });
            assertThat(names.stream().filter("/etc/hostname"::equals)).hasSize(OPENS);
        } finally {
            trace.write("events/enable", "0");
            Files.delete(instance);
            Files.writeString(definitions, "-:sonde_guest/opened\n", StandardOpenOption.APPEND);
        }
    }

    private static void openSomething(String path) throws IOException {
        for (int i = 0; i < OPENS; i++) {
            assertThat(Files.readAllBytes(Path.of(path))).isNotEmpty();
        }
    }

    private static long address(String symbol) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/kallsyms"))) {
            if (line.endsWith(" " + symbol)) {
                return Long.parseUnsignedLong(line.substring(0, 16), 16);
            }
        }
        throw new AssertionError("no symbol " + symbol);
    }
}
