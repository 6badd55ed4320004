package sonde.probe.tracefs;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import sonde.sys.Errno;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * A file of the top of tracefs that is not as after a boot.
 *
 * @param file below the root
 * @param value what it has; long lists cut
 * @param usual what it has after a boot; empty for an empty list
 * @param undo what is written to reset it; the first without being appended
 */
public record TopSetting(String file, String value, String usual, List<String> undo) {
    private static final int MOST_SHOWN = 5;

    private static final List<String[]> VALUES =
            List.of(
                    new String[] {"current_tracer", "nop"},
                    new String[] {"max_graph_depth", "0"},
                    new String[] {"tracing_thresh", "0"},
                    new String[] {"trace_clock", "local"});

    private static final List<String> LISTS =
            List.of(
                    "set_event",
                    "set_ftrace_filter",
                    "set_ftrace_notrace",
                    "set_graph_function",
                    "set_graph_notrace",
                    "set_ftrace_pid",
                    "set_ftrace_notrace_pid",
                    "set_event_pid",
                    "set_event_notrace_pid");

    /** Files of an event's folder that are none. */
    private static final Set<String> NO_EVENTS = Set.of("enable", "filter", "trigger", "hist");

    public TopSetting {
        undo = List.copyOf(undo);
    }

    /** Every file that somebody changed, in the order in which they are reset. */
    public static List<TopSetting> changed(Tracefs tracefs) throws SyscallException {
        List<TopSetting> found = new ArrayList<>();
        List<String> files = tracefs.list("");
        for (String[] value : VALUES) {
            if (files.contains(value[0])) {
                String has = String.join(" ", TopFiles.values(tracefs.text(value[0])));
                // Some kernels start with another clock; global and local are both usual.
                boolean clock = value[0].equals("trace_clock") && has.equals("global");
                if (!has.equals(value[1]) && !clock) {
                    found.add(new TopSetting(value[0], has, value[1], List.of(value[1])));
                }
            }
        }
        for (String file : LISTS) {
            if (files.contains(file)) {
                list(file, TopFiles.values(tracefs.text(file)), found);
            }
        }
        for (String system : tracefs.list("events")) {
            for (String event : tracefs.list("events/" + system)) {
                if (!NO_EVENTS.contains(event)) {
                    triggers(tracefs, "events/" + system + "/" + event + "/trigger", found);
                }
            }
        }
        // Last: until their triggers are gone, functions and events switch it off again.
        if (tracefs.text("tracing_on").strip().equals("0")) {
            found.add(new TopSetting("tracing_on", "0", "1", List.of("1")));
        }
        long entries = TopUse.entries(tracefs);
        if (entries > 0) {
            found.add(new TopSetting("trace", entries + " events", "", List.of("")));
        }
        return found;
    }

    private static void list(String file, List<String> values, List<TopSetting> found) {
        if (values.isEmpty()) {
            return;
        }
        List<String> undo = new ArrayList<>(List.of(""));
        // Commands on functions (f:traceoff:3) are no part of the list that is cleared.
        values.stream()
                .filter(one -> file.startsWith("set_ftrace_") && one.indexOf(':') >= 0)
                .forEach(one -> undo.add("!" + one)); // a count is part of what is removed
        found.add(new TopSetting(file, shown(values), "", undo));
    }

    private static String shown(List<String> values) {
        int more = values.size() - MOST_SHOWN;
        return String.join(", ", values.subList(0, Math.min(MOST_SHOWN, values.size())))
                + (more > 0 ? " and " + more + " more" : "");
    }

    private static void triggers(Tracefs tracefs, String file, List<TopSetting> found) {
        String text;
        try {
            text = tracefs.text(file);
        } catch (SyscallException e) {
            return; // ftrace's own events have none
        }
        List<String> lines =
                text.lines().filter(one -> !one.isBlank() && one.charAt(0) != '#').toList();
        if (!lines.isEmpty()) {
            // Behind the words there may be "[active]", "if FILTER" stays part of the trigger.
            List<String> undo =
                    lines.reversed().stream()
                            .map(one -> one.replaceFirst(" \\[\\w+\\]$", ""))
                            .map(one -> one.replaceFirst(":(unlimited|count=\\d+)", ""))
                            .map(one -> "!" + one)
                            .toList();
            found.add(new TopSetting(file, shown(lines), "", undo));
        }
    }

    /** Resets it. */
    public void reset(Tracefs tracefs) throws SyscallException {
        boolean list = file.startsWith("set_");
        for (String value : undo) {
            int flags =
                    value.isEmpty()
                            ? FileCalls.O_TRUNC
                            : list || file.endsWith("/trigger") ? FileCalls.O_APPEND : 0;
            try {
                Tracefs.write(
                        tracefs.root() + "/" + file,
                        value.isEmpty() ? "" : value + "\n",
                        FileCalls.O_WRONLY | flags);
            } catch (SyscallException e) {
                // An empty write after O_TRUNC has already cleared the list.
                if (!value.isEmpty() || e.errno() != Errno.EINVAL) {
                    throw e;
                }
            }
        }
    }
}
