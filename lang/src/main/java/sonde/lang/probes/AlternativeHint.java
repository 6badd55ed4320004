package sonde.lang.probes;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a kernel without a kind of probe can be asked instead. */
final class AlternativeHint {
    private static final Path EVENTS = Path.of("/sys/kernel/tracing/events");

    /** What is in front of the name of a system call in the functions that serve it. */
    private static final Pattern CALL =
            Pattern.compile(
                    "(?:__(?:x64|arm64|se|do|ia32)_sys_|do_sys_|ksys_|sys_|vfs_)(\\w{1,64})");

    private static final int MOST = 3;

    private AlternativeHint() {}

    /** Why no probe in a function of the kernel can be had here. */
    static String kprobes(String function) {
        return "this kernel has no kprobes (CONFIG_KPROBE_EVENTS); " + instead(function);
    }

    /** Why no program of fentry or fexit can be loaded here. */
    static String fentry(String function) {
        return "this kernel does not call programs at its functions (fentry needs"
                + " CONFIG_FUNCTION_TRACER, and that nothing forbids it); "
                + instead(function);
    }

    /** Why an event cannot be counted here. */
    static String counter(boolean hardware) {
        return hardware
                ? "this machine has no such hardware counter (virtual machines mostly have none);"
                        + " profile:hz:99 and software:cpu-clock sample by time"
                : "this kernel has no such counter";
    }

    /** Tracepoints that tell of the same as a function. */
    private static String instead(String function) {
        List<String> found = new ArrayList<>();
        Matcher call = CALL.matcher(function);
        if (call.matches() && exists("syscalls", "sys_enter_" + call.group(1))) {
            found.add("tracepoint:syscalls:sys_enter_" + call.group(1));
        }
        for (String group : tracepointGroups()) {
            if (found.size() < MOST && exists(group, function)) {
                found.add("tracepoint:" + group + ":" + function);
            }
        }
        return found.isEmpty()
                ? "sonde trace -l 'tracepoint:*' lists what it has"
                : String.join(", ", found) + (found.size() == 1 ? " is" : " are") + " there";
    }

    /** The groups of tracepoints that the kernel has; empty where they may not be read. */
    static List<String> tracepointGroups() {
        return names(EVENTS);
    }

    /** The tracepoints of a group. */
    static List<String> tracepoints(String group) {
        return group.matches("\\w{1,64}") ? names(EVENTS.resolve(group)) : List.of();
    }

    private static List<String> names(Path folder) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(folder)) {
            all.forEach(one -> names.add(String.valueOf(one.getFileName())));
        } catch (IOException e) {
            names.clear(); // tracefs is not there, or may not be read
        }
        return names;
    }

    private static boolean exists(String group, String event) {
        return event.matches("\\w{1,64}") && Files.exists(EVENTS.resolve(group).resolve(event));
    }
}
