package sonde.probe.stack;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R6;
import static sonde.bpf.insn.BpfRegister.R7;
import static sonde.bpf.insn.BpfRegister.R8;
import static sonde.bpf.insn.BpfRegister.R9;
import static sonde.bpf.insn.JumpCondition.EQUAL;
import static sonde.bpf.insn.JumpCondition.GREATER;
import static sonde.bpf.insn.JumpCondition.LESS;
import static sonde.probe.stack.UnwindScratch.AREA;
import static sonde.probe.stack.UnwindScratch.EXACT;
import static sonde.probe.stack.UnwindScratch.GUESSED;
import static sonde.probe.stack.UnwindScratch.IP;
import static sonde.probe.stack.UnwindScratch.LEAF;
import static sonde.probe.stack.UnwindScratch.RBP;
import static sonde.probe.stack.UnwindScratch.RBX;
import static sonde.probe.stack.UnwindScratch.REGISTERS;
import static sonde.probe.stack.UnwindScratch.RSP;
import static sonde.probe.stack.UnwindScratch.SIGNAL;
import static sonde.probe.stack.UnwindScratch.SIGNAL_BYTES;
import static sonde.probe.stack.UnwindScratch.WORD;

import sonde.binary.unwind.CompactRule;
import sonde.binary.unwind.CompactRule.Kind;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;

/** From a frame to its caller by a rule: R9 the rule, R8 the CFA. Part of {@link UnwindCode}. */
final class FrameStep {
    /** Bytes below the CFA that are read at once. */
    private static final int BLOCK = 64;

    private final CodeBuilder code;
    private final Label stop;
    private final ReturnCode returns;
    private final Label run;
    private final Label engine;
    private final Label haveCfa = new Label("have the CFA");
    private final Label unreadable = new Label("unreadable");
    private final Label bad = new Label("bad rule");
    private final Label next = new Label("next");

    /**
     * @param run the subprogram that begins a run of frames of a run time
     * @param engine the one that knows frames of V8
     */
    FrameStep(CodeBuilder code, Label stop, ReturnCode returns, Label run, Label engine) {
        this.engine = engine;
        this.returns = returns;
        this.run = run;
        this.code = code;
        this.stop = stop;
    }

    void write() {
        Label[] kinds = new Label[Kind.values().length];
        code.step("kind of the rule").move(R1, R9).and(R1, 15);
        for (Kind kind : Kind.values()) {
            kinds[kind.ordinal()] = new Label(kind.name());
            if (kind != Kind.NONE) {
                code.branch(EQUAL, R1, kind.ordinal(), kinds[kind.ordinal()]);
            }
        }
        code.at(kinds[Kind.NONE.ordinal()]);
        guess();
        at(kinds, Kind.RSP);
        plus(RSP);
        at(kinds, Kind.RBP);
        plus(RBP);
        at(kinds, Kind.RBX);
        plus(RBX);
        at(kinds, Kind.PLT);
        stub();
        at(kinds, Kind.AT_RBP);
        dereference(RBP, 0);
        at(kinds, Kind.AT_RSP);
        dereference(RSP, 8);
        at(kinds, Kind.REGISTER);
        otherRegister();
        at(kinds, Kind.RETURN_REGISTER);
        returnRegister();
        at(kinds, Kind.SIGNAL);
        signal();
        at(kinds, Kind.CLONED);
        Label end = kinds[Kind.END.ordinal()];
        code.load(Width.U64, R1, R6, LEAF)
                .ifZero(R1, end)
                .load(Width.U64, R1, R6, REGISTERS)
                .ifZero(R1, end);
        plus(RSP);
        at(kinds, Kind.INTERPRETER_RSP);
        interpreter(RSP);
        at(kinds, Kind.INTERPRETER_RBP);
        interpreter(RBP);
        at(kinds, Kind.END);
        outermost();
        code.at(haveCfa);
        callee();
        code.at(next)
                .step("the caller")
                .store(Width.U64, R6, EXACT, 0)
                .store(Width.U64, R6, LEAF, 0)
                .exit(0)
                .at(unreadable)
                .move(R7, UserStackEnd.UNREADABLE.ordinal())
                .jump(stop)
                .at(bad)
                .move(R7, UserStackEnd.BAD_RULE.ordinal())
                .jump(stop);
    }

