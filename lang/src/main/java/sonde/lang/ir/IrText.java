package sonde.lang.ir;

import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.insn.Width;
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
import sonde.lang.ir.Operation.FunctionAddress;
import sonde.lang.ir.Operation.Goto;
import sonde.lang.ir.Operation.KernelVariable;
import sonde.lang.ir.Operation.Load;
import sonde.lang.ir.Operation.MapAddress;
import sonde.lang.ir.Operation.MapValue;
import sonde.lang.ir.Operation.Negate;
import sonde.lang.ir.Operation.Return;
import sonde.lang.ir.Operation.SignExtend;
import sonde.lang.ir.Operation.Store;
import sonde.lang.ir.Operation.Swap;

/** A function as people read it. */
final class IrText {
    private IrText() {}

    static String of(Function function) {
        StringBuilder out = new StringBuilder(1024);
        out.append(function.name()).append(list(function.parameters())).append('\n');
        for (StackObject object : function.objects()) {
            out.append("  ").append(of(object)).append('\n');
        }
        blocks(function.layout(), o -> o, out);
        return out.toString();
    }

    static String of(StackObject object) {
        return object + ": " + object.sizeBytes() + " bytes, align " + object.align();
    }

    /** Blocks, with every operation as it is after a change. */
    static void blocks(List<Block> layout, UnaryOperator<Operation> change, StringBuilder out) {
        for (Block block : layout) {
            out.append(block).append(":\n");
            for (Block.Step step : block.steps()) {
                out.append("  ").append(of(change.apply(step.operation()))).append('\n');
            }
        }
    }

    static String of(Operation operation) {
        return switch (operation) {
            case Constant o -> o.to() + " = " + o.value();
            case Copy o -> o.to() + " = " + o.from();
            case Alu o ->
                    o.to()
                            + " = "
                            + o.left()
                            + " "
                            + o.operation().sign().replace("=", "")
                            + (o.wide() ? " " : " (32) ")
                            + o.right();
            case Negate o -> o.to() + " = -" + o.from();
            case SignExtend o -> o.to() + " = (s" + o.bits() + ") " + o.from();
            case Swap o -> o.to() + " = bswap" + o.bits() + " " + o.from();
            case Load o -> o.to() + " = " + access(o.width(), o.signed(), o.base(), o.offset());
            case Store o -> access(o.width(), false, o.base(), o.offset()) + " = " + o.from();
            case Atomic o ->
                    result(o.result())
                            + "atomic "
                            + o.operation()
                            + " "
                            + access(o.width(), false, o.base(), o.offset())
                            + ", "
                            + o.from();
            case Address o -> o.to() + " = &" + o.object() + "+" + o.offset();
            case MapAddress o -> o.to() + " = map " + o.map();
            case MapValue o -> o.to() + " = map " + o.map() + "+" + o.offset();
            case FunctionAddress o -> o.to() + " = function " + o.function().name();
            case KernelVariable o -> o.to() + " = kernel variable " + o.btfId();
            case Operation.Later o -> o.to() + " = later " + o.wanted();
            case Call o -> result(o.to()) + KernelFunction.name(o.helper()) + list(o.arguments());
            case CallKernel o -> result(o.to()) + o.function() + list(o.arguments());
            case CallLocal o -> result(o.to()) + o.function().name() + list(o.arguments());
            case CallImported o ->
                    result(o.to()) + "imported " + o.function() + list(o.arguments());
            case Goto o -> "goto " + o.target();
            case Branch o ->
                    "if "
                            + o.left()
                            + " "
                            + o.condition().sign()
                            + (o.wide() ? " " : " (32) ")
                            + o.right()
                            + " goto "
                            + o.then()
                            + " else "
                            + o.otherwise();
            case Return o -> "return " + o.value();
        };
    }

    private static String access(Width width, boolean signed, Anchor base, int offset) {
        return (signed ? "s" : "u")
                + width.bytes() * 8
                + "["
                + base
                + (offset < 0 ? "-" : "+")
                + Math.abs(offset)
                + "]";
    }

    private static String result(@Nullable Vreg to) {
        return to == null ? "" : to + " = ";
    }

    private static String list(List<? extends Operand> operands) {
        return operands.stream().map(Object::toString).collect(Collectors.joining(", ", "(", ")"));
    }
}
