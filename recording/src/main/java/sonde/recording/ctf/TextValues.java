package sonde.recording.ctf;

import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldClass.StructureClass;
import sonde.recording.ctf.schema.FieldClass.TextClass;
import sonde.recording.ctf.schema.FieldClass.VariantClass;
import sonde.recording.ftrace.TextBuffer;

/** Values of an array as babeltrace2 shows them. */
final class TextValues {
    private TextValues() {}

    static void append(TextBuffer out, FieldNode node, ValueReader in) {
        switch (node.type) {
            case BitField bits -> integer(out, node, in);
            case FieldClass.VariableInteger variable -> integer(out, node, in);
            case FieldClass.Real real -> RealNumbers.append(out, in.real());
            case TextClass text -> QuotedText.append(out, in.bytes());
            case FieldClass.WideInteger wide -> out.put(in.bytes());
            case FieldClass.Blob blob -> blob(out, in.bytes());
            case StructureClass structure -> {
                out.put('{');
                for (int i = 0; i < node.children.size(); i++) {
                    FieldNode child = node.children.get(i);
                    out.put(i == 0 ? " " : ", ").put(child.name).put(" = ");
                    append(out, child, in);
                }
                out.put(" }");
            }
            case FieldClass.Array array -> {
                int count = in.count();
                out.put('[');
                for (int i = 0; i < count; i++) {
                    out.put(i == 0 ? " [" : ", [").decimal(i).put("] = ");
                    append(out, node.children.get(0), in);
                }
                out.put(" ]");
            }
            case VariantClass variant -> option(out, node, in);
            case FieldClass.Optional optional -> option(out, node, in);
        }
    }

    private static void integer(TextBuffer out, FieldNode node, ValueReader in) {
        IntegerDisplay shape = IntegerDisplay.of(node.type);
        if (shape != null) {
            shape.append(out, in.integer());
        }
    }

    private static void option(TextBuffer out, FieldNode node, ValueReader in) {
        int choice = in.choice();
        if (choice < 0) {
            out.put("<none>");
        } else {
            append(out.put("{ "), node.children.get(choice), in);
            out.put(" }");
        }
    }

    /** Bytes as an array of hexadecimal numbers. */
    static void blob(TextBuffer out, byte[] bytes) {
        out.put('[');
        for (int i = 0; i < bytes.length; i++) {
            out.put(i == 0 ? " [" : ", [").decimal(i).put("] = 0x");
            int value = bytes[i] & 0xff;
            if (value > 15) {
                out.put(Character.toUpperCase(Character.forDigit(value >> 4, 16)));
            }
            out.put(Character.toUpperCase(Character.forDigit(value & 15, 16)));
        }
        out.put(" ]");
    }
}
