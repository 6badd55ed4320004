package sonde.bpf.insn;

import java.util.ArrayList;
import java.util.List;
import sonde.bpf.insn.Instruction.Alu;
import sonde.bpf.insn.Instruction.AtomicAdd;
import sonde.bpf.insn.Instruction.Branch;
import sonde.bpf.insn.Instruction.Call;
import sonde.bpf.insn.Instruction.Exit;
import sonde.bpf.insn.Instruction.Goto;
import sonde.bpf.insn.Instruction.Load;
import sonde.bpf.insn.Instruction.LoadWide;
import sonde.bpf.insn.Instruction.Negate;
import sonde.bpf.insn.Instruction.Store;
import sonde.bpf.insn.Instruction.Unknown;

/** Instructions as the verifier's log writes them (kernel/bpf/disasm.c, Linux 6.18). */
public final class Disassembler {
    private Disassembler() {}

    /** A program, a line each: slot number, opcode, text. */
    public static List<String> lines(long[] words) {
        List<String> lines = new ArrayList<>(words.length);
        int slot = 0;
        for (Instruction instruction : Encoding.decode(words)) {
            lines.add("%d: (%02x) %s".formatted(slot, words[slot] & 0xff, text(instruction)));
            slot += instruction.slots();
        }
        return lines;
    }

    /** One instruction: {@code "r1 = *(u64 *)(r10 -8)"}. */
    public static String text(Instruction instruction) {
        return switch (instruction) {
            case Alu i ->
                    name(i.to(), i.wide())
                            + " "
                            + i.operation().sign()
                            + " "
                            + decimal(i.from(), i.wide());
            case Negate i -> name(i.to(), i.wide()) + " = -" + name(i.to(), i.wide());
            case LoadWide i -> loadWide(i);
            case Load i -> name(i.to(), true) + " = " + memory(i.width(), i.base(), i.offset());
            case Store i ->
                    memory(i.width(), i.base(), i.offset()) + " = " + decimal(i.from(), true);
            case AtomicAdd i ->
                    "lock "
                            + memory(i.width(), i.base(), i.offset())
                            + " += "
                            + name(i.from(), true);
            case Branch i -> branch(i);
            case Goto i -> "goto pc%+d".formatted(i.offset());
            case Call i -> "call " + KernelFunction.name(i.helper()) + "#" + i.helper();
            case Exit _ -> "exit";
            case Unknown i -> "BUG_%02x".formatted(i.word() & 0xff);
        };
    }

    /** Map references print as bpftool prints them, with the descriptor in place of the id. */
    private static String loadWide(LoadWide i) {
        String value =
                switch (i.meaning()) {
                    case NUMBER, BTF_ID -> "0x" + Long.toHexString(i.value());
                    case MAP -> "map[fd:" + (int) i.value() + "]";
                    case MAP_VALUE ->
                            "map[fd:" + (int) i.value() + "][0]+" + (int) (i.value() >> 32);
                };
        return name(i.to(), true) + " = " + value;
    }

    private static String branch(Branch i) {
        String right =
                switch (i.right()) {
                    case Register register -> name(register, i.wide());
                    case Operand.Immediate(int value) -> "0x" + Integer.toHexString(value);
                };
        return "if %s %s %s goto pc%+d"
                .formatted(name(i.left(), i.wide()), i.condition().sign(), right, i.offset());
    }

    private static String decimal(Operand operand, boolean wide) {
        return switch (operand) {
            case Register register -> name(register, wide);
            case Operand.Immediate(int value) -> Integer.toString(value);
        };
    }

    private static String memory(Width width, Register base, int offset) {
        return "*(u%d *)(%s %+d)".formatted(width.bytes() * 8, name(base, true), offset);
    }

    private static String name(Register register, boolean wide) {
        return (wide ? "r" : "w") + register.ordinal();
    }
}
