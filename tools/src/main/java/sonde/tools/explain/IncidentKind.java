package sonde.tools.explain;

import java.util.List;
import java.util.Set;

/**
 * A kind of report: one block of {@code incidents.txt}, which describes the fields.
 *
 * @param name the class of its incidents
 * @param group kinds that say the same thing in several words have one group
 * @param first what the first line matches, with the fields of the report as named groups
 * @param later what further lines match
 * @param within groups whose open incident takes this report as its own part
 */
record IncidentKind(
        String name,
        String group,
        String type,
        IncidentWeight severity,
        List<String> literals,
        List<LinePattern> first,
        List<LinePattern> later,
        List<String> titles,
        Set<String> within,
        Set<String> skips,
        Set<String> flags,
        List<String> what,
        String means,
        List<String> next) {
    /** How much an incident matters, worst first. */
    enum IncidentWeight {
        /** Memory was, or can be, changed or disclosed: matters for security. */
        SECURITY,
        /** The machine or a task stopped. */
        FATAL,
        /** The kernel found a fault in itself and went on. */
        ERROR,
        /** Slow, stuck, or worth a look. */
        WARNING,
        /** Not a fault of the kernel: a program was ended, memory ran out. */
        NOTICE
    }

    boolean has(String flag) {
        return flags.contains(flag);
    }

    /** Whether it is a fault of the kernel or its hardware. */
    boolean isFault() {
        return severity != IncidentWeight.NOTICE;
    }
}
