package sonde.bpf.classic;

import java.util.ArrayList;
import java.util.List;
import sonde.bpf.classic.ClassicInstruction.AluX;
import sonde.bpf.classic.ClassicInstruction.AncillarySource;
import sonde.bpf.classic.ClassicInstruction.BranchX;
import sonde.bpf.classic.ClassicInstruction.ClassicAlu;
import sonde.bpf.classic.ClassicInstruction.ClassicBranch;
import sonde.bpf.classic.ClassicInstruction.ClassicConstant;
import sonde.bpf.classic.ClassicInstruction.ClassicJump;
import sonde.bpf.classic.ClassicInstruction.ClassicLoad;
import sonde.bpf.classic.ClassicInstruction.ClassicNegate;
import sonde.bpf.classic.ClassicInstruction.ClassicReturn;
import sonde.bpf.classic.ClassicInstruction.ClassicSource;
import sonde.bpf.classic.ClassicInstruction.ClassicStore;
import sonde.bpf.classic.ClassicInstruction.ClassicTransfer;
import sonde.bpf.classic.ClassicInstruction.HeaderLength;
import sonde.bpf.classic.ClassicInstruction.MemoryCell;
import sonde.bpf.classic.ClassicInstruction.PacketBytes;
import sonde.bpf.classic.ClassicInstruction.PacketIndexed;
import sonde.bpf.classic.ClassicInstruction.PacketLength;
import sonde.bpf.classic.ClassicInstruction.ReturnA;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Instruction.LoadPacket;
import sonde.bpf.insn.Instruction.LoadPacketIndexed;
import sonde.bpf.insn.InstructionOperand;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;

/**
 * Classic filters as eBPF programs of type socket_filter: A is R0, X is R7, the context R6 as
 * packet loads want it, cells lie on the stack.
 */
public final class ClassicTranslation {
    private static final BpfRegister A = BpfRegister.R0;
    private static final BpfRegister X = BpfRegister.R7;
    private static final BpfRegister CONTEXT = BpfRegister.R6;
    private static final BpfRegister KEPT = BpfRegister.R8;

    private final List<ClassicInstruction> program;
    private final CodeBuilder code = new CodeBuilder();
    private final List<Label> places = new ArrayList<>();
    private final boolean[] reached;

    private ClassicTranslation(List<ClassicInstruction> program) {
        this.program = program;
        this.reached = new boolean[program.size()];
        for (int i = 0; i < program.size(); i++) {
            places.add(new Label("instruction " + i));
        }
    }

    /** The program; {@link ProgramCode#stepAt} tells the classic instruction of each. */
    public static ProgramCode of(ClassicProgram program) {
        return new ClassicTranslation(program.instructions()).translate();
    }

    private ProgramCode translate() {
        reached[0] = true;
        code.move(CONTEXT, BpfRegister.R1);
        code.compute32(AluOperation.MOVE, A, 0).compute32(AluOperation.MOVE, X, 0);
        for (int i = 0; i < program.size(); i++) {
            // The verifier refuses what no way leads to; the classic checker does not.
            if (reached[i]) {
                code.step(ClassicText.line(program.get(i), i)).at(places.get(i));
                one(i);
            }
        }
        return code.build();
    }

    private void one(int index) {
        ClassicInstruction instruction = program.get(index);
        if (!(instruction instanceof ClassicReturn
                || instruction instanceof ReturnA
                || instruction instanceof ClassicJump
                || instruction instanceof ClassicBranch
                || instruction instanceof BranchX)) {
            reached[index + 1] = true;
        }
        switch (instruction) {
            case ClassicLoad i -> load(i.toX() ? X : A, i.source());
            case ClassicStore i ->
                    code.store(Width.U32, BpfRegister.R10, place(i.cell()), i.fromX() ? X : A);
            case ClassicAlu i -> code.compute32(i.operation().extended(), A, i.value());
            case AluX i -> alu(i.operation());
            case ClassicNegate _ -> code.add(new sonde.bpf.insn.Instruction.Negate(false, A));
            case ClassicJump i -> code.jump(target(index, i.distance()));
            case ClassicBranch i -> {
                InstructionOperand right = new InstructionOperand.Immediate(i.value());
                branch(index, i.condition(), right, i.ifTrue(), i.ifFalse());
            }
            case BranchX i -> branch(index, i.condition(), X, i.ifTrue(), i.ifFalse());
            case ClassicReturn i -> code.compute32(AluOperation.MOVE, A, i.value()).exit();
            case ReturnA _ -> code.exit();
            case ClassicTransfer i ->
                    code.compute32(AluOperation.MOVE, i.toX() ? X : A, i.toX() ? A : X);
        }
    }

    private static int place(int cell) {
        return -4 * (cell + 1);
    }

    private Label target(int index, int distance) {
        reached[index + 1 + distance] = true;
        return places.get(index + 1 + distance);
    }

    private void branch(
            int index,
            ClassicCondition condition,
            InstructionOperand right,
            int ifTrue,
            int ifFalse) {
        Label yes = target(index, ifTrue);
        Label no = target(index, ifFalse);
        JumpCondition opposite = condition.opposite();
        if (ifTrue == 0 && ifFalse != 0 && opposite != null) {
            code.branch32(opposite, A, right, no);
            return;
        }
        code.branch32(condition.extended(), A, right, yes);
        if (ifFalse != 0) {
            code.jump(no);
        }
    }

    private void alu(ClassicOperation operation) {
        if (operation == ClassicOperation.DIV || operation == ClassicOperation.MOD) {
            Label divide = new Label("divide");
            code.branch32(JumpCondition.NOT_EQUAL, X, new InstructionOperand.Immediate(0), divide);
            code.exit(0).at(divide);
        }
        code.compute32(operation.extended(), A, X);
    }

    private void load(BpfRegister to, ClassicSource source) {
        switch (source) {
            case PacketBytes(int bytes, int offset) ->
                    code.add(new LoadPacket(Width.of(bytes), offset));
            case PacketIndexed(int bytes, int offset) ->
                    code.add(new LoadPacketIndexed(Width.of(bytes), X, offset));
            case AncillarySource(Ancillary what) -> fact(what);
            case MemoryCell(int number) -> code.load(Width.U32, to, BpfRegister.R10, place(number));
            case ClassicConstant(int value) -> code.compute32(AluOperation.MOVE, to, value);
            case PacketLength _ -> code.load(Width.U32, to, CONTEXT, 0);
            case HeaderLength(int offset) ->
                    code.move(KEPT, A)
                            .add(new LoadPacket(Width.U8, offset))
                            .compute32(AluOperation.AND, A, 0xf)
                            .compute32(AluOperation.SHIFT_LEFT, A, 2)
                            .move(X, A)
                            .move(A, KEPT);
        }
    }

    private void fact(Ancillary what) {
        switch (what) {
            case CPU -> code.call(HelperFunctionId.GET_SMP_PROCESSOR_ID);
            case RANDOM -> code.call(HelperFunctionId.GET_PRANDOM_U32);
            case XOR_X -> code.compute32(AluOperation.XOR, A, X);
            default -> {
                code.load(Width.U32, A, CONTEXT, what.contextOffset());
                if (what.isNetworkOrder()) {
                    code.toNetworkOrder(16, A);
                }
            }
        }
    }
}
