package sonde.lang.declare;

import java.util.Locale;
import org.jspecify.annotations.Nullable;
import sonde.lang.declare.CDeclaredType.CompleteType;
import sonde.lang.declare.CExpression.CValue;
import sonde.lang.type.ValueType.IntType;

/** The attributes of gcc that change how things lie; others are passed over. */
final class CAttributes {
    /** What {@code aligned} means without a number on x86-64. */
    private static final int BIGGEST_ALIGNMENT = 16;

    private static final int MOST_ALIGNMENT = 1 << 20;

    private boolean packed;
    private int aligned;
    private @Nullable String mode;

    boolean packed() {
        return packed;
    }

    /** 0 for none. */
    int aligned() {
        return aligned;
    }

    void add(CAttributes other) {
        packed |= other.packed;
        aligned = Math.max(aligned, other.aligned);
        mode = mode == null ? other.mode : mode;
    }

    /** Takes {@code __attribute__((…))} or {@code _Alignas(…)} if one stands here. */
    boolean accept(CCursor cursor, CParser parser) throws CSyntaxException {
        if (cursor.is("_Alignas")) {
            cursor.take();
            cursor.expect("(");
            CToken place = cursor.token();
            CDeclaredType type = parser.typeName(cursor);
            CValue value =
                    type != null
                            ? parser.size(place, type, true)
                            : CExpression.read(cursor, parser);
            align(place, value.bits());
            cursor.expect(")");
            return true;
        }
        if (!cursor.is("__attribute__") && !cursor.is("__attribute")) {
            return false;
        }
        cursor.take();
        cursor.expect("(");
        cursor.expect("(");
        while (!cursor.is(")") && !cursor.isEnd()) {
            if (!cursor.accept(",")) {
                one(cursor, parser);
            }
        }
        cursor.expect(")");
        cursor.expect(")");
        return true;
    }

    private void one(CCursor cursor, CParser parser) throws CSyntaxException {
        CToken name = cursor.take();
        boolean more = cursor.is("(");
        switch (name.text()) {
            case "packed", "__packed__" -> packed = true;
            case "aligned", "__aligned__" -> {
                if (!more) {
                    aligned = Math.max(aligned, BIGGEST_ALIGNMENT);
                } else {
                    cursor.take();
                    align(name, CExpression.read(cursor, parser).bits());
                    cursor.expect(")");
                }
                return;
            }
            case "mode", "__mode__" -> {
                if (more) {
                    mode = cursor.peek(1).text();
                }
            }
            default -> {}
        }
        if (more) {
            cursor.skipGroup();
        }
    }

    private void align(CToken place, long bytes) throws CSyntaxException {
        if (bytes < 0 || bytes > MOST_ALIGNMENT || Long.bitCount(bytes) > 1) {
            throw new CSyntaxException(place, "requested alignment is not a power of 2");
        }
        aligned = Math.max(aligned, (int) bytes);
    }

    /** The type of another size, where {@code mode} says so. */
    CDeclaredType moded(CDeclaredType type) {
        int size = modeBytes();
        return size > 0
                        && type instanceof CompleteType plain
                        && plain.type() instanceof IntType number
                ? new CompleteType(new IntType(size, number.signed()), size)
                : type;
    }

    /** What {@code mode} says, 0 for nothing. */
    int modeBytes() {
        String wanted = mode;
        return wanted == null
                ? 0
                : switch (wanted.replace("_", "").toUpperCase(Locale.ROOT)) {
                    case "QI", "BYTE" -> 1;
                    case "HI" -> 2;
                    case "SI" -> 4;
                    case "DI", "WORD", "POINTER" -> 8;
                    case "TI" -> 16;
                    default -> 0;
                };
    }
}
