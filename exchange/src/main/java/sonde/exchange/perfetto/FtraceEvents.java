package sonde.exchange.perfetto;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sonde.recording.TypeBuilder;
import sonde.sys.ResourceTable;

/**
 * The ftrace events that Perfetto knows by number, with the kernel's names of their fields: {@code
 * ftrace-events.txt}, made from its .proto files.
 */
public final class FtraceEvents {
    private static final Map<Integer, ProtoEvent> BY_NUMBER = new HashMap<>();
    private static final Map<String, ProtoEvent> BY_NAME = new HashMap<>();

    static {
        load();
    }

    private FtraceEvents() {}

    /** What the value of a field is. */
    public enum Kind {
        /** UTF-8. */
        TEXT,
        /** A varint, negative ones of ten bytes. */
        SIGNED,
        /** A varint. */
        UNSIGNED,
        /** sint32, sint64. */
        ZIGZAG,
        /** double. */
        REAL,
        /** bytes. */
        BYTES,
        /** Integers, any number. */
        REPEATED,
    }

    /** A field of an event's message. */
    public record ProtoField(String name, int number, Kind kind, int sizeBytes) {
        /** Whether it is text. */
        public boolean isText() {
            return kind == Kind.TEXT;
        }

        /** Adds it to a type; repeated ones are kept as 64-bit integers. */
        void addTo(TypeBuilder type) {
            switch (kind) {
                case TEXT -> type.text(name);
                case SIGNED, ZIGZAG -> type.integer(name, sizeBytes, true);
                case UNSIGNED -> type.integer(name, sizeBytes, false);
                case REAL -> type.real(name);
                case BYTES -> type.array(name, 1, false);
                case REPEATED -> type.array(name, 8, true);
            }
        }
    }

    /** An event. */
    public record ProtoEvent(int number, String system, String name, List<ProtoField> members) {
        TypeBuilder type() {
            TypeBuilder type = new TypeBuilder(system, name);
            members.forEach(member -> member.addTo(type));
            return type;
        }
    }

    /** The event whose message has that number in FtraceEvent. */
    public static Optional<ProtoEvent> numbered(int number) {
        return Optional.ofNullable(BY_NUMBER.get(number));
    }

    /** The event of that system and name. */
    public static Optional<ProtoEvent> named(String system, String name) {
        return Optional.ofNullable(BY_NAME.get(system + ':' + name));
    }

    private static void load() {
        for (String line :
                ResourceTable.lines(FtraceEvents.class.getResourceAsStream("ftrace-events.txt"))) {
            ProtoEvent event = parse(line.split(" "));
            BY_NUMBER.put(event.number, event);
            BY_NAME.putIfAbsent(event.system + ':' + event.name, event);
        }
    }

    private static ProtoEvent parse(String[] words) {
        List<ProtoField> members = new ArrayList<>();
        for (int i = 3; i < words.length; i++) {
            String[] parts = words[i].split(":");
            String type = parts[2];
            Kind kind =
                    switch (type.charAt(0)) {
                        case 's' -> Kind.TEXT;
                        case 'i' -> Kind.SIGNED;
                        case 'u' -> Kind.UNSIGNED;
                        case 'z' -> Kind.ZIGZAG;
                        case 'd' -> Kind.REAL;
                        case 'b' -> Kind.BYTES;
                        default -> Kind.REPEATED;
                    };
            int size = type.length() > 1 ? type.charAt(1) - '0' : 0;
            members.add(new ProtoField(parts[0], Integer.parseInt(parts[1]), kind, size));
        }
        return new ProtoEvent(Integer.parseInt(words[0]), words[1], words[2], members);
    }
}
