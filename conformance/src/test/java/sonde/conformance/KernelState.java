package sonde.conformance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Everything global that a tracer could leave changed: tracefs outside sonde's instances, sysctls,
 * BPF objects that no living process holds, and instances of sondes that live no more.
 */
final class KernelState {
    static final Path TRACEFS = Path.of("/sys/kernel/tracing");

    private static final Pattern OURS = Pattern.compile("sonde-[0-9a-f]+-\\d+-(\\d+)-\\d+.*");

    private static final List<String> FILES =
            List.of(
                    "tracing_on",
                    "current_tracer",
                    "set_event_pid",
                    "set_event_notrace_pid",
                    "set_ftrace_pid",
                    "set_ftrace_filter",
                    "trace_options",
                    "trace_clock",
                    "tracing_cpumask",
                    "buffer_size_kb",
                    "set_event",
                    "kprobe_events",
                    "uprobe_events",
                    "dynamic_events",
                    "saved_cmdlines_size");

    private static final List<String> SYSCTLS =
            List.of(
                    "kernel/ftrace_enabled",
                    "kernel/stack_tracer_enabled",
                    "kernel/ftrace_dump_on_oops",
                    "kernel/tracepoint_printk",
                    "kernel/perf_event_paranoid",
                    "kernel/perf_event_mlock_kb",
                    "kernel/perf_event_max_stack",
                    "kernel/perf_event_max_contexts_per_stack",
                    "kernel/perf_cpu_time_max_percent",
                    "kernel/kptr_restrict",
                    "kernel/bpf_stats_enabled",
                    "kernel/unprivileged_bpf_disabled",
                    "kernel/core_pattern",
                    "kernel/core_uses_pid",
                    "net/core/bpf_jit_enable",
                    "fs/suid_dumpable");

    private KernelState() {}

    /** The state, by file. */
    static Map<String, String> now() throws IOException, InterruptedException {
        Map<String, String> state = new TreeMap<>();
        tracefs(TRACEFS, state);
        for (String name : SYSCTLS) {
            Path file = Path.of("/proc/sys").resolve(name);
            if (Files.isReadable(file)) {
                state.put(file.toString(), Files.readString(file));
            }
        }
        for (String instance : instances()) {
            Matcher ours = OURS.matcher(instance);
            if (!ours.matches()) {
                tracefs(TRACEFS.resolve("instances").resolve(instance), state);
            } else if (!Files.exists(Path.of("/proc", ours.group(1)))) {
                state.put("leftover", instance);
            }
        }
        for (String kind : List.of("prog", "map", "link")) {
            state.put("bpf " + kind, bpf(kind).toString());
        }
        return state;
    }

    static List<String> instances() throws IOException {
        try (Stream<Path> list = Files.list(TRACEFS.resolve("instances"))) {
            return list.map(path -> path.getFileName().toString()).sorted().toList();
        }
    }

    /** Instances of the sonde of that pid. */
    static List<String> instancesOf(long pid) throws IOException {
        return instances().stream()
                .filter(name -> {
                    Matcher ours = OURS.matcher(name);
                    return ours.matches() && ours.group(1).equals(Long.toString(pid));
                })
                .toList();
    }

    private static void tracefs(Path root, Map<String, String> state) throws IOException {
        for (String name : FILES) {
            Path file = root.resolve(name);
            if (Files.isReadable(file)) {
                state.put(file.toString(), text(file));
            }
        }
        try (Stream<Path> systems = Files.list(root.resolve("events"))) {
            for (Path system : systems.filter(Files::isDirectory).sorted().toList()) {
                Path enable = system.resolve("enable");
                if (Files.isReadable(enable)) {
                    state.put(enable.toString(), Files.readString(enable));
                }
            }
        }
    }

    /** Some files are EPERM to read where function tracing is locked. */
    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Objects called sonde… that no process holds. */
    private static TreeSet<String> bpf(String kind) throws IOException, InterruptedException {
        TreeSet<String> orphans = new TreeSet<>();
        if (!Files.isExecutable(Path.of("/usr/sbin/bpftool"))) {
            return orphans;
        }
        Sonde.Outcome list =
                Sonde.in(Path.of("/"))
                        .execute(List.of("/usr/sbin/bpftool", "--json", kind, "show"));
        if (list.status() == 0) {
            for (Json object : Json.parse("{\"all\":" + list.out() + "}").objects("all")) {
                if (!object.has("pids")) {
                    orphans.add(
                            object.text("id") + (object.has("name") ? object.text("name") : ""));
                }
            }
        }
        return orphans;
    }
}
