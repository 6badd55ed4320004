package sonde.event;

import java.util.List;
import java.util.Optional;

/**
 * One file or ring set whose events share a schema and a clock.
 *
 * @param name which part of a recording: "trace.dat", "perf.data"
 * @param clock what its times count
 * @param types every event type it can carry; {@link EventType#id()} is the index here
 */
public record Source(String name, Clock clock, List<EventType> types) {
    public Source {
        types = List.copyOf(types);
        for (int i = 0; i < types.size(); i++) {
            if (types.get(i).id() != i) {
                throw new IllegalArgumentException(
                        types.get(i).qualifiedName() + " has id " + types.get(i).id() + " at " + i);
            }
        }
    }

    /** The type of that system and name. */
    public Optional<EventType> type(String system, String typeName) {
        for (EventType type : types) {
            if (type.name().equals(typeName) && type.system().equals(system)) {
                return Optional.of(type);
            }
        }
        return Optional.empty();
    }
}
