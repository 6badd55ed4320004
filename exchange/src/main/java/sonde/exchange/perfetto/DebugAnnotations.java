package sonde.exchange.perfetto;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.exchange.ProtoReader;
import sonde.recording.JsonString;

/** Debug annotations as members of a JSON object (debug_annotation.proto). */
final class DebugAnnotations {
    private static final int MOST_DEPTH = 32;

    private final StringBuilder out = new StringBuilder();
    private final Map<Long, String> names;
    private final Map<Long, String> strings;
    private boolean hasMember;

    DebugAnnotations(PacketSequence sequence) {
        this.names = sequence.annotationNames;
        this.strings = sequence.annotationStrings;
    }

    /** Adds one. */
    void add(ProtoReader annotation) throws MalformedInputException {
        member(annotation, 0);
    }

    /** Adds a member of a name of our own. */
    void add(String name, String value) {
        comma();
        JsonString.append(out, name).append(':');
        JsonString.append(out, value);
    }

    /** The object; empty when nothing was added. */
    String json() {
        return out.isEmpty() ? "" : "{" + out + "}";
    }

    private void comma() {
        if (hasMember) {
            out.append(',');
        }
        hasMember = true;
    }

    private void member(ProtoReader annotation, int depth) throws MalformedInputException {
        ProtoReader look = annotation.copy();
        String name = "";
        while (look.next()) {
            if (look.field() == 1) {
                name = names.getOrDefault(look.value(), "");
            } else if (look.field() == 10) {
                name = look.text();
            }
        }
        comma();
        JsonString.append(out, name).append(':');
        value(annotation, depth);
    }

    private void value(ProtoReader annotation, int depth) throws MalformedInputException {
        if (depth > MOST_DEPTH) {
            out.append("null");
            return;
        }
        int start = out.length();
        char list = 0;
        while (annotation.next()) {
            switch (annotation.field()) {
                case 2 -> out.append(annotation.value() != 0);
                case 3 -> out.append(Long.toUnsignedString(annotation.value()));
                case 4 -> out.append(annotation.value());
                case 5 -> JsonString.append(out, annotation.real());
                case 6, 9 -> JsonString.append(out, annotation.text());
                case 7 -> pointer(annotation.value());
                case 8 -> nested(annotation.message(), depth + 1);
                case 17 -> JsonString.append(out, strings.getOrDefault(annotation.value(), ""));
                case 11 -> {
                    list = open(list, '{');
                    member(annotation.message(), depth + 1);
                }
                case 12 -> {
                    list = open(list, '[');
                    comma();
                    value(annotation.message(), depth + 1);
                }
                default -> {}
            }
        }
        close(list);
        if (out.length() == start) {
            out.append("null");
        }
        hasMember = true;
    }

    private char open(char list, char wanted) {
        if (list == 0) {
            out.append(wanted);
            hasMember = false;
            return wanted;
        }
        return list;
    }

    private void close(char list) {
        if (list != 0) {
            out.append(list == '{' ? '}' : ']');
        }
    }

    private void pointer(long value) {
        out.append("\"0x").append(Long.toHexString(value)).append('"');
    }

    /** NestedValue, which older recorders wrote. */
    private void nested(ProtoReader value, int depth) throws MalformedInputException {
        if (depth > MOST_DEPTH) {
            out.append("null");
            return;
        }
        int start = out.length();
        List<String> keys = new ArrayList<>();
        int at = 0;
        char list = 0;
        ProtoReader look = value.copy();
        while (look.next()) {
            if (look.field() == 2) {
                keys.add(look.text());
            }
        }
        while (value.next()) {
            switch (value.field()) {
                case 3 -> {
                    list = open(list, '{');
                    comma();
                    JsonString.append(out, at < keys.size() ? keys.get(at) : "");
                    out.append(':');
                    at++;
                    nested(value.message(), depth + 1);
                }
                case 4 -> {
                    list = open(list, '[');
                    comma();
                    nested(value.message(), depth + 1);
                }
                case 5 -> out.append(value.value());
                case 6 -> JsonString.append(out, value.real());
                case 7 -> out.append(value.value() != 0);
                case 8 -> JsonString.append(out, value.text());
                default -> {}
            }
        }
        close(list);
        if (out.length() == start) {
            out.append("null");
        }
        hasMember = true;
    }
}
