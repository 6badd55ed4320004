package sonde.exchange.export;

import java.util.List;
import sonde.event.Clock;
import sonde.exchange.export.CtfTrace.HeaderMember;
import sonde.exchange.export.CtfType.CtfMember;

/** Metadata of CTF 1.8 in its text language (TSDL). Names get the underscore that readers drop. */
final class CtfTextMetadata {
    private CtfTextMetadata() {}

    static String of(CtfTrace trace) {
        StringBuilder out = new StringBuilder("/* CTF 1.8 */\n\n");
        for (int bits = 8; bits <= 64; bits *= 2) {
            for (boolean signed : new boolean[] {false, true}) {
                out.append(
                        "typealias integer { size = %d; align = 8; signed = %s; } := %s;\n"
                                .formatted(bits, signed, integer(bits, signed)));
            }
        }
        out.append("typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := f32;\n");
        out.append("typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; }");
        out.append(" := f64;\n\n");
        String uuid = trace.uuid.toString();
        out.append("trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"").append(uuid);
        out.append("\";\n\tbyte_order = le;\n\tpacket.header := struct {\n\t\tuint32_t magic;\n");
        out.append("\t\tuint8_t uuid[16];\n");
        places(CtfTrace.PACKET_HEADER, "", "", out);
        out.append("\t};\n};\n\nenv {\n");
        trace.environment.forEach((name, value) ->
                out.append("\t%s = %s;\n".formatted(FieldValues.identifier(name), quoted(value))));
        String clock = trace.clockName();
        boolean epoch = trace.clock == Clock.REALTIME;
        out.append("};\n\nclock {\n\tname = \"").append(clock);
        out.append("\";\n\tfreq = 1000000000;\n");
        if (epoch) {
            out.append("\tabsolute = TRUE;\n");
        }
        out.append("};\n\ntypealias integer { size = 64; align = 8; signed = false; map = clock.");
        out.append(clock).append(".value; } := time64;\n\nstream {\n\tid = 0;\n");
        out.append("\tpacket.context := struct {\n");
        places(CtfTrace.PACKET_CONTEXT, "", "timestamp", out);
        out.append("\t};\n\tevent.header := struct {\n");
        places(trace.eventHeader(), "", "timestamp", out);
        out.append("\t};\n\tevent.context := struct {\n");
        places(CtfTrace.COMMON_CONTEXT, "_", "none", out);
        out.append("\t};\n};\n");
        for (CtfType type : trace.types) {
            out.append("\nevent {\n\tid = ").append(type.id);
            out.append(";\n\tname = ").append(quoted(type.name)).append(";\n\tstream_id = 0;\n");
            out.append("\tfields := struct {\n");
            members(type.payload, out);
            out.append("\t};\n};\n");
        }
        return out.toString();
    }

    private static String integer(int bits, boolean signed) {
        return (signed ? "int" : "uint") + bits + "_t";
    }

    private static void places(
            List<HeaderMember> places, String prefix, String stamps, StringBuilder out) {
        for (HeaderMember place : places) {
            boolean time = !stamps.isEmpty() && place.name().startsWith(stamps);
            out.append("\t\t").append(time ? "time64" : integer(place.bits(), place.signed()));
            out.append(' ').append(prefix).append(place.name()).append(";\n");
        }
    }

    private static void members(List<CtfMember> members, StringBuilder out) {
        for (CtfMember member : members) {
            String name = "_" + member.name();
            String length = "_" + CtfType.lengthOf(member.name());
            String element = integer(8 * member.sizeBytes(), member.signed());
            out.append("\t\t")
                    .append(
                            switch (member.form()) {
                                case INTEGER -> element + " " + name;
                                case REAL -> "f" + 8 * member.sizeBytes() + " " + name;
                                case TEXT -> "string " + name;
                                case FIXED -> element + " " + name + "[" + member.count() + "]";
                                case ARRAY, BYTES ->
                                        "uint32_t %s;\n\t\t%s %s[%s]"
                                                .formatted(length, element, name, length);
                            });
            out.append(";\n");
        }
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else {
                out.append(c < ' ' || c == 0x7f ? '?' : c);
            }
        }
        return out.append('"').toString();
    }
}
