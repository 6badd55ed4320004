package sonde.recording.ctf;

import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.BitMeaning;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.FieldClass.TextClass;
import sonde.recording.ctf.schema.FieldClass.VariantClass;
import sonde.recording.ftrace.JsonBytes;
import sonde.recording.ftrace.TextBuffer;

/** Values of an array as JSON: structures are objects, what an optional leaves out is null. */
final class JsonArrays {
    private JsonArrays() {}

    static void append(TextBuffer out, FieldNode node, ValueReader in) {
        switch (node.type) {
            case BitField bits -> integer(out, in.integer(), bits);
            case FieldClass.VariableInteger variable ->
                    integer(out, in.integer(), variable.signed());
            case FieldClass.Real real -> real(out, in.real());
            case FieldClass.WideInteger wide -> {
                byte[] digits = in.bytes();
                JsonBytes.string(out, digits, 0, digits.length);
            }
            case TextClass text -> {
                byte[] bytes = in.bytes();
                JsonBytes.string(out, bytes, 0, bytes.length);
            }
            case FieldClass.Blob blob -> bytes(out, in.bytes());
            case StructureClass structure -> {
                out.put('{');
                for (int i = 0; i < node.children.size(); i++) {
                    out.put(i == 0 ? "" : ",");
                    JsonBytes.string(out, node.children.get(i).name);
                    append(out.put(':'), node.children.get(i), in);
                }
                out.put('}');
            }
            case FieldClass.Array array -> {
                int count = in.count();
                out.put('[');
                for (int i = 0; i < count; i++) {
                    append(out.put(i == 0 ? "" : ","), node.children.get(0), in);
                }
                out.put(']');
            }
            case VariantClass variant -> option(out, node, in);
            case FieldClass.Optional optional -> option(out, node, in);
        }
    }

    private static void option(TextBuffer out, FieldNode node, ValueReader in) {
        int choice = in.choice();
        if (choice < 0) {
            out.put("null");
        } else {
            append(out, node.children.get(choice), in);
        }
    }

    static void integer(TextBuffer out, long value, BitField bits) {
        if (bits.meaning() == BitMeaning.BOOLEAN) {
            out.put(value != 0 ? "true" : "false");
        } else {
            integer(out, value, bits.signed());
        }
    }

    static void integer(TextBuffer out, long value, boolean signed) {
        if (signed) {
            out.decimal(value);
        } else {
            out.unsigned(value);
        }
    }

    /** JSON has no infinities: they become null. */
    static void real(TextBuffer out, double value) {
        out.put(Double.isFinite(value) ? Double.toString(value) : "null");
    }

    static void bytes(TextBuffer out, byte[] bytes) {
        out.put('[');
        for (int i = 0; i < bytes.length; i++) {
            out.put(i == 0 ? "" : ",").decimal(bytes[i] & 0xff);
        }
        out.put(']');
    }
}
