package sonde.lang.ir;

import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.Instruction.ConstantMeaning;

/** An instruction, or what becomes one when maps, functions and distances are known. */
sealed interface CodeItem {
    /** Complete. */
    record PlainItem(Instruction instruction) implements CodeItem {}

    /** A jump or a branch with a distance of 0. */
    record BlockJump(Instruction.Flow instruction, BasicBlock target) implements CodeItem {}

    /** A map, or an address in its value. */
    record MapUse(ConstantMeaning meaning, BpfRegister to, String map, int offset)
            implements CodeItem {}

    /** A number that is put in when the program is loaded. */
    record LoadTimeItem(BpfRegister to, LoadTimeConstant wanted) implements CodeItem {}

    /** A call of another function of the program. */
    record LocalCall(IrFunction target) implements CodeItem {}

    /** The address of another function of the program. */
    record LocalAddress(BpfRegister to, IrFunction target) implements CodeItem {}

    /** A call of a function that was compiled elsewhere. */
    record ImportedCall(String target) implements CodeItem {}

    /** A call of a function of the kernel. */
    record KernelCall(String function) implements CodeItem {}

    /** Slots taken when jumps are near. */
    default int slots() {
        return switch (this) {
            case PlainItem plain -> plain.instruction().slots();
            case MapUse _, LocalAddress _, LoadTimeItem _ -> 2;
            case BlockJump _, LocalCall _, ImportedCall _, KernelCall _ -> 1;
        };
    }
}
