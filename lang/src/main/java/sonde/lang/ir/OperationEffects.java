package sonde.lang.ir;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AtomicOperation;
import sonde.lang.ir.IrOperation.CallImported;
import sonde.lang.ir.IrOperation.Ending;
import sonde.lang.ir.IrOperation.FunctionAddress;
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
import sonde.lang.ir.IrOperation.KernelVariable;
import sonde.lang.ir.IrOperation.MapAddress;
import sonde.lang.ir.IrOperation.MapValue;

/** What operations read and write, and the same operations with others in their places. */
final class OperationEffects {
    private OperationEffects() {}

    /** The register that an operation writes; null for none. */
    static @Nullable VirtualRegister written(IrOperation operation) {
        return switch (operation) {
            case IrConstant o -> o.to();
            case IrCopy o -> o.to();
            case IrAlu o -> o.to();
            case IrNegate o -> o.to();
            case IrSignExtend o -> o.to();
            case IrSwap o -> o.to();
            case IrLoad o -> o.to();
            case IrAtomic o -> o.result();
            case IrAddress o -> o.to();
            case MapAddress o -> o.to();
            case MapValue o -> o.to();
            case FunctionAddress o -> o.to();
            case KernelVariable o -> o.to();
            case IrLoadTime o -> o.to();
            case IrCall o -> o.to();
            case IrCallKernel o -> o.to();
            case IrCallLocal o -> o.to();
            case CallImported o -> o.to();
            case IrStore _, IrGoto _, IrBranch _, IrReturn _ -> null;
        };
    }

    /** Tells the registers that an operation reads, one that is read twice twice. */
    static void reads(IrOperation operation, Consumer<VirtualRegister> reader) {
        switch (operation) {
            case IrCopy o -> reader.accept(o.from());
            case IrAlu o -> {
                reader.accept(o.left());
                read(o.right(), reader);
            }
            case IrNegate o -> reader.accept(o.from());
            case IrSignExtend o -> reader.accept(o.from());
            case IrSwap o -> reader.accept(o.from());
            case IrLoad o -> read(o.base(), reader);
            case IrStore o -> {
                read(o.base(), reader);
                read(o.from(), reader);
            }
            case IrAtomic o -> {
                read(o.base(), reader);
                reader.accept(o.from());
                VirtualRegister expected = expected(o);
                if (expected != null) {
                    reader.accept(expected);
                }
            }
            case IrCall o -> o.arguments().forEach(argument -> read(argument, reader));
            case IrCallKernel o -> o.arguments().forEach(argument -> read(argument, reader));
            case IrCallLocal o -> o.arguments().forEach(argument -> read(argument, reader));
            case CallImported o -> o.arguments().forEach(argument -> read(argument, reader));
            case IrBranch o -> {
                reader.accept(o.left());
                read(o.right(), reader);
            }
            case IrReturn o -> read(o.value(), reader);
            case IrConstant _,
                    IrAddress _,
                    MapAddress _,
                    MapValue _,
                    FunctionAddress _,
                    KernelVariable _,
                    IrLoadTime _,
                    IrGoto _ -> {}
        }
    }

    /** What a compare-and-exchange compares with: its result holds it before. */
    private static @Nullable VirtualRegister expected(IrAtomic o) {
        return o.operation() == AtomicOperation.COMPARE_EXCHANGE ? o.result() : null;
    }

    private static void read(IrOperand operand, Consumer<VirtualRegister> reader) {
        if (operand instanceof VirtualRegister register) {
            reader.accept(register);
        }
    }

    private static void read(AccessAnchor anchor, Consumer<VirtualRegister> reader) {
        if (anchor instanceof VirtualRegister register) {
            reader.accept(register);
        }
    }

    /** The operation with other registers where it reads; what is both read and written stays. */
    static IrOperation withReads(IrOperation operation, UnaryOperator<VirtualRegister> f) {
        return switch (operation) {
            case IrCopy o -> new IrCopy(o.to(), f.apply(o.from()));
            case IrAlu o ->
                    new IrAlu(
                            o.operation(),
                            o.wide(),
                            o.to(),
                            f.apply(o.left()),
                            operand(o.right(), f));
            case IrNegate o -> new IrNegate(o.to(), f.apply(o.from()));
            case IrSignExtend o -> new IrSignExtend(o.bits(), o.to(), f.apply(o.from()));
            case IrSwap o -> new IrSwap(o.bits(), o.to(), f.apply(o.from()));
            case IrLoad o ->
                    new IrLoad(o.width(), o.signed(), o.to(), anchor(o.base(), f), o.offset());
            case IrStore o ->
                    new IrStore(o.width(), anchor(o.base(), f), o.offset(), operand(o.from(), f));
            case IrAtomic o ->
                    new IrAtomic(
                            o.operation(),
                            o.width(),
                            anchor(o.base(), f),
                            o.offset(),
                            f.apply(o.from()),
                            o.result());
            case IrCall o -> new IrCall(o.to(), o.helper(), operands(o.arguments(), f));
            case IrCallKernel o ->
                    new IrCallKernel(o.to(), o.function(), operands(o.arguments(), f));
            case IrCallLocal o -> new IrCallLocal(o.to(), o.function(), operands(o.arguments(), f));
            case CallImported o ->
                    new CallImported(o.to(), o.function(), operands(o.arguments(), f));
            case IrBranch o ->
                    new IrBranch(
                            o.condition(),
                            o.wide(),
                            f.apply(o.left()),
                            operand(o.right(), f),
                            o.then(),
                            o.otherwise());
            case IrReturn o -> new IrReturn(operand(o.value(), f));
            case IrConstant _,
                    IrAddress _,
                    MapAddress _,
                    MapValue _,
                    FunctionAddress _,
                    KernelVariable _,
                    IrLoadTime _,
                    IrGoto _ ->
                    operation;
        };
    }

