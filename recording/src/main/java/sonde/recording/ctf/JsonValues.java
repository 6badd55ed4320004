package sonde.recording.ctf;

import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.Bits;
import sonde.recording.ctf.schema.FieldClass.Meaning;
import sonde.recording.ftrace.JsonText;
import sonde.recording.ftrace.TextBuffer;

/** Values of an array as JSON: structures are objects, what an optional leaves out is null. */
final class JsonValues {
    private JsonValues() {}

    static void append(TextBuffer out, Node node, ValueReader in) {
        switch (node.type) {
            case Bits bits -> integer(out, in.integer(), bits);
            case FieldClass.VariableInteger variable ->
                    integer(out, in.integer(), variable.signed());
            case FieldClass.Real real -> real(out, in.real());
            case FieldClass.WideInteger wide -> {
                byte[] digits = in.bytes();
                JsonText.string(out, digits, 0, digits.length);
            }
            case FieldClass.Text text -> {
                byte[] bytes = in.bytes();
                JsonText.string(out, bytes, 0, bytes.length);
            }
            case FieldClass.Blob blob -> bytes(out, in.bytes());
            case FieldClass.Structure structure -> {
                out.put('{');
                for (int i = 0; i < node.children.size(); i++) {
                    out.put(i == 0 ? "" : ",");
                    JsonText.string(out, node.children.get(i).name);
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
            case FieldClass.Variant variant -> option(out, node, in);
            case FieldClass.Optional optional -> option(out, node, in);
        }
    }

    private static void option(TextBuffer out, Node node, ValueReader in) {
        int choice = in.choice();
        if (choice < 0) {
            out.put("null");
        } else {
            append(out, node.children.get(choice), in);
        }
    }

    static void integer(TextBuffer out, long value, Bits bits) {
        if (bits.meaning() == Meaning.BOOLEAN) {
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
