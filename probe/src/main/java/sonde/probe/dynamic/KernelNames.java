package sonde.probe.dynamic;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.event.NearestNames;
import sonde.recording.ftrace.KallsymsText;
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
        return parse(text(), "");
    }

    private static byte[] text() throws SyscallException {
        return FileCalls.readAll("/proc/kallsyms", MOST_BYTES);
    }

    /** Whether a name, of data too, is there once. */
    static boolean isAlone(String name) {
        try {
            int[] count = new int[1];
            KallsymsText.named(text(), name, (_, _, _) -> count[0]++);
            return count[0] == 1;
        } catch (SyscallException e) {
            return false;
        }
    }

    /**
     * Functions in a text of {@code /proc/kallsyms}.
     *
     * @param module the only one wanted; empty for the kernel and all modules
     */
    static KernelNames parse(byte[] text, String module) {
        KernelNames names = new KernelNames();
        KallsymsText.forEach(
                text,
                (address, type, at) -> {
                    boolean function = "tTwW".indexOf(type) >= 0 || text[at] == '_';
                    String home = KallsymsText.module(text, at);
                    if (function && (module.isEmpty() || module.equals(home))) {
                        String name = KallsymsText.name(text, at);
                        names.functions.computeIfAbsent(name, _ -> new ArrayList<>(1)).add(address);
                        if (!home.isEmpty()) {
                            names.modules.put(name, home);
                        }
                    }
                });
        return names;
    }

    /** {@link #read} of one module. */
    static KernelNames ofModule(String module) throws SyscallException {
        return parse(text(), module);
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
