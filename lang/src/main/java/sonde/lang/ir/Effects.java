package sonde.lang.ir;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AtomicOperation;
import sonde.lang.ir.Operation.Address;
import sonde.lang.ir.Operation.Alu;
import sonde.lang.ir.Operation.Atomic;
import sonde.lang.ir.Operation.Branch;
import sonde.lang.ir.Operation.Call;
import sonde.lang.ir.Operation.CallImported;
import sonde.lang.ir.Operation.CallKernel;
import sonde.lang.ir.Operation.CallLocal;
import sonde.lang.ir.Operation.Constant;
import sonde.lang.ir.Operation.Copy;
import sonde.lang.ir.Operation.Ending;
import sonde.lang.ir.Operation.FunctionAddress;
import sonde.lang.ir.Operation.Goto;
import sonde.lang.ir.Operation.KernelVariable;
import sonde.lang.ir.Operation.Later;
import sonde.lang.ir.Operation.Load;
import sonde.lang.ir.Operation.MapAddress;
import sonde.lang.ir.Operation.MapValue;
import sonde.lang.ir.Operation.Negate;
import sonde.lang.ir.Operation.Return;
import sonde.lang.ir.Operation.SignExtend;
import sonde.lang.ir.Operation.Store;
import sonde.lang.ir.Operation.Swap;

/** What operations read and write, and the same operations with others in their places. */
final class Effects {
    private Effects() {}

    /** The register that an operation writes; null for none. */
    static @Nullable Vreg written(Operation operation) {
        return switch (operation) {
            case Constant o -> o.to();
            case Copy o -> o.to();
            case Alu o -> o.to();
            case Negate o -> o.to();
            case SignExtend o -> o.to();
            case Swap o -> o.to();
            case Load o -> o.to();
            case Atomic o -> o.result();
            case Address o -> o.to();
            case MapAddress o -> o.to();
            case MapValue o -> o.to();
            case FunctionAddress o -> o.to();
            case KernelVariable o -> o.to();
            case Later o -> o.to();
            case Call o -> o.to();
            case CallKernel o -> o.to();
            case CallLocal o -> o.to();
            case CallImported o -> o.to();
            case Store _, Goto _, Branch _, Return _ -> null;
        };
    }

    /** Tells the registers that an operation reads, one that is read twice twice. */
    static void reads(Operation operation, Consumer<Vreg> reader) {
        switch (operation) {
            case Copy o -> reader.accept(o.from());
            case Alu o -> {
                reader.accept(o.left());
                read(o.right(), reader);
            }
            case Negate o -> reader.accept(o.from());
            case SignExtend o -> reader.accept(o.from());
            case Swap o -> reader.accept(o.from());
            case Load o -> read(o.base(), reader);
            case Store o -> {
                read(o.base(), reader);
                read(o.from(), reader);
            }
            case Atomic o -> {
                read(o.base(), reader);
                reader.accept(o.from());
                Vreg expected = expected(o);
                if (expected != null) {
                    reader.accept(expected);
                }
            }
            case Call o -> o.arguments().forEach(argument -> read(argument, reader));
            case CallKernel o -> o.arguments().forEach(argument -> read(argument, reader));
            case CallLocal o -> o.arguments().forEach(argument -> read(argument, reader));
            case CallImported o -> o.arguments().forEach(argument -> read(argument, reader));
            case Branch o -> {
                reader.accept(o.left());
                read(o.right(), reader);
            }
            case Return o -> read(o.value(), reader);
            case Constant _,
                    Address _,
                    MapAddress _,
                    MapValue _,
                    FunctionAddress _,
                    KernelVariable _,
                    Later _,
                    Goto _ -> {}
        }
    }

    /** What a compare-and-exchange compares with: its result holds it before. */
    private static @Nullable Vreg expected(Atomic o) {
        return o.operation() == AtomicOperation.COMPARE_EXCHANGE ? o.result() : null;
    }

    private static void read(Operand operand, Consumer<Vreg> reader) {
        if (operand instanceof Vreg register) {
            reader.accept(register);
        }
    }

    private static void read(Anchor anchor, Consumer<Vreg> reader) {
        if (anchor instanceof Vreg register) {
            reader.accept(register);
        }
    }

    /** The operation with other registers where it reads; what is both read and written stays. */
    static Operation withReads(Operation operation, UnaryOperator<Vreg> f) {
        return switch (operation) {
            case Copy o -> new Copy(o.to(), f.apply(o.from()));
            case Alu o ->
                    new Alu(
                            o.operation(),
                            o.wide(),
                            o.to(),
                            f.apply(o.left()),
                            operand(o.right(), f));
            case Negate o -> new Negate(o.to(), f.apply(o.from()));
            case SignExtend o -> new SignExtend(o.bits(), o.to(), f.apply(o.from()));
            case Swap o -> new Swap(o.bits(), o.to(), f.apply(o.from()));
            case Load o -> new Load(o.width(), o.signed(), o.to(), anchor(o.base(), f), o.offset());
            case Store o ->
                    new Store(o.width(), anchor(o.base(), f), o.offset(), operand(o.from(), f));
            case Atomic o ->
                    new Atomic(
                            o.operation(),
                            o.width(),
                            anchor(o.base(), f),
                            o.offset(),
                            f.apply(o.from()),
                            o.result());
            case Call o -> new Call(o.to(), o.helper(), operands(o.arguments(), f));
            case CallKernel o -> new CallKernel(o.to(), o.function(), operands(o.arguments(), f));
            case CallLocal o -> new CallLocal(o.to(), o.function(), operands(o.arguments(), f));
            case CallImported o ->
                    new CallImported(o.to(), o.function(), operands(o.arguments(), f));
            case Branch o ->
                    new Branch(
                            o.condition(),
                            o.wide(),
                            f.apply(o.left()),
                            operand(o.right(), f),
                            o.then(),
                            o.otherwise());
            case Return o -> new Return(operand(o.value(), f));
            case Constant _,
                    Address _,
                    MapAddress _,
                    MapValue _,
                    FunctionAddress _,
                    KernelVariable _,
                    Later _,
                    Goto _ ->
                    operation;
        };
    }

