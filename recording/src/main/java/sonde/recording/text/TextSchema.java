package sonde.recording.text;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sonde.event.EventType;
import sonde.recording.TypeBuilder;

/** The event types of a text: those a format has always, and those its lines name. */
final class TextSchema {
    /** Names of events beyond this are one type. */
    static final int MOST_NAMES = 4096;

    private final List<Supplier<EventType>> types = new ArrayList<>();
    private final ByteTable names = new ByteTable(MOST_NAMES);
    private final List<LearntType> shapes = new ArrayList<>();
    private @Nullable EventSystems systems;
    private @Nullable LearntType others;

    /** {@code notice:lost}: the weight is the number of events, 0 when unknown. */
    final EventType lost = fixed(new TypeBuilder(EventType.NOTICE, "lost"));

    /** {@code notice:corrupt}: the weight is the number of lines that could not be read. */
    final EventType corrupt =
            fixed(new TypeBuilder(EventType.NOTICE, "corrupt").integer("lines", 8, false));

    /** Adds a type that does not depend on the text. */
    EventType fixed(TypeBuilder builder) {
        EventType type = builder.build(types.size());
        types.add(() -> type);
        return type;
    }

    /** Adds a type that learns its fields. */
    LearntType shape(String system, String name) {
        LearntType shape = new LearntType(system, name, types.size());
        types.add(shape::build);
        return shape;
    }

    /**
     * The type of an event named in the text, made when it is new.
     *
     * @param fallback the system of events that are none of the kernel's well-known ones
     */
    LearntType named(byte[] bytes, int from, int to, String fallback) {
        return named(bytes, from, to, fallback, true);
    }

    /** As above, of that system whatever its name. */
    LearntType of(String system, byte[] bytes, int from, int to) {
        return named(bytes, from, to, system, false);
    }

    private LearntType named(byte[] bytes, int from, int to, String system, boolean looksUp) {
        int known = names.size();
        int index = names.add(bytes, from, to);
        if (index < 0) {
            LearntType rest = others;
            if (rest == null) {
                rest = shape(EventSystems.UNKNOWN, "other");
                rest.learnText();
                others = rest;
            }
            return rest;
        }
        if (index == known) {
            String name = names.text(index);
            String found = looksUp ? system(name) : EventSystems.UNKNOWN;
            shapes.add(shape(found.equals(EventSystems.UNKNOWN) ? system : found, name));
        }
        return shapes.get(index);
    }

    /** The type of an event whose system stands before a colon: {@code sched:sched_switch}. */
    LearntType qualified(byte[] bytes, int from, int colon, int to) {
        int known = names.size();
        int index = names.add(bytes, from, to);
        if (index < 0) {
            return named(bytes, from, to, EventSystems.UNKNOWN);
        }
        if (index == known) {
            byte[] name = names.get(index);
            int at = colon - from; // of bytes, which a name not in ASCII has more of than letters
            String system = new String(name, 0, at, StandardCharsets.UTF_8);
            String event = new String(name, at + 1, name.length - at - 1, StandardCharsets.UTF_8);
            shapes.add(shape(system, event));
        }
        return shapes.get(index);
    }

    private String system(String name) {
        EventSystems table = systems;
        if (table == null) {
            table = new EventSystems();
            systems = table;
        }
        return table.of(name);
    }

    /** The type a name has by now, null for none. */
    @Nullable LearntType find(byte[] bytes, int from, int to) {
        int index = names.find(bytes, from, to);
        return index < 0 ? others : shapes.get(index);
    }

    /** Whether there were more names than are told apart. */
    boolean isFull() {
        return others != null;
    }

    /** All types, as they are known by now. */
    List<EventType> build() {
        return types.stream().map(Supplier::get).toList();
    }
}
