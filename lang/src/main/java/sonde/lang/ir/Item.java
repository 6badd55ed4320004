package sonde.lang.ir;

import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.Register;

/** An instruction, or what becomes one when maps, functions and distances are known. */
sealed interface Item {
    /** Complete. */
    record Plain(Instruction instruction) implements Item {}

    /** A jump or a branch with a distance of 0. */
    record Jump(Instruction.Flow instruction, Block target) implements Item {}

    /** A map, or an address in its value. */
    record MapUse(Instruction.Meaning meaning, Register to, String map, int offset)
            implements Item {}

    /** A number that is put in when the program is loaded. */
    record Later(Register to, Wanted wanted) implements Item {}

    /** A call of another function of the program. */
    record LocalCall(Function target) implements Item {}

    /** The address of another function of the program. */
    record LocalAddress(Register to, Function target) implements Item {}

    /** A call of a function that was compiled elsewhere. */
    record ImportedCall(String target) implements Item {}

    /** A call of a function of the kernel. */
    record KernelCall(String function) implements Item {}

    /** Slots taken when jumps are near. */
    default int slots() {
        return switch (this) {
            case Plain plain -> plain.instruction().slots();
            case MapUse _, LocalAddress _, Later _ -> 2;
            case Jump _, LocalCall _, ImportedCall _, KernelCall _ -> 1;
        };
    }
}