    private static Operand operand(Operand operand, UnaryOperator<Vreg> f) {
        return operand instanceof Vreg register ? f.apply(register) : operand;
    }

    private static Anchor anchor(Anchor anchor, UnaryOperator<Vreg> f) {
        return anchor instanceof Vreg register ? f.apply(register) : anchor;
    }

    private static List<Operand> operands(List<Operand> operands, UnaryOperator<Vreg> f) {
        return operands.stream().map(operand -> operand(operand, f)).toList();
    }

    /** The operation with another register where it writes; one that writes nothing as it is. */
    static Operation withWritten(Operation operation, UnaryOperator<Vreg> f) {
        return switch (operation) {
            case Constant o -> new Constant(f.apply(o.to()), o.value());
            case Copy o -> new Copy(f.apply(o.to()), o.from());
            case Alu o -> new Alu(o.operation(), o.wide(), f.apply(o.to()), o.left(), o.right());
            case Negate o -> new Negate(f.apply(o.to()), o.from());
            case SignExtend o -> new SignExtend(o.bits(), f.apply(o.to()), o.from());
            case Swap o -> new Swap(o.bits(), f.apply(o.to()), o.from());
            case Load o -> new Load(o.width(), o.signed(), f.apply(o.to()), o.base(), o.offset());
            case Atomic o ->
                    new Atomic(
                            o.operation(),
                            o.width(),
                            o.base(),
                            o.offset(),
                            o.from(),
                            result(o.result(), f));
            case Address o -> new Address(f.apply(o.to()), o.object(), o.offset());
            case MapAddress o -> new MapAddress(f.apply(o.to()), o.map());
            case MapValue o -> new MapValue(f.apply(o.to()), o.map(), o.offset());
            case FunctionAddress o -> new FunctionAddress(f.apply(o.to()), o.function());
            case KernelVariable o -> new KernelVariable(f.apply(o.to()), o.btfId());
            case Later o -> new Later(f.apply(o.to()), o.wanted());
            case Call o -> new Call(result(o.to(), f), o.helper(), o.arguments());
            case CallKernel o -> new CallKernel(result(o.to(), f), o.function(), o.arguments());
            case CallLocal o -> new CallLocal(result(o.to(), f), o.function(), o.arguments());
            case CallImported o -> new CallImported(result(o.to(), f), o.function(), o.arguments());
            case Store _, Goto _, Branch _, Return _ -> operation;
        };
    }

    private static @Nullable Vreg result(@Nullable Vreg to, UnaryOperator<Vreg> f) {
        return to == null ? null : f.apply(to);
    }

    /** Whether nothing but the register that it writes tells that it ran. */
    static boolean isPure(Operation operation) {
        return switch (operation) {
            case Constant _,
                    Copy _,
                    Alu _,
                    Negate _,
                    SignExtend _,
                    Swap _,
                    Load _,
                    Address _,
                    MapAddress _,
                    MapValue _,
                    FunctionAddress _,
                    KernelVariable _,
                    Later _ ->
                    true;
            case Store _,
                    Atomic _,
                    Call _,
                    CallKernel _,
                    CallLocal _,
                    CallImported _,
                    Goto _,
                    Branch _,
                    Return _ ->
                    false;
        };
    }

    /** Whether it can be run again anywhere with the same result, for one or two instructions. */
    static boolean isRepeatable(Operation operation) {
        return switch (operation) {
            case Constant _,
                    Address _,
                    MapAddress _,
                    MapValue _,
                    FunctionAddress _,
                    KernelVariable _,
                    Later _ ->
                    true;
            default -> false;
        };
    }

    /** Whether R0 to R5 are lost. */
    static boolean isCall(Operation operation) {
        return operation instanceof Call
                || operation instanceof CallKernel
                || operation instanceof CallLocal
                || operation instanceof CallImported;
    }

    /** Where a block may go. */
    static List<Block> targets(Block block) {
        return block.steps().getLast().operation() instanceof Ending ending
                ? targets(ending)
                : List.of();
    }

    static List<Block> targets(Ending ending) {
        return switch (ending) {
            case Goto o -> List.of(o.target());
            case Branch o -> List.of(o.then(), o.otherwise());
            case Return _ -> List.of();
        };
    }

    static Ending withTargets(Ending ending, UnaryOperator<Block> f) {
        return switch (ending) {
            case Goto o -> new Goto(f.apply(o.target()));
            case Branch o ->
                    new Branch(
                            o.condition(),
                            o.wide(),
                            o.left(),
                            o.right(),
                            f.apply(o.then()),
                            f.apply(o.otherwise()));
            case Return o -> o;
        };
    }
}
