package sonde.probe.plan;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import sonde.sys.Errno;

/** What the kernel has to probe its functions with. */
public final class FunctionProbes {
    private static final Path EVENT_SOURCE = Path.of("/sys/bus/event_source/devices/kprobe/type");
    private static final Path TRACING = Path.of("/sys/kernel/tracing");
    static final Path FUNCTIONS = TRACING.resolve("available_filter_functions");

    private FunctionProbes() {}

    /** Whether it has kprobes and kretprobes: CONFIG_KPROBE_EVENTS. */
    public static boolean haveKprobes() {
        return Files.exists(EVENT_SOURCE) || Files.exists(TRACING.resolve("kprobe_events"));
    }

    /** Whether it calls programs and tracers at its functions. */
    public static boolean haveTracer() {
        return whyNoTracer(FUNCTIONS).isEmpty();
    }

    /** Why the kernel calls no programs at its functions, by its list of them; empty if it does. */
    static String whyNoTracer(Path functions) {
        try (InputStream in = Files.newInputStream(functions)) {
            return in.read() >= 0 ? "" : functions + " is empty";
        } catch (NoSuchFileException e) {
            return "this kernel is built without CONFIG_DYNAMIC_FTRACE";
        } catch (AccessDeniedException e) {
            return functions + ": " + Errno.describe(Errno.EACCES);
        } catch (IOException e) {
            String reason = e instanceof FileSystemException file ? file.getReason() : null;
            return functions + ": " + (reason == null ? e.getMessage() : reason);
        }
    }
}
