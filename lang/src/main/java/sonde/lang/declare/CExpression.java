package sonde.lang.declare;

import org.jspecify.annotations.Nullable;
import sonde.lang.declare.CDeclaredType.CompleteType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.IntType;

/** Constant expressions (C17, 6.6): integers of 64 bits, signed or not. */
final class CExpression {
    private static final int MOST_DEPTH = 200;
    private static final String[][] LEVELS = {
        {"||"},
        {"&&"},
        {"|"},
        {"^"},
        {"&"},
        {"==", "!="},
        {"<", ">", "<=", ">="},
        {"<<", ">>"},
        {"+", "-"},
        {"*", "/", "%"}
    };

    /** A value and how it wraps and compares; those of 4 bytes are kept as C keeps them. */
    record CValue(long bits, int sizeBytes, boolean unsigned) {
        static final CValue ZERO = new CValue(0, 4, false);

        static CValue of(boolean truth) {
            return new CValue(truth ? 1 : 0, 4, false);
        }

        /** As a type of C holds it. */
        static CValue of(long bits, int sizeBytes, boolean unsigned) {
            if (sizeBytes >= 8) {
                return new CValue(bits, 8, unsigned);
            }
            int shift = 64 - 8 * sizeBytes;
            long kept = unsigned ? bits << shift >>> shift : bits << shift >> shift;
            // Integer promotion (6.3.1.1): what is smaller becomes int.
            return sizeBytes < 4 ? new CValue(kept, 4, false) : new CValue(kept, 4, unsigned);
        }
    }

    /** What else an expression may speak of. */
    interface CExpressionNames {
        /** The value of a name; null for none. */
        @Nullable CValue constant(String name);

        /** A type in parentheses whose first word is the cursor's; null when none stands there. */
        @Nullable CDeclaredType typeName(CCursor cursor) throws CSyntaxException;

        /** Bytes of a type. */
        CValue size(CToken place, CDeclaredType type, boolean align) throws CSyntaxException;

        /** Whether a name without a value is 0, as in {@code #if}. */
        boolean unknownIsZero();
    }

    private final CCursor cursor;
    private final CExpressionNames names;
    private int depth;

    private CExpression(CCursor cursor, CExpressionNames names) {
        this.cursor = cursor;
        this.names = names;
    }

    /** An expression without commas. */
    static CValue read(CCursor cursor, CExpressionNames names) throws CSyntaxException {
        return new CExpression(cursor, names).conditional();
    }

    private void enter() throws CSyntaxException {
        if (++depth > MOST_DEPTH) {
            throw cursor.fail("this expression is nested too deeply");
        }
    }

    private CValue conditional() throws CSyntaxException {
        enter();
        CValue condition = binary(0);
        if (cursor.accept("?")) {
            CValue yes = cursor.is(":") ? condition : conditional();
            cursor.expect(":");
            CValue no = conditional();
            condition = condition.bits() != 0 ? yes : no;
        }
        depth--;
        return condition;
    }

    private CValue binary(int level) throws CSyntaxException {
        if (level == LEVELS.length) {
            return unary();
        }
        CValue left = binary(level + 1);
        while (true) {
            String sign = null;
            for (String one : LEVELS[level]) {
                sign = cursor.is(one) ? one : sign;
            }
            if (sign == null) {
                return left;
            }
            CToken place = cursor.take();
            left = apply(place, sign, left, binary(level + 1));
        }
    }

    private CValue apply(CToken place, String sign, CValue a, CValue b) throws CSyntaxException {
        int size = Math.max(a.sizeBytes(), b.sizeBytes());
        boolean unsigned =
                a.sizeBytes() == size && a.unsigned() || b.sizeBytes() == size && b.unsigned();
        long x = a.bits();
        long y = b.bits();
        int order = unsigned ? Long.compareUnsigned(x, y) : Long.compare(x, y);
        boolean inFour = size == 4 && unsigned;
        if (inFour) {
            order = Long.compare(x & 0xffff_ffffL, y & 0xffff_ffffL);
        }
        return switch (sign) {
            case "||" -> CValue.of(x != 0 || y != 0);
            case "&&" -> CValue.of(x != 0 && y != 0);
            case "==" -> CValue.of(order == 0);
            case "!=" -> CValue.of(order != 0);
            case "<" -> CValue.of(order < 0);
            case ">" -> CValue.of(order > 0);
            case "<=" -> CValue.of(order <= 0);
            case ">=" -> CValue.of(order >= 0);
            case "<<" -> CValue.of(x << y, a.sizeBytes(), a.unsigned());
            case ">>" -> CValue.of(a.unsigned() ? x >>> y : x >> y, a.sizeBytes(), a.unsigned());
            case "|" -> CValue.of(x | y, size, unsigned);
            case "^" -> CValue.of(x ^ y, size, unsigned);
            case "&" -> CValue.of(x & y, size, unsigned);
            case "+" -> CValue.of(x + y, size, unsigned);
            case "-" -> CValue.of(x - y, size, unsigned);
            case "*" -> CValue.of(x * y, size, unsigned);
            default -> CValue.of(divide(place, x, y, unsigned), size, unsigned);
        };
    }

