package sonde.probe.tracefs;

import java.util.ArrayList;
import java.util.List;
import sonde.sys.SyscallException;

/** What is in use at the top of tracefs, which all tracers share. */
public final class TopUse {
    /** Files with lists that a tracer leaves when it ends without a word. */
    static final List<String> LISTS =
            List.of(
                    "set_ftrace_filter",
                    "set_ftrace_notrace",
                    "set_graph_function",
                    "set_graph_notrace",
                    "set_ftrace_pid",
                    "set_ftrace_notrace_pid",
                    "set_event_pid");

    private TopUse() {}

    /** A sentence for each thing that another tracer would lose; none when nobody uses it. */
    public static List<String> of(Tracefs tracefs) throws SyscallException {
        List<String> found = new ArrayList<>();
        String tracer = tracefs.text("current_tracer").strip();
        if (!tracer.equals("nop")) {
            found.add("the tracer " + tracer + " is set");
        }
        List<String> events = TopFiles.values(tracefs.text("set_event"));
        if (!events.isEmpty()) {
            found.add(
                    events.size() == 1
                            ? "the event " + events.getFirst() + " is on"
                            : events.size() + " events are on, " + events.getFirst() + " first");
        }
        long entries = entries(tracefs);
        if (entries > 0) {
            found.add("its buffer holds " + entries + (entries == 1 ? " event" : " events"));
        }
        for (String file : LISTS) {
            if (tracefs.list("").contains(file)) {
                for (String one : TopFiles.values(tracefs.text(file))) {
                    if (one.indexOf(':') >= 0) {
                        found.add("the command " + one + " is in " + file);
                    }
                }
            }
        }
        return found;
    }

    /** Whether somebody records at the top. */
    static boolean isOn(Tracefs tracefs) throws SyscallException {
        return !tracefs.text("current_tracer").strip().equals("nop")
                || !TopFiles.values(tracefs.text("set_event")).isEmpty();
    }

    /** Events in the rings of the top. */
    static long entries(Tracefs tracefs) throws SyscallException {
        long entries = 0;
        for (String cpu : tracefs.list("per_cpu")) {
            String stats = tracefs.text("per_cpu/" + cpu + "/stats");
            int at = stats.indexOf("entries: ");
            String digits = at < 0 ? "" : stats.substring(at + 9).split("\\D", 2)[0];
            entries += digits.matches("\\d{1,18}") ? Long.parseLong(digits) : 0;
        }
        return entries;
    }
}
