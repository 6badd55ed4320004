package sonde.lang.probes;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.Glob;
import sonde.event.NearestNames;
import sonde.recording.ftrace.KallsymsText;
import sonde.sys.FileCalls;

/**
 * The functions of the kernel that can be probed: those of {@code available_filter_functions}, of a
 * file like it, or where that may not be read those of {@code /proc/kallsyms}, in which some are
 * that cannot. The text is kept; names are made when they are asked for.
 */
final class TraceableFunctions {
    private static final List<String> LISTS =
            List.of(
                    "/sys/kernel/tracing/available_filter_functions",
                    "/sys/kernel/debug/tracing/available_filter_functions");

    static final String KERNEL = "vmlinux";

    private static final int MOST_BYTES = 256 << 20;

    /** Not marked notrace, though probes there do harm or never run. */
    private static final Set<String> BANNED =
            Set.of("arch_cpu_idle", "default_idle", "bpf_dispatcher_xdp_func");

    private static final List<byte[]> BANNED_BEGINS =
            List.of(bytes("__ftrace_invalid_address__"), bytes("rcu_"));

    /** Added by compilers before functions, and parts of functions in kallsyms. */
    private static final List<byte[]> NOT_FUNCTIONS =
            List.of(bytes("__pfx_"), bytes("__cfi_"), bytes("__traceiter_"), bytes("__bpf_trace_"));

    private static final Set<String> NOT_MODULES =
            Set.of("bpf", "__builtin__ftrace", "__builtin__kprobes");

    private final byte[] text;
    private final boolean exact;
    private int[] starts = new int[1 << 16];
    private int[] ends = new int[1 << 16];
    private int[] modules = new int[1 << 16];
    private int count;
    private final List<String> moduleNames = new ArrayList<>(List.of(KERNEL));
    private final Map<String, Integer> moduleIndexes = new HashMap<>(Map.of(KERNEL, 0));

    private TraceableFunctions(byte[] text, boolean exact) {
        this.text = text;
        this.exact = exact;
    }

    /** Takes a function. */
    @FunctionalInterface
    interface Visitor {
        void function(String module, String name);
    }

    /**
     * Reads.
     *
     * @param file instead of the kernel's own; null for that
     */
    static TraceableFunctions read(@Nullable String file) throws IOException {
        if (file != null) {
            return ofList(FileCalls.readAll(file, MOST_BYTES));
        }
        for (String list : LISTS) {
            try {
                byte[] text = FileCalls.readAll(list, MOST_BYTES);
                if (text.length > 0) {
                    return ofList(text);
                }
            } catch (IOException e) {
                // No ftrace, no tracefs, or not for us: kallsyms names nearly the same.
                continue;
            }
        }
        return ofKallsyms(FileCalls.readAll("/proc/kallsyms", MOST_BYTES));
    }

    /** Lines of {@code name} or {@code name [module]}. */
    static TraceableFunctions ofList(byte[] text) {
        TraceableFunctions functions = new TraceableFunctions(text, true);
        int at = 0;
        while (at < text.length) {
            int end = at;
            while (end < text.length && text[end] > ' ') {
                end++;
            }
            int line = end;
            while (line < text.length && text[line] != '\n') {
                line++;
            }
            functions.add(at, end, functions.module(end, line));
            at = line + 1;
        }
        return functions;
    }

    /** Symbols of code. */
    static TraceableFunctions ofKallsyms(byte[] text) {
        TraceableFunctions functions = new TraceableFunctions(text, false);
        KallsymsText.forEach(
                text,
                (_, type, name) -> {
                    int small = type | 0x20;
                    if (small == 't' || small == 'w') {
                        int end = KallsymsText.nameEnd(text, name);
                        int line = end;
                        while (line < text.length && text[line] != '\n') {
                            line++;
                        }
                        if (!functions.begins(name, end, NOT_FUNCTIONS)) {
                            functions.add(name, end, functions.module(end, line));
                        }
                    }
                });
        return functions;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** The module in brackets behind a name, by its index; 0 for none, -1 for what is no module. */
    private int module(int from, int to) {
        int open = from;
        while (open < to && text[open] != '[') {
            open++;
        }
        int close = open;
        while (close < to && text[close] != ']') {
            close++;
        }
        if (close >= to) {
            return 0;
        }
        String name = new String(text, open + 1, close - open - 1, StandardCharsets.UTF_8);
        if (NOT_MODULES.contains(name)) {
            return -1;
        }
        return moduleIndexes.computeIfAbsent(
                name,
                key -> {
                    moduleNames.add(key);
                    return moduleNames.size() - 1;
                });
    }

    private void add(int start, int end, int module) {
        if (module < 0 || end <= start || begins(start, end, BANNED_BEGINS)) {
            return;
        }
        if (count == starts.length) {
            starts = Arrays.copyOf(starts, 2 * count);
            ends = Arrays.copyOf(ends, 2 * count);
            modules = Arrays.copyOf(modules, 2 * count);
        }
        starts[count] = start;
        ends[count] = end;
        modules[count++] = module;
    }

    private boolean begins(int start, int end, List<byte[]> words) {
        for (byte[] word : words) {
            int to = start + word.length;
            if (to <= end && Arrays.equals(text, start, to, word, 0, word.length)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the kernel itself has named them. */
    boolean isExact() {
        return exact;
    }

    /** All that two patterns name; some more than once. */
    void forEach(Glob module, Glob name, Visitor visitor) {
        boolean[] wanted = new boolean[moduleNames.size()];
        for (int i = 0; i < wanted.length; i++) {
            wanted[i] = module.matches(moduleNames.get(i));
        }
        for (int i = 0; i < count; i++) {
            if (wanted[modules[i]] && name.matches(text, starts[i], ends[i])) {
                String function =
                        new String(text, starts[i], ends[i] - starts[i], StandardCharsets.UTF_8);
                if (!BANNED.contains(function) && !isPart(function)) {
                    visitor.function(moduleNames.get(modules[i]), function);
                }
            }
        }
    }

    /** Pieces that compilers have split off. */
    private static boolean isPart(String name) {
        return name.contains(".part.") || name.contains(".cold");
    }

    /** Whether there is a function of that name, in any module. */
    boolean contains(String name) {
        boolean[] found = new boolean[1];
        forEach(Glob.all(), Glob.of(name), (_, _) -> found[0] = true);
        return found[0];
    }

    /** Functions whose names are nearly this one, as a question; empty where none is. */
    String near(String name) {
        List<String> names = new ArrayList<>();
        forEach(Glob.all(), Glob.all(), (_, function) -> names.add(function));
        return NearestNames.question(name, names);
    }
}
