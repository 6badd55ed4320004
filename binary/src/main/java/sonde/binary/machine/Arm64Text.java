package sonde.binary.machine;

import java.util.function.LongFunction;
import sonde.binary.machine.MachineOperand.MachineImmediate;
import sonde.binary.machine.MachineOperand.MachineMemory;
import sonde.binary.machine.MachineOperand.MachineModifier;
import sonde.binary.machine.MachineOperand.MachineRegister;
import sonde.binary.machine.MachineOperand.MachineTarget;

/** Instructions of arm64 as text. */
final class Arm64Text {
    private Arm64Text() {}

    static String of(MachineInstruction instruction, LongFunction<String> names) {
        StringBuilder out = new StringBuilder(40).append(instruction.mnemonic());
        String separator = " ";
        for (MachineOperand operand : instruction.operands()) {
            out.append(separator);
            separator = ", ";
            switch (operand) {
                case MachineRegister register -> out.append(register.name());
                case MachineImmediate immediate ->
                        out.append("#0x").append(Long.toHexString(immediate.unsigned()));
                case MachineTarget target -> out.append(names.apply(target.address()));
                case MachineModifier modifier -> out.append(modifier.text());
                case MachineMemory memory -> out.append(memory.decoration());
            }
        }
        return out.toString();
    }
}
