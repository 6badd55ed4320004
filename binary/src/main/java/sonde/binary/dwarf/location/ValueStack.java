package sonde.binary.dwarf.location;

import java.util.ArrayList;
import java.util.List;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.Arithmetic;

/** The stack of an expression (DWARF 5, 2.5.1): arithmetic of constants is done, other kept. */
final class ValueStack {
    /** Values grow with every operation; what no compiler writes is refused. */
    private static final int MOST_PARTS = 256;

    private final int addressBytes;
    private final int most;
    private final List<Value> values = new ArrayList<>();

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

    void push(Value value) throws MalformedInputException {
        if (values.size() >= most) {
            throw malformed("more than " + most + " values");
        }
        if (allow(value, MOST_PARTS) < 0) {
            throw malformed("a value too large to be used");
        }
        values.add(cut(value));
    }

    /** What is left of an allowance of parts, below 0 when a value has more. */
    private static int allow(Value value, int allowance) {
        int left = allowance;
        Value at = value;
        while (--left >= 0) {
            switch (at) {
                case Value.AtEntry v -> at = v.value();
                case Value.ThreadLocal v -> at = v.offset();
                case Value.Sum v -> at = v.base();
                case Value.Load v -> at = v.address();
                case Value.Cast v -> at = v.value();
                case Value.Operation v -> {
                    Value right = v.right();
                    left = right == null ? left : allow(right, left);
                    at = v.left();
                }
                case Value.Constant _, Value.Static _, Value.Register _, Value.FrameAddress _ -> {
                    return left;
                }
            }
        }
        return left;
    }

    private Value cut(Value value) {
        return value instanceof Value.Constant constant && addressBytes == 4
                ? new Value.Constant(constant.value() & 0xffff_ffffL)
                : value;
    }

    Value pop() throws MalformedInputException {
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
        push(new Value.Load(pop(), sizeBytes));
    }

    /** Arithmetic of which only the name is kept. */
    void other(String symbol, boolean isBinary) throws MalformedInputException {
        Value right = isBinary ? pop() : null;
        push(new Value.Operation(symbol, pop(), right));
    }

    /** abs to ne (0x19 to 0x2e). */
    void calculate(int code) throws MalformedInputException {
        if (code == 0x19 || code == 0x1f || code == 0x20) {
            unary(code);
            return;
        }
        Value right = pop();
        Value left = pop();
        if (left instanceof Value.Constant a && right instanceof Value.Constant b) {
            if (Arithmetic.divides(code) && b.value() == 0) {
                throw malformed("a division by zero");
            }
            long result = Arithmetic.binary(code, a.value(), b.value(), addressBytes);
            push(new Value.Constant(result));
        } else {
            push(mixed(code, left, right));
        }
    }

    private Value mixed(int code, Value left, Value right) {
        if (code == 0x22 && right instanceof Value.Constant b) {
            return Value.plus(left, b.value());
        }
        if (code == 0x22 && left instanceof Value.Constant a) {
            return Value.plus(right, a.value());
        }
        if (code == 0x1c && right instanceof Value.Constant b) {
            return Value.plus(left, -b.value());
        }
        return new Value.Operation(symbol(code), left, right);
    }

    private void unary(int code) throws MalformedInputException {
        Value value = pop();
        if (value instanceof Value.Constant constant) {
            push(new Value.Constant(Arithmetic.unary(code, constant.value(), addressBytes)));
        } else {
            push(new Value.Operation(symbol(code), value, null));
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
