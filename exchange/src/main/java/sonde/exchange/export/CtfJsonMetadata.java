package sonde.exchange.export;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;
import sonde.event.Clock;
import sonde.exchange.export.CtfTrace.HeaderMember;
import sonde.exchange.export.CtfType.CtfMember;
import sonde.exchange.export.CtfType.MemberForm;
import sonde.recording.JsonString;

/** Metadata of CTF 2 (CTF2-SPEC-2.0): JSON texts, each behind a record separator. */
final class CtfJsonMetadata {
    private static final char RECORD_SEPARATOR = 0x1e;
    private final StringBuilder out = new StringBuilder();
    private final CtfTrace trace;

    private CtfJsonMetadata(CtfTrace trace) {
        this.trace = trace;
    }

    static String of(CtfTrace trace) {
        return new CtfJsonMetadata(trace).text();
    }

    private String text() {
        StringJoiner uuid = new StringJoiner(",", "[", "]");
        ByteBuffer bytes = ByteBuffer.allocate(16);
        bytes.putLong(trace.uuid.getMostSignificantBits());
        bytes.putLong(trace.uuid.getLeastSignificantBits());
        for (byte b : bytes.array()) {
            uuid.add(Integer.toString(b & 0xff));
        }
        fragment("\"preamble\",\"version\":2,\"uuid\":" + uuid);
        List<String> header = new ArrayList<>();
        header.add(
                member(
                        "magic",
                        "{\"type\":\"fixed-length-unsigned-integer\",\"length\":32,"
                                + "\"byte-order\":\"little-endian\",\"alignment\":8,"
                                + "\"preferred-display-base\":16,"
                                + "\"roles\":[\"packet-magic-number\"]}"));
        header.add(
                member(
                        "uuid",
                        "{\"type\":\"static-length-blob\",\"length\":16,"
                                + "\"roles\":[\"metadata-stream-uuid\"]}"));
        CtfTrace.PACKET_HEADER.forEach(place -> header.add(place(place)));
        StringJoiner environment = new StringJoiner(",", "{", "}");
        trace.environment.forEach(
                (name, value) -> environment.add(quoted(name) + ":" + quoted(value)));
        fragment(
                "\"trace-class\",\"environment\":"
                        + environment
                        + ",\"packet-header-field-class\":"
                        + structure(header));
        String origin = trace.clock == Clock.REALTIME ? ",\"origin\":\"unix-epoch\"" : "";
        fragment(
                "\"clock-class\",\"id\":\"clock\",\"name\":%s,\"frequency\":1000000000%s"
                        .formatted(quoted(trace.clockName()), origin));
        fragment(
                ("\"data-stream-class\",\"id\":0,\"default-clock-class-id\":\"clock\","
                                + "\"packet-context-field-class\":%s,"
                                + "\"event-record-header-field-class\":%s,"
                                + "\"event-record-common-context-field-class\":%s")
                        .formatted(
                                places(CtfTrace.PACKET_CONTEXT),
                                places(trace.eventHeader()),
                                places(CtfTrace.COMMON_CONTEXT)));
        trace.types.forEach(this::type);
        return out.toString();
    }

    private void fragment(String members) {
        out.append(RECORD_SEPARATOR).append("{\"type\":").append(members).append("}\n");
    }

    private void type(CtfType type) {
        fragment(
                ("\"event-record-class\",\"id\":%d,\"data-stream-class-id\":0,\"name\":%s,"
                                + "\"payload-field-class\":%s")
                        .formatted(type.id, quoted(type.name), members(type.payload)));
    }

    private static String members(List<CtfMember> members) {
        List<String> all = new ArrayList<>();
        for (CtfMember member : members) {
            String length = CtfType.lengthOf(member.name());
            String at =
                    "\"length-field-location\":{\"origin\":\"event-record-payload\",\"path\":[%s]}"
                            .formatted(quoted(length));
            boolean counted =
                    member.form() == MemberForm.ARRAY || member.form() == MemberForm.BYTES;
            if (counted) {
                all.add(member(length, integer(32, false, "")));
            }
            int bits = 8 * member.sizeBytes();
            String element = integer(bits, member.signed(), "");
            String type = type(member, bits, element, at);
            all.add(member(member.name(), type));
        }
        return structure(all);
    }

    private static String type(CtfMember member, int bits, String element, String at) {
        return switch (member.form()) {
            case INTEGER -> element;
            case REAL ->
                    "{\"type\":\"fixed-length-floating-point-number\",\"length\":"
                            + bits
                            + ",\"byte-order\":\"little-endian\",\"alignment\":8}";
            case TEXT -> "{\"type\":\"null-terminated-string\"}";
            case FIXED ->
                    "{\"type\":\"static-length-array\",\"length\":"
                            + member.count()
                            + array(element);
            case ARRAY -> "{\"type\":\"dynamic-length-array\"," + at + array(element);
            case BYTES -> "{\"type\":\"dynamic-length-blob\"," + at + "}";
        };
    }

    private static String array(String element) {
        return ",\"element-field-class\":" + element + "}";
    }

    private static String places(List<HeaderMember> places) {
        return structure(places.stream().map(CtfJsonMetadata::place).toList());
    }

    private static String place(HeaderMember place) {
        return member(place.name(), integer(place.bits(), place.signed(), place.role()));
    }

    private static String integer(int bits, boolean signed, String role) {
        return ("{\"type\":\"fixed-length-%s-integer\",\"length\":%d,"
                        + "\"byte-order\":\"little-endian\",\"alignment\":8%s}")
                .formatted(
                        signed ? "signed" : "unsigned",
                        bits,
                        role.isEmpty() ? "" : ",\"roles\":[\"" + role + "\"]");
    }

    private static String structure(List<String> members) {
        return "{\"type\":\"structure\",\"member-classes\":[" + String.join(",", members) + "]}";
    }

    private static String member(String name, String type) {
        return "{\"name\":" + quoted(name) + ",\"field-class\":" + type + "}";
    }

    private static String quoted(String text) {
        return JsonString.append(new StringBuilder(), text).toString();
    }
}
