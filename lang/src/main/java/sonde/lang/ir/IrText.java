package sonde.lang.ir;

import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Width;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperation.CallImported;
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

/** A function as people read it. */
final class IrText {
    private IrText() {}

    static String of(IrFunction function) {
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
    static void blocks(
            List<BasicBlock> layout, UnaryOperator<IrOperation> change, StringBuilder out) {
        for (BasicBlock block : layout) {
            out.append(block).append(":\n");
            for (BlockStep step : block.steps()) {
                out.append("  ").append(of(change.apply(step.operation()))).append('\n');
            }
        }
    }

    static String of(IrOperation operation) {
        return switch (operation) {
            case IrConstant o -> o.to() + " = " + o.value();
            case IrCopy o -> o.to() + " = " + o.from();
            case IrAlu o ->
                    o.to()
                            + " = "
                            + o.left()
                            + " "
                            + o.operation().sign().replace("=", "")
                            + (o.wide() ? " " : " (32) ")
                            + o.right();
            case IrNegate o -> o.to() + " = -" + o.from();
            case IrSignExtend o -> o.to() + " = (s" + o.bits() + ") " + o.from();
            case IrSwap o -> o.to() + " = bswap" + o.bits() + " " + o.from();
            case IrLoad o -> o.to() + " = " + access(o.width(), o.signed(), o.base(), o.offset());
            case IrStore o -> access(o.width(), false, o.base(), o.offset()) + " = " + o.from();
            case IrAtomic o ->
                    result(o.result())
                            + "atomic "
                            + o.operation()
                            + " "
                            + access(o.width(), false, o.base(), o.offset())
                            + ", "
                            + o.from();
            case IrAddress o -> o.to() + " = &" + o.object() + "+" + o.offset();
            case MapAddress o -> o.to() + " = map " + o.map();
            case MapValue o -> o.to() + " = map " + o.map() + "+" + o.offset();
            case FunctionAddress o -> o.to() + " = function " + o.function().name();
            case KernelVariable o -> o.to() + " = kernel variable " + o.btfId();
            case IrLoadTime o -> o.to() + " = later " + o.wanted();
            case IrCall o ->
                    result(o.to()) + HelperFunctionId.name(o.helper()) + list(o.arguments());
            case IrCallKernel o -> result(o.to()) + o.function() + list(o.arguments());
            case IrCallLocal o -> result(o.to()) + o.function().name() + list(o.arguments());
            case CallImported o ->
                    result(o.to()) + "imported " + o.function() + list(o.arguments());
            case IrGoto o -> "goto " + o.target();
            case IrBranch o ->
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
            case IrReturn o -> "return " + o.value();
        };
    }

    private static String access(Width width, boolean signed, AccessAnchor base, int offset) {
        return (signed ? "s" : "u")
                + width.bytes() * 8
                + "["
                + base
                + (offset < 0 ? "-" : "+")
                + Math.abs(offset)
                + "]";
    }

    private static String result(@Nullable VirtualRegister to) {
        return to == null ? "" : to + " = ";
    }

    private static String list(List<? extends IrOperand> operands) {
        return operands.stream().map(Object::toString).collect(Collectors.joining(", ", "(", ")"));
    }
}
