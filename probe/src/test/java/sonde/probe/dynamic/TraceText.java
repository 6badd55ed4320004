package sonde.probe.dynamic;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** An instance of tracefs that records probes while something runs. */
final class TraceText implements AutoCloseable {
    private static final Path ROOT = Path.of("/sys/kernel/tracing");

    private final Path instance;

    TraceText(String name) throws IOException {
        instance = ROOT.resolve("instances/sonde-test-" + name);
        if (!Files.isDirectory(instance)) {
            Files.createDirectory(instance);
        }
    }

    static boolean isThere() {
        return Files.isWritable(ROOT.resolve("dynamic_events"))
                || Files.isWritable(ROOT.resolve("uprobe_events"));
    }

    static boolean hasKernelProbes() {
        return Files.isWritable(ROOT.resolve("kprobe_events"));
    }

    void enable(String event, boolean on) throws IOException {
        write("events/" + event.replace(':', '/') + "/enable", on ? "1" : "0");
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(instance.resolve(file), text, StandardOpenOption.WRITE);
    }

    List<String> lines() throws IOException {
        return Files.readString(instance.resolve("trace"))
                .lines()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }

    @Override
    public void close() throws IOException {
        write("events/enable", "0");
        Files.delete(instance);
    }
}
