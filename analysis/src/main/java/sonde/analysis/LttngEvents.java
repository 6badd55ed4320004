package sonde.analysis;

import java.util.Map;
import java.util.Set;

/**
 * The kernel events of LTTng that mean what ftrace's events mean, by ftrace's names. LTTng has one
 * system for all, and calls the kernel's pid a tid where ftrace calls it a pid (lttng-modules 2.13,
 * include/instrumentation/events: sched.h, block.h, signal.h).
 */
final class LttngEvents {
    /** The system of LTTng's kernel events: the domain of the trace. */
    static final String SYSTEM = "kernel";

    private static final Set<String> EVENTS =
            Set.of(
                    """
                    sched:sched_switch sched:sched_waking sched:sched_wakeup \
                    sched:sched_wakeup_new sched:sched_process_fork \
                    sched:sched_process_exec sched:sched_process_exit \
                    block:block_rq_insert block:block_rq_issue \
                    block:block_rq_complete signal:signal_generate \
                    signal:signal_deliver\
                    """
                            .split(" "));

    private static final Map<String, String> SCHED_FIELDS =
            Map.of(
                    "pid", "tid",
                    "old_pid", "old_tid",
                    "prev_pid", "prev_tid",
                    "next_pid", "next_tid",
                    "parent_pid", "parent_tid",
                    "child_pid", "child_tid",
                    "child_tgid", "child_pid"); // ftrace does not tell it

    private LttngEvents() {}

    /** Whether LTTng has an event of the same name and meaning. */
    static boolean has(String system, String name) {
        return EVENTS.contains(system + ":" + name);
    }

    /** LTTng's name of a field. */
    static String field(String event, String field) {
        return event.startsWith("sched_") ? SCHED_FIELDS.getOrDefault(field, field) : field;
    }
}