    private static IrOperand operand(IrOperand operand, UnaryOperator<VirtualRegister> f) {
        return operand instanceof VirtualRegister register ? f.apply(register) : operand;
    }

    private static AccessAnchor anchor(AccessAnchor anchor, UnaryOperator<VirtualRegister> f) {
        return anchor instanceof VirtualRegister register ? f.apply(register) : anchor;
    }

    private static List<IrOperand> operands(
            List<IrOperand> operands, UnaryOperator<VirtualRegister> f) {
        return operands.stream().map(operand -> operand(operand, f)).toList();
    }

    /** The operation with another register where it writes; one that writes nothing as it is. */
    static IrOperation withWritten(IrOperation operation, UnaryOperator<VirtualRegister> f) {
        return switch (operation) {
            case IrConstant o -> new IrConstant(f.apply(o.to()), o.value());
            case IrCopy o -> new IrCopy(f.apply(o.to()), o.from());
            case IrAlu o ->
                    new IrAlu(o.operation(), o.wide(), f.apply(o.to()), o.left(), o.right());
            case IrNegate o -> new IrNegate(f.apply(o.to()), o.from());
            case IrSignExtend o -> new IrSignExtend(o.bits(), f.apply(o.to()), o.from());
            case IrSwap o -> new IrSwap(o.bits(), f.apply(o.to()), o.from());
            case IrLoad o ->
                    new IrLoad(o.width(), o.signed(), f.apply(o.to()), o.base(), o.offset());
            case IrAtomic o ->
                    new IrAtomic(
                            o.operation(),
                            o.width(),
                            o.base(),
                            o.offset(),
                            o.from(),
                            result(o.result(), f));
            case IrAddress o -> new IrAddress(f.apply(o.to()), o.object(), o.offset());
            case MapAddress o -> new MapAddress(f.apply(o.to()), o.map());
            case MapValue o -> new MapValue(f.apply(o.to()), o.map(), o.offset());
            case FunctionAddress o -> new FunctionAddress(f.apply(o.to()), o.function());
            case KernelVariable o -> new KernelVariable(f.apply(o.to()), o.btfId());
            case IrLoadTime o -> new IrLoadTime(f.apply(o.to()), o.wanted());
            case IrCall o -> new IrCall(result(o.to(), f), o.helper(), o.arguments());
            case IrCallKernel o -> new IrCallKernel(result(o.to(), f), o.function(), o.arguments());
            case IrCallLocal o -> new IrCallLocal(result(o.to(), f), o.function(), o.arguments());
            case CallImported o -> new CallImported(result(o.to(), f), o.function(), o.arguments());
            case IrStore _, IrGoto _, IrBranch _, IrReturn _ -> operation;
        };
    }

    private static @Nullable VirtualRegister result(
            @Nullable VirtualRegister to, UnaryOperator<VirtualRegister> f) {
        return to == null ? null : f.apply(to);
    }

    /** Whether nothing but the register that it writes tells that it ran. */
    static boolean isPure(IrOperation operation) {
        return switch (operation) {
            case IrConstant _,
                    IrCopy _,
                    IrAlu _,
                    IrNegate _,
                    IrSignExtend _,
                    IrSwap _,
                    IrLoad _,
                    IrAddress _,
                    MapAddress _,
                    MapValue _,
                    FunctionAddress _,
                    KernelVariable _,
                    IrLoadTime _ ->
                    true;
            case IrStore _,
                    IrAtomic _,
                    IrCall _,
                    IrCallKernel _,
                    IrCallLocal _,
                    CallImported _,
                    IrGoto _,
                    IrBranch _,
                    IrReturn _ ->
                    false;
        };
    }

    /** Whether it can be run again anywhere with the same result, for one or two instructions. */
    static boolean isRepeatable(IrOperation operation) {
        return switch (operation) {
            case IrConstant _,
                    IrAddress _,
                    MapAddress _,
                    MapValue _,
                    FunctionAddress _,
                    KernelVariable _,
                    IrLoadTime _ ->
                    true;
            default -> false;
        };
    }

    /** Whether R0 to R5 are lost. */
    static boolean isCall(IrOperation operation) {
        return operation instanceof IrCall
                || operation instanceof IrCallKernel
                || operation instanceof IrCallLocal
                || operation instanceof CallImported;
    }

    /** Where a block may go. */
    static List<BasicBlock> targets(BasicBlock block) {
        return block.steps().getLast().operation() instanceof Ending ending
                ? targets(ending)
                : List.of();
    }

    static List<BasicBlock> targets(Ending ending) {
        return switch (ending) {
            case IrGoto o -> List.of(o.target());
            case IrBranch o -> List.of(o.then(), o.otherwise());
            case IrReturn _ -> List.of();
        };
    }

    static Ending withTargets(Ending ending, UnaryOperator<BasicBlock> f) {
        return switch (ending) {
            case IrGoto o -> new IrGoto(f.apply(o.target()));
            case IrBranch o ->
                    new IrBranch(
                            o.condition(),
                            o.wide(),
                            o.left(),
                            o.right(),
                            f.apply(o.then()),
                            f.apply(o.otherwise()));
            case IrReturn o -> o;
        };
    }
}