    /** Where a guess has led to padding, it has not found a return address. */
    private void outermost() {
        Label end = new Label("outermost");
        code.move(R7, UserStackEnd.OUTERMOST.ordinal())
                .move(R2, R9)
                .shiftRight(R2, CompactRule.OFFSET_SHIFT)
                .ifZero(R2, end)
                .load(Width.U64, R1, R6, GUESSED)
                .ifZero(R1, end)
                .move(R7, UserStackEnd.NO_CODE.ordinal())
                .at(end)
                .jump(stop);
    }

    private void at(Label[] kinds, Kind kind) {
        code.at(kinds[kind.ordinal()]).step(kind.name());
    }

    /** R2 = the rule's offset in bytes, unsigned. */
    private void offset() {
        code.move(R2, R9).shiftRight(R2, CompactRule.OFFSET_SHIFT).shiftLeft(R2, 3);
    }

    private void plus(int register) {
        offset();
        code.load(Width.U64, R8, R6, register).add(R8, R2).jump(haveCfa);
    }

    /** A function that runs others: the walker of its run time takes over in the next step. */
    private void interpreter(int register) {
        offset();
        code.load(Width.U64, R8, R6, register)
                .add(R8, R2)
                .load(Width.U64, R1, R6, RSP)
                .store(Width.U64, R6, RuntimeScratch.LOW, R1)
                .store(Width.U64, R6, RuntimeScratch.HIGH, R8)
                .move(R1, R6)
                .call(run)
                .jump(haveCfa);
    }

    private void stub() {
        Label early = new Label("before the push");
        code.move(R2, R9)
                .shiftRight(R2, CompactRule.OFFSET_SHIFT)
                .load(Width.U64, R8, R6, RSP)
                .add(R8, 8)
                .load(Width.U64, R1, R6, IP)
                .and(R1, 15)
                .branch(LESS, R1, R2, early)
                .add(R8, 8)
                .at(early)
                .jump(haveCfa);
    }

    /** R8 = *(register + offset) + more, the offset signed. */
    private void dereference(int register, int more) {
        code.move(R3, R9)
                .shiftLeft(R3, 32)
                .compute(AluOperation.SHIFT_RIGHT_SIGNED, R3, 32 + CompactRule.OFFSET_SHIFT)
                .shiftLeft(R3, 3)
                .load(Width.U64, R1, R6, register)
                .add(R3, R1);
        read(WORD, unreadable);
        code.load(Width.U64, R8, R6, WORD).add(R8, more).jump(haveCfa);
    }

    /** R2 = the register whose number is in the place of rbx; only of the innermost frame. */
    private void numbered() {
        code.load(Width.U64, R1, R6, LEAF)
                .ifZero(R1, bad)
                .move(R2, R9)
                .shiftRight(R2, CompactRule.RBX_SHIFT)
                .and(R2, 15)
                .shiftLeft(R2, 3)
                .add(R2, R6)
                .load(Width.U64, R8, R2, REGISTERS);
    }

    private void otherRegister() {
        numbered();
        offset();
        code.add(R8, R2);
        // What stands in the place of rbx is no place where it is saved.
        code.and(R9, ~(CompactRule.SAVED_MASK << CompactRule.RBX_SHIFT)).jump(haveCfa);
    }

    private void returnRegister() {
        numbered();
        code.store(Width.U64, R6, IP, R8).jump(next);
    }

