package sonde.lang.output;

import sonde.lang.type.CompositeType;
import sonde.lang.type.TupleType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.BytesType;
import sonde.lang.type.ValueType.CountType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.ExtremeType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.SumType;
import sonde.lang.type.ValueType.TextType;

/**
 * One conversion of a format string.
 *
 * @param spelling its last letters: {@code "d"}, {@code "rx"}
 * @param bits what an integer is cut to
 * @param width least bytes, 0 for any
 * @param precision most bytes of a text, -1 for any
 */
record FormatConversion(
        Kind kind,
        String spelling,
        boolean left,
        boolean plus,
        boolean prefixed,
        boolean zeros,
        int width,
        int precision,
        int bits) {
    /** What is written. */
    enum Kind {
        SIGNED,
        UNSIGNED,
        OCTAL,
        HEX,
        UPPER_HEX,
        CHARACTER,
        POINTER,
        GFP,
        TEXT,
        BUFFER,
        BUFFER_HEX,
        BUFFER_DIGITS,
        /** Floating point, and %n: parsed, never rendered. */
        UNSUPPORTED
    }

    /**
     * As the kernel takes it for a number of 8 bytes or a text; empty for what it does not know.
     */
    String inKernel() {
        String letters =
                switch (kind) {
                    case SIGNED -> "lld";
                    case UNSIGNED -> "llu";
                    case HEX, POINTER -> "llx";
                    case CHARACTER -> "c";
                    case TEXT -> "s";
                    default -> "";
                };
        if (letters.isEmpty() || precision >= 0) {
            return "";
        }
        String sign = left ? "-" : zeros ? "0" : plus ? "+" : "";
        String before = kind == Kind.POINTER || prefixed && kind == Kind.HEX ? "0x" : "";
        return before + "%" + sign + (width > 0 ? width : "") + letters;
    }

    /** Without blanks around it. */
    FormatConversion unpadded() {
        return zeros || width == 0
                ? this
                : new FormatConversion(
                        kind, spelling, left, plus, prefixed, false, 0, precision, bits);
    }

    /** Whether it writes a whole number to the base of ten. */
    boolean isDecimal() {
        return (kind == Kind.SIGNED || kind == Kind.UNSIGNED) && !zeros && !plus;
    }

    /** Whether the argument must be a number. */
    boolean wantsNumber() {
        return switch (kind) {
            case SIGNED, UNSIGNED, OCTAL, HEX, UPPER_HEX, CHARACTER, POINTER, GFP -> true;
            case TEXT, BUFFER, BUFFER_HEX, BUFFER_DIGITS, UNSUPPORTED -> false;
        };
    }

    /** Whether a value of this type is one number. */
    static boolean isNumber(ValueType type) {
        return switch (type) {
            case IntType integer -> integer.sizeBytes() <= 8;
            case BoolType _, PointerType _, EnumType _ -> true;
            case CountType _, SumType _, ExtremeType _ -> true;
            case AverageType average -> !average.full();
            case ValueType _ -> false;
        };
    }

    private static long number(ValueType type, byte[] bytes, int at) {
        return switch (type) {
            case IntType integer ->
                    ValueBytes.integer(bytes, at, integer.sizeBytes(), integer.signed());
            case BoolType _ -> ValueBytes.integer(bytes, at, 1, false) != 0 ? 1 : 0;
            case PointerType _ -> ValueBytes.u64(bytes, at);
            case EnumType constant -> ValueText.number(constant, bytes, at);
            case AggregateType aggregate -> AggregateValues.number(aggregate, bytes, at);
            case ValueType _ -> 0;
        };
    }

    void write(ValueType type, byte[] bytes, int at, ValueNames names, TextSink out) {
        int start = out.size();
        if (!wantsNumber()) {
            text(type, bytes, at, names, out);
            pad(start, firstPiece(type, out.size() - start), out);
        } else if (isNumber(type) && (kind != Kind.GFP || !(type instanceof BoolType))) {
            number(number(type, bytes, at), out);
            pad(start, out.size() - start, out);
        } else {
            out.put(kind == Kind.GFP ? "!{invalid GFP flags" : "!{invalid integer");
            out.put(" conversion: ");
            ValueText.write(type, bytes, at, names, out);
            out.put('}');
        }
    }

    private void number(long value, TextSink out) {
        int unused = 64 - bits;
        long signed = value << unused >> unused;
        long unsigned = value << unused >>> unused;
        switch (kind) {
            case SIGNED -> {
                if (plus && signed >= 0) {
                    out.put('+');
                }
                out.decimal(signed);
            }
            case UNSIGNED -> out.unsigned(unsigned);
            case OCTAL -> {
                if (prefixed && unsigned != 0) {
                    out.put('0');
                }
                out.octal(unsigned);
            }
            case HEX -> hex(unsigned, "0x", out);
            case UPPER_HEX -> hex(unsigned, "0X", out);
            case CHARACTER -> out.foreign((int) value);
            case POINTER -> {
                out.put(value == 0 ? "" : "0x");
                out.hex(value, false);
            }
            case GFP -> GfpFlags.write(value, out);
            case TEXT, BUFFER, BUFFER_HEX, BUFFER_DIGITS, UNSUPPORTED -> {}
        }
    }

    private void hex(long value, String prefix, TextSink out) {
        if (prefixed && value != 0) {
            out.put(prefix);
        }
        out.hex(value, kind == Kind.UPPER_HEX);
    }

    private void text(ValueType type, byte[] bytes, int at, ValueNames names, TextSink out) {
        switch (type) {
            case TextType text when precision < 0 || precision >= text.sizeBytes() ->
                    ValueText.text(bytes, at, text.sizeBytes(), names, out);
            case TextType _ -> {
                int end = ValueBytes.textEnd(bytes, at, precision);
                out.foreign(bytes, Math.min(at, end), end);
            }
            case BytesType buffer when kind != Kind.TEXT ->
                    ValueText.buffer(
                            buffer,
                            bytes,
                            at,
                            kind == Kind.BUFFER,
                            kind != Kind.BUFFER_DIGITS,
                            out);
            case ValueType _ -> {
                int start = out.size();
                ValueText.write(type, bytes, at, names, out);
                if (precision >= 0 && !(type instanceof CompositeType)) {
                    out.truncate(start + precision);
                }
            }
        }
    }

    /** bpftrace pads the opening bracket of what has several values. */
    private static int firstPiece(ValueType type, int length) {
        return switch (type) {
            case ArrayType array when !ValueText.isText(array) -> 1;
            case TupleType tuple when !tuple.named() -> 1;
            case CompositeType _ -> Math.min(2, length);
            case ValueType _ -> length;
        };
    }

    /** As the streams of C++ do: zeros go in front of the sign, and behind what stands left. */
    private void pad(int start, int length, TextSink out) {
        if (width > length) {
            out.insert(left ? start + length : start, zeros ? '0' : ' ', width - length);
        }
    }
}
