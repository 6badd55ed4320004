package sonde.lang.ir;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.JumpCondition;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperand.IrNumber;
import sonde.lang.ir.IrOperation.IrAddress;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.IrOperation.IrAtomic;
import sonde.lang.ir.IrOperation.IrBranch;
import sonde.lang.ir.IrOperation.IrCall;
import sonde.lang.ir.IrOperation.IrCallKernel;
import sonde.lang.ir.IrOperation.IrCallLocal;
import sonde.lang.ir.IrOperation.IrConstant;
import sonde.lang.ir.IrOperation.IrCopy;
import sonde.lang.ir.IrOperation.IrGoto;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.IrOperation.IrLoadTime;
import sonde.lang.ir.IrOperation.IrNegate;
import sonde.lang.ir.IrOperation.IrReturn;
import sonde.lang.ir.IrOperation.IrSignExtend;
import sonde.lang.ir.IrOperation.IrStore;
import sonde.lang.ir.IrOperation.IrSwap;

/**
 * Runs functions as they are written: registers are numbers that begin as 0, addresses are those of
 * a stack that grows with every call.
 */
final class Evaluator {
    private static final int MEMORY = 1 << 16;

    private final byte[] memory = new byte[MEMORY];
    private final LongUnaryOperator helper;
    private int top = 64;
    private long budget = 1_000_000;

    /**
     * One.
     *
     * @param helper result of a helper, by its number
     */
    Evaluator(LongUnaryOperator helper) {
        this.helper = helper;
    }

    long run(IrFunction function, List<Long> arguments) {
        int before = top;
        Map<StackObject, Long> places = new HashMap<>();
        for (StackObject object : function.objects()) {
            top = top + 7 & ~7;
            places.put(object, (long) top);
            top += object.sizeBytes();
        }
        long[] values = new long[function.registers().size()];
        for (int i = 0; i < arguments.size(); i++) {
            values[function.parameters().get(i).index()] = arguments.get(i);
        }
        BasicBlock block = function.layout().getFirst();
        while (true) {
            BasicBlock next = null;
            for (BlockStep step : block.steps()) {
                if (--budget < 0) {
                    throw new IllegalStateException("endless");
                }
                IrOperation operation = step.operation();
                if (operation instanceof IrReturn(IrOperand value)) {
                    top = before;
                    return value(values, value);
                }
                next = step(operation, values, places, next);
            }
            block = java.util.Objects.requireNonNull(next);
        }
    }

    private @Nullable BasicBlock step(
            IrOperation operation,
            long[] values,
            Map<StackObject, Long> places,
            @Nullable BasicBlock next) {
        switch (operation) {
            case IrConstant o -> values[o.to().index()] = o.value();
            case IrCopy o -> values[o.to().index()] = values[o.from().index()];
            case IrAlu o ->
                    values[o.to().index()] =
                            alu(
                                    o.operation(),
                                    o.wide(),
                                    values[o.left().index()],
                                    value(values, o.right()));
            case IrNegate o -> values[o.to().index()] = -values[o.from().index()];
            case IrSignExtend o ->
                    values[o.to().index()] = signed(o.bits(), values[o.from().index()]);
            case IrSwap o -> values[o.to().index()] = swapped(o.bits(), values[o.from().index()]);
            case IrLoad o ->
                    values[o.to().index()] =
                            load(
                                    address(values, places, o.base()) + o.offset(),
                                    o.width().bytes(),
                                    o.signed());
            case IrStore o ->
                    store(
                            address(values, places, o.base()) + o.offset(),
                            o.width().bytes(),
                            value(values, o.from()));
            case IrAtomic o -> atomic(o, values, places);
            case IrAddress o -> {
                Long place = places.get(o.object());
                values[o.to().index()] = (place == null ? 0 : place) + o.offset();
            }
            case IrCall o -> result(values, o.to(), helper.applyAsLong(o.helper()));
            case IrCallLocal o -> {
                List<Long> arguments = new ArrayList<>();
                o.arguments().forEach(one -> arguments.add(value(values, one)));
                result(values, o.to(), run(o.function(), arguments));
            }
            case IrGoto(BasicBlock target) -> {
                return target;
            }
            case IrBranch o -> {
                boolean holds =
                        holds(
                                o.condition(),
                                o.wide(),
                                values[o.left().index()],
                                value(values, o.right()));
                return holds ? o.then() : o.otherwise();
            }
            case IrReturn _,
                    IrOperation.MapAddress _,
                    IrOperation.MapValue _,
                    IrOperation.FunctionAddress _,
                    IrOperation.KernelVariable _,
                    IrLoadTime _,
                    IrCallKernel _,
                    IrOperation.CallImported _ ->
                    throw new IllegalArgumentException(operation.toString());
        }
        return next;
    }