    private long divide(CToken place, long x, long y, boolean unsigned) throws CSyntaxException {
        if (y == 0 && names.unknownIsZero()) {
            return 0; // #if defined(N) && 10 / N
        }
        if (y == 0) {
            throw new CSyntaxException(place, "division by zero");
        }
        if (place.is("/")) {
            return unsigned ? Long.divideUnsigned(x, y) : x / y;
        }
        return unsigned ? Long.remainderUnsigned(x, y) : x % y;
    }

    private CValue unary() throws CSyntaxException {
        enter();
        CValue value = prefixed();
        depth--;
        return value;
    }

    private CValue prefixed() throws CSyntaxException {
        CToken token = cursor.token();
        if (cursor.accept("!")) {
            return CValue.of(unary().bits() == 0);
        }
        if (cursor.accept("-")) {
            CValue value = unary();
            return CValue.of(-value.bits(), value.sizeBytes(), value.unsigned());
        }
        if (cursor.accept("~")) {
            CValue value = unary();
            return CValue.of(~value.bits(), value.sizeBytes(), value.unsigned());
        }
        if (cursor.accept("+") || cursor.accept("__extension__")) {
            return unary();
        }
        if (cursor.accept("sizeof")) {
            return size(token, false);
        }
        if (cursor.accept("_Alignof") || cursor.accept("__alignof__")) {
            return size(token, true);
        }
        return cursor.is("(") ? parenthesized() : primary();
    }

    private CValue size(CToken place, boolean align) throws CSyntaxException {
        if (cursor.is("(")) {
            cursor.take();
            CDeclaredType type = names.typeName(cursor);
            if (type != null) {
                cursor.expect(")");
                return names.size(place, type, align);
            }
        }
        throw new CSyntaxException(place, "the size of this is not known here");
    }

    private CValue parenthesized() throws CSyntaxException {
        CToken place = cursor.take();
        CDeclaredType type = names.typeName(cursor);
        if (type == null) {
            CValue value = conditional();
            while (cursor.accept(",")) {
                value = conditional();
            }
            cursor.expect(")");
            return value;
        }
        cursor.expect(")");
        CValue value = unary();
        if (type instanceof CompleteType plain
                && plain.type() instanceof IntType number
                && number.sizeBytes() <= 8) {
            return CValue.of(value.bits(), number.sizeBytes(), !number.signed());
        }
        if (type instanceof CompleteType plain && plain.type() instanceof BoolType) {
            return CValue.of(value.bits() != 0);
        }
        if (type instanceof CDeclaredType.Pointer) {
            return CValue.of(value.bits(), 8, true);
        }
        names.size(place, type, false);
        return value;
    }

    private CValue primary() throws CSyntaxException {
        CToken token = cursor.take();
        return switch (token.kind()) {
            case NUMBER -> CNumbers.integer(token);
            case CHARACTER -> CNumbers.character(token);
            case WORD -> named(token);
            case STRING, SIGN, END, MACRO_END ->
                    throw new CSyntaxException(
                            token, "expected a constant but found " + token.shown());
        };
    }

    private CValue named(CToken token) throws CSyntaxException {
        CValue value = names.constant(token.text());
        if (value != null) {
            return value;
        }
        if (names.unknownIsZero()) {
            if (cursor.is("(")) {
                cursor.skipGroup();
            }
            return CValue.ZERO;
        }
        throw new CSyntaxException(token, "use of undeclared identifier '" + token.text() + "'");
    }
}
