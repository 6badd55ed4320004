package sonde.binary.dwarf.location;

import java.util.ArrayList;
import java.util.List;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.SymbolicValue.ConstantValue;
import sonde.binary.dwarf.location.SymbolicValue.MemoryValue;
import sonde.binary.dwarf.location.SymbolicValue.OperationValue;
import sonde.binary.dwarf.location.SymbolicValue.RegisterValue;
import sonde.binary.dwarf.location.SymbolicValue.StaticAddress;
import sonde.binary.dwarf.location.SymbolicValue.SumValue;
import sonde.binary.dwarf.location.SymbolicValue.TruncatedValue;
import sonde.binary.dwarf.section.ExpressionArithmetic;

/** The stack of an expression (DWARF 5, 2.5.1): arithmetic of constants is done, other kept. */
final class ValueStack {
    /** Values grow with every operation; what no compiler writes is refused. */
    private static final int MOST_PARTS = 256;

    private final int addressBytes;
    private final int most;
    private final List<SymbolicValue> values = new ArrayList<>();

    ValueStack(int addressBytes, int most) {
        this.addressBytes = addressBytes;
        this.most = most;
    }

    boolean isEmpty() {
        return values.isEmpty();
    }

    void take(ValueStack other) {
        values.clear();
        values.addAll(other.values);
    }

    private static MalformedInputException malformed(String found) {
        return new MalformedInputException("DWARF", "expression", -1, found);
    }

    void push(SymbolicValue value) throws MalformedInputException {
        if (values.size() >= most) {
            throw malformed("more than " + most + " values");
        }
        if (allow(value, MOST_PARTS) < 0) {
            throw malformed("a value too large to be used");
        }
        values.add(cut(value));
    }

    /** What is left of an allowance of parts, below 0 when a value has more. */
    private static int allow(SymbolicValue value, int allowance) {
        int left = allowance;
        SymbolicValue at = value;
        while (--left >= 0) {
            switch (at) {
                case SymbolicValue.AtEntry v -> at = v.value();
                case SymbolicValue.ThreadLocal v -> at = v.offset();
                case SumValue v -> at = v.base();
                case MemoryValue v -> at = v.address();
                case TruncatedValue v -> at = v.value();
                case OperationValue v -> {
                    SymbolicValue right = v.right();
                    left = right == null ? left : allow(right, left);
                    at = v.left();
                }
                case ConstantValue _,
                        StaticAddress _,
                        RegisterValue _,
                        SymbolicValue.FrameAddress _ -> {
                    return left;
                }
            }
        }
        return left;
    }

    private SymbolicValue cut(SymbolicValue value) {
        return value instanceof ConstantValue constant && addressBytes == 4
                ? new ConstantValue(constant.value() & 0xffff_ffffL)
                : value;
    }

    SymbolicValue pop() throws MalformedInputException {
        if (values.isEmpty()) {
            throw malformed("an operation lacks its operand");
        }
        return values.removeLast();
    }

    void pick(int index) throws MalformedInputException {
        if (index >= values.size()) {
            throw malformed("an operation lacks its operand");
        }
        push(values.get(values.size() - 1 - index));
    }

    /** The topmost goes below {@code count - 1} others. */
    void turn(int count) throws MalformedInputException {
        if (count > values.size()) {
            throw malformed("an operation lacks its operand");
        }
        values.add(values.size() - count, values.removeLast());
    }

    void load(int sizeBytes) throws MalformedInputException {
        if (sizeBytes <= 0 || sizeBytes > 16) {
            throw malformed("a number of " + sizeBytes + " bytes");
        }
        push(new MemoryValue(pop(), sizeBytes));
    }

    /** Arithmetic of which only the name is kept. */
    void other(String symbol, boolean isBinary) throws MalformedInputException {
        SymbolicValue right = isBinary ? pop() : null;
        push(new OperationValue(symbol, pop(), right));
    }

    /** abs to ne (0x19 to 0x2e). */
    void calculate(int code) throws MalformedInputException {
        if (code == 0x19 || code == 0x1f || code == 0x20) {
            unary(code);
            return;
        }
        SymbolicValue right = pop();
        SymbolicValue left = pop();
        if (left instanceof ConstantValue a && right instanceof ConstantValue b) {
            if (ExpressionArithmetic.divides(code) && b.value() == 0) {
                throw malformed("a division by zero");
            }
            long result = ExpressionArithmetic.binary(code, a.value(), b.value(), addressBytes);
            push(new ConstantValue(result));
        } else {
            push(mixed(code, left, right));
        }
    }

    private SymbolicValue mixed(int code, SymbolicValue left, SymbolicValue right) {
        if (code == 0x22 && right instanceof ConstantValue b) {
            return SymbolicValue.plus(left, b.value());
        }
        if (code == 0x22 && left instanceof ConstantValue a) {
            return SymbolicValue.plus(right, a.value());
        }
        if (code == 0x1c && right instanceof ConstantValue b) {
            return SymbolicValue.plus(left, -b.value());
        }
        return new OperationValue(symbol(code), left, right);
    }

    private void unary(int code) throws MalformedInputException {
        SymbolicValue value = pop();
        if (value instanceof ConstantValue constant) {
            push(
                    new ConstantValue(
                            ExpressionArithmetic.unary(code, constant.value(), addressBytes)));
        } else {
            push(new OperationValue(symbol(code), value, null));
        }
    }

    private static String symbol(int code) {
        return switch (code) {
            case 0x19 -> "abs";
            case 0x1a -> "&";
            case 0x1b -> "/";
            case 0x1c, 0x1f -> "-";
            case 0x1d -> "%";
            case 0x1e -> "*";
            case 0x20 -> "~";
            case 0x21 -> "|";
            case 0x22 -> "+";
            case 0x24 -> "<<";
            case 0x25, 0x26 -> ">>";
            case 0x27 -> "^";
            case 0x29 -> "==";
            case 0x2a -> ">=";
            case 0x2b -> ">";
            case 0x2c -> "<=";
            case 0x2d -> "<";
            default -> "!=";
        };
    }
}
