package sonde.recording.ctf.tsdl;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.recording.ctf.schema.ClockClass;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.Bits;
import sonde.recording.ctf.schema.FieldClass.Member;
import sonde.recording.ctf.schema.FieldClass.Structure;
import sonde.recording.ctf.schema.Length;
import sonde.recording.ctf.schema.Role;
import sonde.recording.ctf.schema.StreamClass;
import sonde.recording.ctf.schema.TraceClass;

/** Gives fields the roles that TSDL tells by their names (CTF 1.8.3, sections 5 and 6). */
final class Roles {
    private static final Map<String, Role> PACKET_HEADER =
            Map.of(
                    "magic", Role.PACKET_MAGIC_NUMBER,
                    "stream_id", Role.DATA_STREAM_CLASS_ID,
                    "stream_instance_id", Role.DATA_STREAM_ID);
    private static final Map<String, Role> PACKET_CONTEXT =
            Map.of(
                    "timestamp_begin", Role.DEFAULT_CLOCK_TIMESTAMP,
                    "timestamp_end", Role.PACKET_END_TIMESTAMP,
                    "content_size", Role.PACKET_CONTENT_LENGTH,
                    "packet_size", Role.PACKET_TOTAL_LENGTH,
                    "events_discarded", Role.DISCARDED_EVENTS,
                    "packet_seq_num", Role.PACKET_SEQUENCE_NUMBER);

    private Roles() {}

    static Structure packetHeader(Structure header) {
        List<Member> members = new ArrayList<>();
        for (Member member : header.members()) {
            Role role = PACKET_HEADER.get(member.name());
            FieldClass type = member.type();
            if (role != null && type instanceof Bits bits) {
                type = with(bits, role, bits.clock());
            } else if (member.name().equals("uuid") && type instanceof FieldClass.Array array) {
                boolean bytes =
                        array.length() instanceof Length.Fixed fixed
                                && fixed.count() == 16
                                && array.element() instanceof Bits bits
                                && bits.bits() == 8
                                && bits.alignment() == 8;
                if (bytes) {
                    Set<Role> roles = Set.of(Role.METADATA_STREAM_UUID);
                    type = new FieldClass.Blob(array.length(), roles);
                }
            }
            members.add(new Member(member.name(), type));
        }
        return Structure.of(members, header.alignment());
    }

    /** Finds the clock of a stream and marks what counts it. */
    static void stream(TraceClass trace, StreamClass stream) {
        String only = trace.clocks.size() == 1 ? trace.clocks.keySet().iterator().next() : null;
        Structure header = stream.eventHeader;
        Structure context = stream.packetContext;
        boolean stamped =
                header != null && hasTimestamp(header)
                        || context != null
                                && context.members().stream().anyMatch(Roles::isPacketTime);
        if (trace.clocks.isEmpty() && stamped) {
            only = "default";
            trace.clocks.put(only, new ClockClass(only, 1_000_000_000, 0, 0, false));
        }
        if (context != null) {
            stream.packetContext = packetContext(context, only);
        }
        if (header != null) {
            stream.eventHeader = (Structure) eventHeader("", header, only);
        }
        Set<String> clocks = new HashSet<>();
        collect(stream.eventHeader, clocks);
        collect(stream.packetContext, clocks);
        for (String clock : clocks) {
            stream.clock = trace.clocks.getOrDefault(clock, stream.clock);
        }
    }

    private static boolean isPacketTime(Member member) {
        boolean named =
                member.name().equals("timestamp_begin") || member.name().equals("timestamp_end");
        return named && member.type() instanceof Bits;
    }

    private static boolean hasTimestamp(FieldClass type) {
        return switch (type) {
            case Structure structure ->
                    structure.members().stream()
                            .anyMatch(one ->
                                    one.type() instanceof Bits && one.name().equals("timestamp")
                                            || hasTimestamp(one.type()));
            case FieldClass.Variant variant ->
                    variant.options().stream().anyMatch(one -> hasTimestamp(one.type()));
            default -> false;
        };
    }

    private static Structure packetContext(Structure context, @Nullable String only) {
        List<Member> members = new ArrayList<>();
        for (Member member : context.members()) {
            Role role = PACKET_CONTEXT.get(member.name());
            FieldClass type = member.type();
            if (role != null && type instanceof Bits bits) {
                boolean time =
                        role == Role.DEFAULT_CLOCK_TIMESTAMP || role == Role.PACKET_END_TIMESTAMP;
                type = with(bits, role, time && bits.clock() == null ? only : bits.clock());
            }
            members.add(new Member(member.name(), type));
        }
        return Structure.of(members, context.alignment());
    }

    private static FieldClass eventHeader(String name, FieldClass type, @Nullable String only) {
        return switch (type) {
            case Bits bits when bits.clock() != null ->
                    with(bits, Role.DEFAULT_CLOCK_TIMESTAMP, bits.clock());
            case Bits bits when name.equals("timestamp") && only != null ->
                    with(bits, Role.DEFAULT_CLOCK_TIMESTAMP, only);
            case Bits bits when name.equals("id") -> with(bits, Role.EVENT_CLASS_ID, null);
            case Structure structure -> {
                List<Member> members = new ArrayList<>();
                for (Member one : structure.members()) {
                    members.add(new Member(one.name(), eventHeader(one.name(), one.type(), only)));
                }
                yield Structure.of(members, structure.alignment());
            }
            case FieldClass.Variant variant -> {
                List<FieldClass.Option> options = new ArrayList<>();
                for (FieldClass.Option one : variant.options()) {
                    FieldClass option = eventHeader(one.name(), one.type(), only);
                    options.add(new FieldClass.Option(one.name(), one.ranges(), option));
                }
                yield new FieldClass.Variant(variant.selector(), options);
            }
            default -> type;
        };
    }

    private static void collect(@Nullable FieldClass type, Set<String> clocks) {
        switch (type) {
            case null -> {}
            case Bits bits -> {
                if (bits.clock() != null) {
                    clocks.add(bits.clock());
                }
            }
            case Structure structure ->
                    structure.members().forEach(one -> collect(one.type(), clocks));
            case FieldClass.Variant variant ->
                    variant.options().forEach(one -> collect(one.type(), clocks));
            default -> {}
        }
    }

    private static Bits with(Bits bits, Role role, @Nullable String clock) {
        return new Bits(
                bits.bits(),
                bits.alignment(),
                bits.bigEndian(),
                bits.reversed(),
                bits.signed(),
                bits.meaning(),
                bits.base(),
                bits.character(),
                bits.mappings(),
                Set.of(role),
                clock);
    }
}
