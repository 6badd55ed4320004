package sonde.binary.machine;

import java.util.List;
import java.util.OptionalLong;
import java.util.function.LongFunction;
import sonde.binary.machine.MachineOperand.MachineImmediate;
import sonde.binary.machine.MachineOperand.MachineMemory;
import sonde.binary.machine.MachineOperand.MachineModifier;
import sonde.binary.machine.MachineOperand.MachineRegister;
import sonde.binary.machine.MachineOperand.MachineTarget;

/** Instructions of x86 as text. */
final class X86Text {
    private final StringBuilder out = new StringBuilder(48);
    private final boolean att;
    private final LongFunction<String> names;

    private X86Text(boolean att, LongFunction<String> names) {
        this.att = att;
        this.names = names;
    }

    static String of(MachineInstruction instruction, LongFunction<String> names) {
        X86Text text = new X86Text(instruction.syntax() == MachineSyntax.ATT, names);
        text.instruction(instruction);
        return text.out.toString();
    }

    private void instruction(MachineInstruction instruction) {
        String mnemonic = instruction.mnemonic();
        boolean indirect = mnemonic.endsWith("*");
        out.append(instruction.prefix())
                .append(mnemonic, 0, mnemonic.length() - (indirect ? 1 : 0));
        List<MachineOperand> operands = instruction.operands();
        int count = operands.size();
        boolean turned = att && !X86Forms.keepsOrder(mnemonic);
        for (int i = 0; i < count; i++) {
            out.append(i == 0 ? ' ' : ',');
            if (indirect && att) {
                out.append('*');
            }
            int at = turned ? count - 1 - i : i;
            operand(operands.get(at));
            if (at == 0) {
                out.append(instruction.mask());
            }
        }
        OptionalLong data = instruction.dataAddress();
        if (data.isPresent()) {
            out.append(" # ").append(names.apply(data.getAsLong()));
        }
    }

    private void operand(MachineOperand operand) {
        switch (operand) {
            case MachineRegister register -> register(register.name());
            case MachineImmediate immediate ->
                    out.append(att ? "$0x" : "0x").append(Long.toHexString(immediate.unsigned()));
            case MachineTarget target -> out.append(names.apply(target.address()));
            case MachineModifier modifier -> out.append(modifier.text());
            case MachineMemory memory -> {
                if (att) {
                    attMemory(memory);
                } else {
                    intelMemory(memory);
                }
            }
        }
    }

    private void register(String name) {
        out.append(att ? "%" : "").append(name);
    }

    private void signed(long value, boolean plus) {
        out.append(value < 0 ? "-0x" : plus ? "+0x" : "0x")
                .append(Long.toHexString(Math.abs(value)));
    }

    private void attMemory(MachineMemory memory) {
        if (!memory.segment().isEmpty()) {
            out.append('%').append(memory.segment()).append(':');
        }
        boolean registers = !memory.base().isEmpty() || !memory.index().isEmpty();
        if (!registers) {
            out.append("0x").append(Long.toHexString(memory.displacement()));
        } else if (memory.hasDisplacement()) {
            signed(memory.displacement(), false);
        }
        if (registers) {
            out.append('(');
            if (!memory.base().isEmpty()) {
                register(memory.base());
            }
            if (!memory.index().isEmpty()) {
                out.append(',');
                register(memory.index());
                if (memory.scale() != 0) {
                    out.append(',').append(memory.scale());
                }
            }
            out.append(')');
        }
        out.append(memory.decoration());
    }

    private static String width(MachineMemory memory) {
        String kind = memory.decoration().isEmpty() ? " PTR " : " BCST ";
        return switch (memory.bytes()) {
            case 1 -> "BYTE" + kind;
            case 2 -> "WORD" + kind;
            case 4 -> "DWORD" + kind;
            case 6 -> "FWORD" + kind;
            case 8 -> "QWORD" + kind;
            case 10 -> "TBYTE" + kind;
            case 16 -> "XMMWORD" + kind;
            case 32 -> "YMMWORD" + kind;
            case 64 -> "ZMMWORD" + kind;
            default -> "";
        };
    }

    private void intelMemory(MachineMemory memory) {
        if (memory.base().equals("dx")) {
            out.append("dx");
            return;
        }
        out.append(width(memory));
        boolean registers = !memory.base().isEmpty() || !memory.index().isEmpty();
        String segment = memory.segment().isEmpty() && !registers ? "ds" : memory.segment();
        if (!segment.isEmpty()) {
            out.append(segment).append(':');
        }
        if (!registers) {
            out.append("0x").append(Long.toHexString(memory.displacement()));
            return;
        }
        out.append('[').append(memory.base());
        if (!memory.index().isEmpty()) {
            out.append(memory.base().isEmpty() ? "" : "+").append(memory.index());
            if (memory.scale() != 0) {
                out.append('*').append(memory.scale());
            }
        }
        if (memory.base().endsWith("ip")) {
            out.append("+0x").append(Long.toHexString(memory.displacement()));
        } else if (memory.hasDisplacement()) {
            signed(memory.displacement(), true);
        }
        out.append(']');
    }
}