    private static long signed(int bits, long from) {
        return switch (bits) {
            case 8 -> (byte) from;
            case 16 -> (short) from;
            default -> (int) from;
        };
    }

    private static long swapped(int bits, long from) {
        return switch (bits) {
            case 16 -> Short.reverseBytes((short) from) & 0xffffL;
            case 32 -> Integer.reverseBytes((int) from) & 0xffffffffL;
            default -> Long.reverseBytes(from);
        };
    }

    private void atomic(IrAtomic o, long[] values, Map<StackObject, Long> places) {
        long at = address(values, places, o.base()) + o.offset();
        int bytes = o.width().bytes();
        long old = load(at, bytes, false);
        long from = values[o.from().index()];
        long expected = o.result() == null ? 0 : values[o.result().index()];
        expected = bytes == 8 ? expected : expected & 0xffffffffL;
        store(
                at,
                bytes,
                switch (o.operation()) {
                    case ADD, FETCH_ADD -> old + from;
                    case OR, FETCH_OR -> old | from;
                    case AND, FETCH_AND -> old & from;
                    case XOR, FETCH_XOR -> old ^ from;
                    case EXCHANGE -> from;
                    case COMPARE_EXCHANGE -> old == expected ? from : old;
                });
        if (o.operation().fetches()) {
            result(values, o.result(), old);
        }
    }

    private static void result(long[] values, @Nullable VirtualRegister to, long value) {
        if (to != null) {
            values[to.index()] = value;
        }
    }

    private static long value(long[] values, IrOperand operand) {
        return switch (operand) {
            case IrNumber(long number) -> number;
            case VirtualRegister register -> values[register.index()];
        };
    }

    private static long address(long[] values, Map<StackObject, Long> places, AccessAnchor anchor) {
        return switch (anchor) {
            case VirtualRegister register -> values[register.index()];
            case StackObject object -> java.util.Objects.requireNonNull(places.get(object));
        };
    }

    private long load(long at, int bytes, boolean signed) {
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            value |= (memory[(int) at + i] & 0xffL) << 8 * i;
        }
        return signed ? value << 64 - 8 * bytes >> 64 - 8 * bytes : value;
    }

    private void store(long at, int bytes, long value) {
        for (int i = 0; i < bytes; i++) {
            memory[(int) at + i] = (byte) (value >>> 8 * i);
        }
    }

    private static long alu(AluOperation operation, boolean wide, long left, long right) {
        // Of 32 bits: shifts and divisions of the halves, as numbers with or without their sign.
        long a = wide ? left : left & 0xffffffffL;
        long b = wide ? right : right & 0xffffffffL;
        long sa = wide ? left : (int) left;
        long sb = wide ? right : (int) right;
        int mask = wide ? 63 : 31;
        long result =
                switch (operation) {
                    case ADD -> a + b;
                    case SUBTRACT -> a - b;
                    case MULTIPLY -> a * b;
                    case DIVIDE -> b == 0 ? 0 : Long.divideUnsigned(a, b);
                    case REMAINDER -> b == 0 ? a : Long.remainderUnsigned(a, b);
                    case OR -> a | b;
                    case AND -> a & b;
                    case XOR -> a ^ b;
                    case MOVE -> b;
                    case SHIFT_LEFT -> a << (b & mask);
                    case SHIFT_RIGHT -> a >>> (b & mask);
                    case SHIFT_RIGHT_SIGNED -> sa >> (b & mask);
                    case SIGNED_DIVIDE -> sb == 0 ? 0 : sa / sb;
                    case SIGNED_REMAINDER -> sb == 0 ? sa : sa % sb;
                };
        return wide ? result : result & 0xffffffffL;
    }

    private static boolean holds(JumpCondition condition, boolean wide, long left, long right) {
        long a = wide ? left : left & 0xffffffffL;
        long b = wide ? right : right & 0xffffffffL;
        long sa = wide ? left : (int) left;
        long sb = wide ? right : (int) right;
        return switch (condition) {
            case EQUAL -> a == b;
            case NOT_EQUAL -> a != b;
            case ANY_BIT -> (a & b) != 0;
            case GREATER -> Long.compareUnsigned(a, b) > 0;
            case GREATER_OR_EQUAL -> Long.compareUnsigned(a, b) >= 0;
            case LESS -> Long.compareUnsigned(a, b) < 0;
            case LESS_OR_EQUAL -> Long.compareUnsigned(a, b) <= 0;
            case SIGNED_GREATER -> sa > sb;
            case SIGNED_GREATER_OR_EQUAL -> sa >= sb;
            case SIGNED_LESS -> sa < sb;
            case SIGNED_LESS_OR_EQUAL -> sa <= sb;
        };
    }
}
