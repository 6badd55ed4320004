package sonde.probe.plan;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the kernel has to probe its functions with. */
public final class FunctionProbes {
    private static final Path EVENT_SOURCE = Path.of("/sys/bus/event_source/devices/kprobe/type");
    private static final Path TRACING = Path.of("/sys/kernel/tracing");

    private FunctionProbes() {}

    /** Whether it has kprobes and kretprobes: CONFIG_KPROBE_EVENTS. */
    public static boolean haveKprobes() {
        return Files.exists(EVENT_SOURCE) || Files.exists(TRACING.resolve("kprobe_events"));
    }

    /** Whether it calls programs and tracers at its functions: CONFIG_FUNCTION_TRACER. */
    public static boolean haveTracer() {
        Path functions = TRACING.resolve("available_filter_functions");
        try (InputStream in = Files.newInputStream(functions)) {
            return in.read() >= 0;
        } catch (IOException e) {
            return false; // not compiled in, or closed to all
        }
    }
}
