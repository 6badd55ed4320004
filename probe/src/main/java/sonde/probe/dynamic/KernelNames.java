package sonde.probe.dynamic;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import sonde.event.NearestNames;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/** Functions of the running kernel and its modules: /proc/kallsyms by name. */
final class KernelNames {
    private static final int MOST_BYTES = 64 << 20;

    private final Map<String, List<Long>> functions = new HashMap<>();
    private final Map<String, String> modules = new HashMap<>();

    private KernelNames() {}

    /**
     * Reads them; addresses are 0 for who may not see them.
     *
     * @throws SyscallException when /proc is not there
     */
    static KernelNames read() throws SyscallException {
        return parse(text());
    }

    private static String text() throws SyscallException {
        return new String(FileCalls.readAll("/proc/kallsyms", MOST_BYTES), StandardCharsets.UTF_8);
    }

    /** Whether a name, of data too, is there once. */
    static boolean isAlone(String name) {
        try {
            Pattern line = Pattern.compile("(?m)^\\w+ \\w " + Pattern.quote(name) + "(?:\t.*)?$");
            return line.matcher(text()).results().limit(2).count() == 1;
        } catch (SyscallException e) {
            return false;
        }
    }

    static KernelNames parse(String text) {
        return parse(text, "");
    }

    /**
     * Of one module alone.
     *
     * @param module empty for the kernel and all modules
     */
    static KernelNames parse(String text, String module) {
        KernelNames names = new KernelNames();
        String mark = module.isEmpty() ? "" : "\t[" + module + "]";
        int at = 0;
        while (at < text.length()) {
            int end = text.indexOf('\n', at);
            end = end < 0 ? text.length() : end;
            if (mark.isEmpty() || text.startsWith(mark, end - mark.length())) {
                names.add(text, at, end);
            }
            at = end + 1;
        }
        return names;
    }

    /** {@link #read} of one module. */
    static KernelNames ofModule(String module) throws SyscallException {
        return parse(text(), module);
    }

    /** {@code ffffffff81000000 T _text}, with {@code \t[module]} behind. */
    private void add(String text, int from, int end) {
        int first = text.indexOf(' ', from);
        if (first < 0 || first + 3 >= end || first - from > 16) {
            return;
        }
        char type = text.charAt(first + 1);
        boolean function = type == 't' || type == 'T' || type == 'W' || type == 'w';
        int nameEnd = first + 3;
        while (nameEnd < end && text.charAt(nameEnd) > ' ') {
            nameEnd++;
        }
        String name = text.substring(first + 3, nameEnd);
        if (!function && !name.startsWith("_")) {
            return;
        }
        try {
            long address = Long.parseUnsignedLong(text, from, first, 16);
            functions.computeIfAbsent(name, _ -> new ArrayList<>(1)).add(address);
            if (nameEnd + 2 < end && text.charAt(nameEnd) == '\t') {
                modules.put(name, text.substring(nameEnd + 2, end - 1));
            }
        } catch (NumberFormatException e) {
            // A line of another kind.
            return;
        }
    }

    /** Whether the kernel told none. */
    boolean isEmpty() {
        return functions.isEmpty();
    }

    /** How many functions have a name. */
    int count(String name) {
        return functions.getOrDefault(name, List.of()).size();
    }

    /** The address of a name that is there once; 0 for others, and for who may not see it. */
    long address(String name) {
        List<Long> found = functions.getOrDefault(name, List.of());
        return found.size() == 1 ? found.getFirst() : 0;
    }

    /** The module that has a function; empty for the kernel itself. */
    String module(String name) {
        return modules.getOrDefault(name, "");
    }

    List<String> near(String name) {
        return NearestNames.near(name, List.copyOf(functions.keySet()));
    }

    List<String> all() {
        return functions.keySet().stream().sorted().toList();
    }
}
