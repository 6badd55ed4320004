package sonde.recording.ctf.tsdl;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.recording.ctf.schema.ClockClass;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.Member;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.FieldClass.VariantClass;
import sonde.recording.ctf.schema.FieldClass.VariantOption;
import sonde.recording.ctf.schema.FieldLength;
import sonde.recording.ctf.schema.FieldRole;
import sonde.recording.ctf.schema.StreamClass;
import sonde.recording.ctf.schema.TraceClass;

/** Gives fields the roles that TSDL tells by their names (CTF 1.8.3, sections 5 and 6). */
final class TsdlRoles {
    private static final Map<String, FieldRole> PACKET_HEADER =
            Map.of(
                    "magic", FieldRole.PACKET_MAGIC_NUMBER,
                    "stream_id", FieldRole.DATA_STREAM_CLASS_ID,
                    "stream_instance_id", FieldRole.DATA_STREAM_ID);
    private static final Map<String, FieldRole> PACKET_CONTEXT =
            Map.of(
                    "timestamp_begin", FieldRole.DEFAULT_CLOCK_TIMESTAMP,
                    "timestamp_end", FieldRole.PACKET_END_TIMESTAMP,
                    "content_size", FieldRole.PACKET_CONTENT_LENGTH,
                    "packet_size", FieldRole.PACKET_TOTAL_LENGTH,
                    "events_discarded", FieldRole.DISCARDED_EVENTS,
                    "packet_seq_num", FieldRole.PACKET_SEQUENCE_NUMBER);

    private TsdlRoles() {}

    static StructureClass packetHeader(StructureClass header) {
        List<Member> members = new ArrayList<>();
        for (Member member : header.members()) {
            FieldRole role = PACKET_HEADER.get(member.name());
            FieldClass type = member.type();
            if (role != null && type instanceof BitField bits) {
                type = with(bits, role, bits.clock());
            } else if (member.name().equals("uuid") && type instanceof FieldClass.Array array) {
                boolean bytes =
                        array.length() instanceof FieldLength.Fixed fixed
                                && fixed.count() == 16
                                && array.element() instanceof BitField bits
                                && bits.bits() == 8
                                && bits.alignment() == 8;
                if (bytes) {
                    Set<FieldRole> roles = Set.of(FieldRole.METADATA_STREAM_UUID);
                    type = new FieldClass.Blob(array.length(), roles);
                }
            }
            members.add(new Member(member.name(), type));
        }
        return StructureClass.of(members, header.alignment());
    }

    /** Finds the clock of a stream and marks what counts it. */
    static void stream(TraceClass trace, StreamClass stream) {
        String only = trace.clocks.size() == 1 ? trace.clocks.keySet().iterator().next() : null;
        StructureClass header = stream.eventHeader;
        StructureClass context = stream.packetContext;
        boolean stamped =
                header != null && hasTimestamp(header)
                        || context != null
                                && context.members().stream().anyMatch(TsdlRoles::isPacketTime);
        if (trace.clocks.isEmpty() && stamped) {
            only = "default";
            trace.clocks.put(only, new ClockClass(only, 1_000_000_000, 0, 0, false));
        }
        if (context != null) {
            stream.packetContext = packetContext(context, only);
        }
        if (header != null) {
            stream.eventHeader = (StructureClass) eventHeader("", header, only);
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
        return named && member.type() instanceof BitField;
    }

    private static boolean hasTimestamp(FieldClass type) {
        return switch (type) {
            case StructureClass structure ->
                    structure.members().stream()
                            .anyMatch(one ->
                                    one.type() instanceof BitField && one.name().equals("timestamp")
                                            || hasTimestamp(one.type()));
            case VariantClass variant ->
                    variant.options().stream().anyMatch(one -> hasTimestamp(one.type()));
            default -> false;
        };
    }

    private static StructureClass packetContext(StructureClass context, @Nullable String only) {
        List<Member> members = new ArrayList<>();
        for (Member member : context.members()) {
            FieldRole role = PACKET_CONTEXT.get(member.name());
            FieldClass type = member.type();
            if (role != null && type instanceof BitField bits) {
                boolean time =
                        role == FieldRole.DEFAULT_CLOCK_TIMESTAMP
                                || role == FieldRole.PACKET_END_TIMESTAMP;
                type = with(bits, role, time && bits.clock() == null ? only : bits.clock());
            }
            members.add(new Member(member.name(), type));
        }
        return StructureClass.of(members, context.alignment());
    }

    private static FieldClass eventHeader(String name, FieldClass type, @Nullable String only) {
        return switch (type) {
            case BitField bits when bits.clock() != null ->
                    with(bits, FieldRole.DEFAULT_CLOCK_TIMESTAMP, bits.clock());
            case BitField bits when name.equals("timestamp") && only != null ->
                    with(bits, FieldRole.DEFAULT_CLOCK_TIMESTAMP, only);
            case BitField bits when name.equals("id") -> with(bits, FieldRole.EVENT_CLASS_ID, null);
            case StructureClass structure -> {
                List<Member> members = new ArrayList<>();
                for (Member one : structure.members()) {
                    members.add(new Member(one.name(), eventHeader(one.name(), one.type(), only)));
                }
                yield StructureClass.of(members, structure.alignment());
            }
            case VariantClass variant -> {
                List<VariantOption> options = new ArrayList<>();
                for (VariantOption one : variant.options()) {
                    FieldClass option = eventHeader(one.name(), one.type(), only);
                    options.add(new VariantOption(one.name(), one.ranges(), option));
                }
                yield new VariantClass(variant.selector(), options);
            }
            default -> type;
        };
    }

    private static void collect(@Nullable FieldClass type, Set<String> clocks) {
        switch (type) {
            case null -> {}
            case BitField bits -> {
                if (bits.clock() != null) {
                    clocks.add(bits.clock());
                }
            }
            case StructureClass structure ->
                    structure.members().forEach(one -> collect(one.type(), clocks));
            case VariantClass variant ->
                    variant.options().forEach(one -> collect(one.type(), clocks));
            default -> {}
        }
    }

    private static BitField with(BitField bits, FieldRole role, @Nullable String clock) {
        return new BitField(
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
