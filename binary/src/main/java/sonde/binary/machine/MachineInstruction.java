package sonde.binary.machine;

import java.util.List;
import java.util.OptionalLong;
import java.util.function.LongFunction;
import sonde.binary.machine.MachineOperand.MachineMemory;
import sonde.binary.machine.MachineOperand.MachineTarget;

/**
 * A decoded instruction.
 *
 * @param length bytes
 * @param prefix prefixes that the mnemonic does not contain, each with a space behind
 * @param mask mask of AVX-512 of the destination; empty without one
 * @param operands the destination first; AT&T syntax prints them in the opposite order
 */
public record MachineInstruction(
        long address,
        int length,
        MachineSyntax syntax,
        String prefix,
        String mnemonic,
        String mask,
        List<MachineOperand> operands,
        MachineFlow flow) {
    public boolean isValid() {
        return flow != MachineFlow.INVALID;
    }

    /** Where a direct call, jump or branch goes; the address that {@code adr} computes. */
    public OptionalLong target() {
        for (MachineOperand operand : operands) {
            if (operand instanceof MachineTarget target) {
                return OptionalLong.of(target.address());
            }
        }
        return OptionalLong.empty();
    }

    /** The memory operand whose address is known from the instruction alone. */
    public OptionalLong dataAddress() {
        for (MachineOperand operand : operands) {
            if (operand instanceof MachineMemory memory && memory.base().endsWith("ip")) {
                long at = address + length + memory.displacement();
                return OptionalLong.of(memory.base().equals("eip") ? at & 0xffff_ffffL : at);
            }
        }
        return OptionalLong.empty();
    }

    /** The text as objdump has it, with one space behind the mnemonic. */
    public String text() {
        return text(address -> "0x" + Long.toHexString(address));
    }

    /**
     * @param names text of an address: a number, or a symbol with an offset
     */
    public String text(LongFunction<String> names) {
        return syntax == MachineSyntax.ARM ? Arm64Text.of(this, names) : X86Text.of(this, names);
    }
}
