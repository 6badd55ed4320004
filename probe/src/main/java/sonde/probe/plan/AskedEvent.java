package sonde.probe.plan;

import java.util.List;

/**
 * Events that the user asked for.
 *
 * @param pattern a name or a glob
 * @param filters conditions that must all hold, as the user wrote them; empty for every event
 * @param stacks whether the kernel and user stack is wanted with each of them
 */
public record AskedEvent(String pattern, List<String> filters, boolean stacks) {
    public AskedEvent {
        filters = List.copyOf(filters);
    }

    /** Every event that a name or a glob means, without stacks. */
    public static AskedEvent of(String pattern) {
        return new AskedEvent(pattern, List.of(), false);
    }
}