    /** Reads 8 bytes of user memory at R3 to a place of the scratch memory. */
    private void read(int place, Label failed) {
        code.move(R1, R6)
                .add(R1, place)
                .move(R2, 8)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, failed);
    }

    /** Code without rows: a compiler at run time, or a file not read yet. By rbp, if it fits. */
    private void guess() {
        Label wrong = new Label("no frame pointer");
        code.step("by the frame pointer")
                .load(Width.U64, R7, R6, RBP)
                .load(Width.U64, R1, R6, RSP)
                .branch(LESS, R7, R1, wrong)
                .move(R2, R7)
                .and(R2, 7)
                .ifNotZero(R2, wrong)
                .move(R1, R6)
                .call(engine)
                .load(Width.U64, R1, R6, GUESSED)
                .add(R1, 1)
                .store(Width.U64, R6, GUESSED, R1)
                .move(R3, R7)
                .add(R3, 8);
        read(IP, unreadable);
        code.move(R3, R7);
        read(RBP, unreadable);
        code.add(R7, 16).store(Width.U64, R6, RSP, R7);
        returns.replace(code, R7);
        ended();
        code.jump(next).at(wrong).move(R7, UserStackEnd.NO_ROW.ordinal()).jump(stop);
    }

    /** A return address of 0 is where a thread began. */
    private void ended() {
        Label goesOn = new Label("goes on");
        code.load(Width.U64, R1, R6, IP)
                .ifNotZero(R1, goesOn)
                .move(R7, UserStackEnd.OUTERMOST.ordinal())
                .jump(stop)
                .at(goesOn);
    }

    /**
     * R8 = CFA: the return address, rbx and rbp of the caller. Mostly one read has them all; R7 =
     * whether it succeeded.
     */
    private void callee() {
        Label grows = new Label("the stack gets smaller");
        Label read = new Label("read");
        code.step("the return address")
                .load(Width.U64, R1, R6, RSP)
                .branch(GREATER, R8, R1, grows)
                .load(Width.U64, R2, R6, LEAF)
                .ifZero(R2, bad)
                .branch(LESS, R8, R1, bad)
                .at(grows)
                .move(R3, R8)
                .add(R3, -BLOCK)
                .move(R1, R6)
                .add(R1, AREA)
                .move(R2, BLOCK)
                .call(HelperFunctionId.PROBE_READ_USER)
                .move(R7, 1)
                .ifZero(R0, read)
                // The page below may not be there.
                .move(R7, 0)
                .move(R3, R8)
                .add(R3, -8);
        read(AREA + BLOCK - 8, unreadable);
        code.at(read).load(Width.U64, R1, R6, AREA + BLOCK - 8).store(Width.U64, R6, IP, R1);
        returns.replace(code, R8);
        saved(CompactRule.RBX_SHIFT, RBX);
        saved(CompactRule.RBP_SHIFT, RBP);
        code.store(Width.U64, R6, RSP, R8);
        ended();
    }

    private void saved(int shift, int register) {
        Label same = new Label("same");
        Label atRbp = new Label("at rbp");
        Label fetch = new Label("fetch");
        Label lost = new Label("lost");
        Label far = new Label("far");
        code.step("register " + register / 8)
                .move(R1, R9)
                .shiftRight(R1, shift)
                .and(R1, CompactRule.SAVED_MASK)
                .ifZero(R1, same)
                .branch(EQUAL, R1, CompactRule.AT_RBP, atRbp)
                .branch(EQUAL, R1, CompactRule.LOST, lost)
                .ifZero(R7, far)
                .branch(GREATER, R1, BLOCK / 8, far)
                .shiftLeft(R1, 3)
                .move(R2, BLOCK)
                .compute(AluOperation.SUBTRACT, R2, R1)
                .add(R2, R6)
                .load(Width.U64, R1, R2, AREA)
                .store(Width.U64, R6, register, R1)
                .jump(same)
                .at(far)
                .shiftLeft(R1, 3)
                .move(R3, R8)
                .compute(AluOperation.SUBTRACT, R3, R1)
                .jump(fetch)
                .at(atRbp)
                .load(Width.U64, R3, R6, RBP)
                .at(fetch);
        read(register, unreadable);
        code.jump(same).at(lost).store(Width.U64, R6, register, 0).at(same);
    }

    /** struct rt_sigframe at rsp: sigcontext of its ucontext at 40, asm/sigcontext.h. */
    private void signal() {
        code.load(Width.U64, R3, R6, RSP)
                .add(R3, 120)
                .move(R1, R6)
                .add(R1, SIGNAL)
                .move(R2, SIGNAL_BYTES)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, unreadable)
                .load(Width.U64, R1, R6, SIGNAL)
                .store(Width.U64, R6, RBP, R1)
                .load(Width.U64, R1, R6, SIGNAL + 8)
                .store(Width.U64, R6, RBX, R1)
                .load(Width.U64, R1, R6, SIGNAL + 40)
                .store(Width.U64, R6, RSP, R1)
                .load(Width.U64, R1, R6, SIGNAL + 48)
                .store(Width.U64, R6, IP, R1)
                .store(Width.U64, R6, LEAF, 0)
                .store(Width.U64, R6, EXACT, 1)
                .exit(0);
    }
}
