package sonde.recording.ftrace;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Field;
import sonde.event.IntegerField;

/** What stands as an argument in a {@code print fmt}: a number, a place in the payload, a text. */
sealed interface PrintExpression
        permits PrintExpression.NumberExpression,
                PrintExpression.PayloadArray,
                PrintArgument,
                PrintExpression.RecordReference,
                PrintExpression.ListedArray,
                PrintExpression.AggregateVariable,
                StatementExpressions.PrintedSoFar {

    /** {@code REC} itself, before its {@code ->}. */
    record RecordReference() implements PrintExpression {}

    /**
     * An array that the format itself lists.
     *
     * @param type of the elements, null when they are no integers
     */
    record ListedArray(List<PrintExpression> elements, @Nullable CIntegerType type)
            implements PrintExpression {}

    /** A struct or union that a variable holds. */
    record AggregateVariable(NumberExpression value, PackedStruct layout)
            implements PrintExpression {}

    /** Something with a number. */
    sealed interface NumberExpression extends PrintExpression
            permits ConstantExpression,
                    FieldValue,
                    ElementExpression,
                    UnaryExpression,
                    BinaryExpression,
                    ConditionalExpression,
                    CastExpression,
                    ArrayLength,
                    SwapExpression,
                    TableElement,
                    BitFunction {
        /** The number in that row. */
        long of(Batch batch, int row);

        /** Its type. */
        CIntegerType type();
    }

    record ConstantExpression(long value, CIntegerType type) implements NumberExpression {
        @Override
        public long of(Batch batch, int row) {
            return value;
        }
    }

    record FieldValue(Field field, IntegerField accessor, CIntegerType type)
            implements NumberExpression {
        @Override
        public long of(Batch batch, int row) {
            return accessor.of(batch, row);
        }
    }

    /** An element of an array in the payload; 0 beyond its end. */
    record ElementExpression(
            PayloadArray array, NumberExpression index, int elementBytes, CIntegerType type)
            implements NumberExpression {
        @Override
        public long of(Batch batch, int row) {
            long i = index.of(batch, row);
            if (i < 0 || i > array.sizeBytes(batch, row) / elementBytes - 1) {
                return 0;
            }
            return type.wrap(
                    PayloadArray.integer(
                            batch,
                            row,
                            array.offset(batch, row) + (int) i * elementBytes,
                            elementBytes));
        }
    }

    record UnaryExpression(char operator, NumberExpression operand, CIntegerType type)
            implements NumberExpression {
        @Override
        public long of(Batch batch, int row) {
            long value = operand.of(batch, row);
            return switch (operator) {
                case '-' -> type.wrap(-value);
                case '~' -> type.wrap(~value);
                default -> value == 0 ? 1 : 0;
            };
        }
    }

    record BinaryExpression(
            PrintOperator operator,
            NumberExpression left,
            NumberExpression right,
            CIntegerType type,
            boolean unsigned)
            implements NumberExpression {
        @Override
        public long of(Batch batch, int row) {
            long a = left.of(batch, row);
            if (operator == PrintOperator.AND) {
                return a != 0 && right.of(batch, row) != 0 ? 1 : 0;
            }
            if (operator == PrintOperator.OR) {
                return a != 0 || right.of(batch, row) != 0 ? 1 : 0;
            }
            return type.wrap(operator.apply(a, right.of(batch, row), unsigned));
        }
    }

    record ConditionalExpression(
            NumberExpression condition,
            NumberExpression yes,
            NumberExpression no,
            CIntegerType type)
            implements NumberExpression {
        @Override
        public long of(Batch batch, int row) {
            return condition.of(batch, row) != 0 ? yes.of(batch, row) : no.of(batch, row);
        }
    }

    record CastExpression(NumberExpression operand, CIntegerType type) implements NumberExpression {
        @Override
        public long of(Batch batch, int row) {
            return type.wrap(operand.of(batch, row));
        }
    }

    /** Bytes of a dynamic array, divided by {@code unit}. */
    record ArrayLength(PayloadArray array, int unit, CIntegerType type)
            implements NumberExpression {
        @Override
        public long of(Batch batch, int row) {
            return array.sizeBytes(batch, row) / unit;
        }
    }

    /** Bytes of 2, 4 or 8 turned around: {@code __fswab32}, {@code be32_to_cpu}. */
    record SwapExpression(NumberExpression operand, CIntegerType type) implements NumberExpression {
        @Override
        public long of(Batch batch, int row) {
            long value = operand.of(batch, row);
            return switch (type.sizeBytes()) {
                case 2 -> Short.reverseBytes((short) value) & 0xffff;
                case 4 -> Integer.reverseBytes((int) value) & 0xffff_ffffL;
                default -> Long.reverseBytes(value);
            };
        }
    }

    /** An element of a {@link ListedArray}; 0 beyond its end. */
    record TableElement(NumberExpression index, List<NumberExpression> elements, CIntegerType type)
            implements NumberExpression {
        @Override
        public long of(Batch batch, int row) {
            long i = index.of(batch, row);
            return i < 0 || i >= elements.size()
                    ? 0
                    : type.wrap(elements.get((int) i).of(batch, row));
        }
    }

    /** What the compiler's and the kernel's functions say of the bits of a number. */
    record BitFunction(Kind kind, NumberExpression operand) implements NumberExpression {
        /** Which function. */
        enum Kind {
            LEADING_ZEROS,
            TRAILING_ZEROS,
            FIRST_SET,
            LAST_SET,
            LOG2,
            LOG2_UP,
            COUNT,
        }

        @Override
        public long of(Batch batch, int row) {
            return kind(kind, operand.of(batch, row), 8 * operand.type().promoted().sizeBytes());
        }

        static long kind(Kind kind, long value, int width) {
            long bits = width == 64 ? value : value & 0xffff_ffffL;
            int last = 64 - Long.numberOfLeadingZeros(bits);
            return switch (kind) {
                case LEADING_ZEROS -> width - last;
                case TRAILING_ZEROS -> bits == 0 ? width : Long.numberOfTrailingZeros(bits);
                case FIRST_SET -> bits == 0 ? 0 : Long.numberOfTrailingZeros(bits) + 1;
                case LAST_SET -> last;
                case LOG2 -> last - 1;
                case LOG2_UP -> bits <= 1 ? 0 : 64 - Long.numberOfLeadingZeros(bits - 1);
                case COUNT -> Long.bitCount(bits);
            };
        }

        @Override
        public CIntegerType type() {
            return CIntegerType.INT;
        }
    }

    /**
     * Bytes in the payload: an array in place or a dynamic one.
     *
     * @param elementBytes of one element
     * @param signed whether elements are signed
     */
    record PayloadArray(Field field, int elementBytes, boolean signed) implements PrintExpression {
        /** Offset in the payload, inside it. */
        int offset(Batch batch, int row) {
            return field.offset(batch, row);
        }

        /** Bytes there are, never more than the payload has. */
        int sizeBytes(Batch batch, int row) {
            return field.sizeBytes(batch, row);
        }

        /** An unsigned integer of 1, 2, 4 or 8 bytes. */
        static long integer(Batch batch, int row, int offset, int sizeBytes) {
            return switch (sizeBytes) {
                case 1 -> batch.u8(row, offset);
                case 2 -> batch.u16(row, offset);
                case 4 -> batch.u32(row, offset) & 0xffff_ffffL;
                default -> batch.u64(row, offset);
            };
        }
    }

    /** Operators of two operands, with C's precedence (higher binds tighter). */
    enum PrintOperator {
        OR("||", 1),
        AND("&&", 2),
        BIT_OR("|", 3),
        BIT_XOR("^", 4),
        BIT_AND("&", 5),
        EQUAL("==", 6),
        NOT_EQUAL("!=", 6),
        LESS("<", 7),
        GREATER(">", 7),
        AT_MOST("<=", 7),
        AT_LEAST(">=", 7),
        LEFT("<<", 8),
        RIGHT(">>", 8),
        PLUS("+", 9),
        MINUS("-", 9),
        TIMES("*", 10),
        DIVIDE("/", 10),
        MODULO("%", 10);

        final String spelling;
        final int precedence;

        PrintOperator(String spelling, int precedence) {
            this.spelling = spelling;
            this.precedence = precedence;
        }

        static final List<PrintOperator> ALL = List.of(values());

        boolean isComparison() {
            return precedence == 6 || precedence == 7 || precedence <= 2;
        }

        boolean isShift() {
            return precedence == 8;
        }

        /** What the kernel would have got; division by 0 gives 0. */
        long apply(long a, long b, boolean unsigned) {
            return switch (this) {
                case OR -> a != 0 || b != 0 ? 1 : 0;
                case AND -> a != 0 && b != 0 ? 1 : 0;
                case BIT_OR -> a | b;
                case BIT_XOR -> a ^ b;
                case BIT_AND -> a & b;
                case EQUAL -> a == b ? 1 : 0;
                case NOT_EQUAL -> a != b ? 1 : 0;
                case LESS -> compare(a, b, unsigned) < 0 ? 1 : 0;
                case GREATER -> compare(a, b, unsigned) > 0 ? 1 : 0;
                case AT_MOST -> compare(a, b, unsigned) <= 0 ? 1 : 0;
                case AT_LEAST -> compare(a, b, unsigned) >= 0 ? 1 : 0;
                case LEFT -> b > 63 || b < 0 ? 0 : a << b;
                case RIGHT -> b > 63 || b < 0 ? 0 : unsigned ? a >>> b : a >> b;
                case PLUS -> a + b;
                case MINUS -> a - b;
                case TIMES -> a * b;
                case DIVIDE -> b == 0 ? 0 : unsigned ? Long.divideUnsigned(a, b) : a / b;
                case MODULO -> b == 0 ? 0 : unsigned ? Long.remainderUnsigned(a, b) : a % b;
            };
        }

        private static int compare(long a, long b, boolean unsigned) {
            return unsigned ? Long.compareUnsigned(a, b) : Long.compare(a, b);
        }
    }
}
