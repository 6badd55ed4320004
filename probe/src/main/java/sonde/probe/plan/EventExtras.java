package sonde.probe.plan;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What single events of a plan have besides their owner.
 *
 * @param filters conditions on the fields of an event that must all hold: as the user wrote them,
 *     or, once they were checked, one in the kernel's own spelling
 * @param optional events with filters that a glob found: one that lacks the fields is left out
 * @param ringStacks events of ftrace's rings whose stacks follow them there as rows of their own
 */
public record EventExtras(
        Map<String, List<String>> filters, Set<String> optional, Set<String> ringStacks) {
    public EventExtras {
        filters = Map.copyOf(filters);
        optional = Set.copyOf(optional);
        ringStacks = Set.copyOf(ringStacks);
    }

    /** The filter of an event, checked; empty for every hit. */
    public String filter(String event) {
        return String.join(" && ", filters.getOrDefault(event, List.of()));
    }
}
