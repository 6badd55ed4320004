package sonde.recording.text;

import java.util.HashMap;
import java.util.Map;
import sonde.sys.ResourceTable;

/** The systems of the kernel's tracepoints by name, for texts that tell only the name. */
final class EventSystems {
    /** The system of an event whose name no table has: of a probe, a module, a user. */
    static final String UNKNOWN = "text";

    private final Map<String, String> names = new HashMap<>();
    private final Map<String, String> prefixes = new HashMap<>();

    EventSystems() {
        ResourceTable.lines(EventSystems.class.getResourceAsStream("event-systems.txt"))
                .forEach(line -> learn(line.split(" ", -1)));
    }

    private void learn(String[] words) {
        for (int i = 1; i < words.length; i++) {
            String name = words[i];
            if (name.endsWith("*")) {
                prefixes.put(name.substring(0, name.length() - 1), words[0]);
            } else {
                names.put(name, words[0]);
            }
        }
    }

    /** The system; {@link #UNKNOWN} when nobody knows. */
    String of(String name) {
        String found = names.get(name);
        if (found != null) {
            return found;
        }
        if (name.equals("sys_enter") || name.equals("sys_exit")) {
            return "raw_syscalls";
        }
        if (name.startsWith("sys_enter_") || name.startsWith("sys_exit_")) {
            return "syscalls";
        }
        for (int end = name.length(); end > 0; end--) {
            String system = prefixes.get(name.substring(0, end));
            if (system != null) {
                return system;
            }
        }
        return UNKNOWN;
    }
}
