package sonde.lang.declare;

import org.jspecify.annotations.Nullable;

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
    record Value(long bits, int sizeBytes, boolean unsigned) {
        static final Value ZERO = new Value(0, 4, false);

        static Value of(boolean truth) {
            return new Value(truth ? 1 : 0, 4, false);
        }

        /** As a type of C holds it. */
        static Value of(long bits, int sizeBytes, boolean unsigned) {
            if (sizeBytes >= 8) {
                return new Value(bits, 8, unsigned);
            }
            int shift = 64 - 8 * sizeBytes;
            long kept = unsigned ? bits << shift >>> shift : bits << shift >> shift;
            // Integer promotion (6.3.1.1): what is smaller becomes int.
            return sizeBytes < 4 ? new Value(kept, 4, false) : new Value(kept, 4, unsigned);
        }
    }

    /** What else an expression may speak of. */
    interface Names {
        /** The value of a name; null for none. */
        @Nullable Value constant(String name);

        /** A type in parentheses whose first word is the cursor's; null when none stands there. */
        @Nullable CType typeName(CCursor cursor) throws CSyntaxException;

        /** Bytes of a type. */
        Value size(CToken place, CType type, boolean align) throws CSyntaxException;

        /** Whether a name without a value is 0, as in {@code #if}. */
        boolean unknownIsZero();
    }

    private final CCursor cursor;
    private final Names names;
    private int depth;

    private CExpression(CCursor cursor, Names names) {
        this.cursor = cursor;
        this.names = names;
    }

    /** An expression without commas. */
    static Value read(CCursor cursor, Names names) throws CSyntaxException {
        return new CExpression(cursor, names).conditional();
    }

    private void enter() throws CSyntaxException {
        if (++depth > MOST_DEPTH) {
            throw cursor.fail("this expression is nested too deeply");
        }
    }

    private Value conditional() throws CSyntaxException {
        enter();
        Value condition = binary(0);
        if (cursor.accept("?")) {
            Value yes = cursor.is(":") ? condition : conditional();
            cursor.expect(":");
            Value no = conditional();
            condition = condition.bits() != 0 ? yes : no;
        }
        depth--;
        return condition;
    }

    private Value binary(int level) throws CSyntaxException {
        if (level == LEVELS.length) {
            return unary();
        }
        Value left = binary(level + 1);
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

    private Value apply(CToken place, String sign, Value a, Value b) throws CSyntaxException {
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
            case "||" -> Value.of(x != 0 || y != 0);
            case "&&" -> Value.of(x != 0 && y != 0);
            case "==" -> Value.of(order == 0);
            case "!=" -> Value.of(order != 0);
            case "<" -> Value.of(order < 0);
            case ">" -> Value.of(order > 0);
            case "<=" -> Value.of(order <= 0);
            case ">=" -> Value.of(order >= 0);
            case "<<" -> Value.of(x << y, a.sizeBytes(), a.unsigned());
            case ">>" -> Value.of(a.unsigned() ? x >>> y : x >> y, a.sizeBytes(), a.unsigned());
            case "|" -> Value.of(x | y, size, unsigned);
            case "^" -> Value.of(x ^ y, size, unsigned);
            case "&" -> Value.of(x & y, size, unsigned);
            case "+" -> Value.of(x + y, size, unsigned);
            case "-" -> Value.of(x - y, size, unsigned);
            case "*" -> Value.of(x * y, size, unsigned);
            default -> Value.of(divide(place, x, y, unsigned), size, unsigned);
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

    private Value unary() throws CSyntaxException {
        enter();
        Value value = prefixed();
        depth--;
        return value;
    }

    private Value prefixed() throws CSyntaxException {
        CToken token = cursor.token();
        if (cursor.accept("!")) {
            return Value.of(unary().bits() == 0);
        }
        if (cursor.accept("-")) {
            Value value = unary();
            return Value.of(-value.bits(), value.sizeBytes(), value.unsigned());
        }
        if (cursor.accept("~")) {
            Value value = unary();
            return Value.of(~value.bits(), value.sizeBytes(), value.unsigned());
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

    private Value size(CToken place, boolean align) throws CSyntaxException {
        if (cursor.is("(")) {
            cursor.take();
            CType type = names.typeName(cursor);
            if (type != null) {
                cursor.expect(")");
                return names.size(place, type, align);
            }
        }
        throw new CSyntaxException(place, "the size of this is not known here");
    }

    private Value parenthesized() throws CSyntaxException {
        CToken place = cursor.take();
        CType type = names.typeName(cursor);
        if (type == null) {
            Value value = conditional();
            while (cursor.accept(",")) {
                value = conditional();
            }
            cursor.expect(")");
            return value;
        }
        cursor.expect(")");
        Value value = unary();
        if (type instanceof CType.Plain plain
                && plain.type() instanceof sonde.lang.type.Type.Int number
                && number.sizeBytes() <= 8) {
            return Value.of(value.bits(), number.sizeBytes(), !number.signed());
        }
        if (type instanceof CType.Plain plain
                && plain.type() instanceof sonde.lang.type.Type.Bool) {
            return Value.of(value.bits() != 0);
        }
        if (type instanceof CType.Pointer) {
            return Value.of(value.bits(), 8, true);
        }
        names.size(place, type, false);
        return value;
    }

    private Value primary() throws CSyntaxException {
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

    private Value named(CToken token) throws CSyntaxException {
        Value value = names.constant(token.text());
        if (value != null) {
            return value;
        }
        if (names.unknownIsZero()) {
            if (cursor.is("(")) {
                cursor.skipGroup();
            }
            return Value.ZERO;
        }
        throw new CSyntaxException(token, "use of undeclared identifier '" + token.text() + "'");
    }
}
