package sonde.bpf.insn;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import sonde.bpf.insn.Instruction.AddressSpaceCast;
import sonde.bpf.insn.Instruction.Alu;
import sonde.bpf.insn.Instruction.Atomic;
import sonde.bpf.insn.Instruction.Branch;
import sonde.bpf.insn.Instruction.ByteSwap;
import sonde.bpf.insn.Instruction.CallHelperFunction;
import sonde.bpf.insn.Instruction.CallKernel;
import sonde.bpf.insn.Instruction.CallLocal;
import sonde.bpf.insn.Instruction.Exit;
import sonde.bpf.insn.Instruction.Flow;
import sonde.bpf.insn.Instruction.Goto;
import sonde.bpf.insn.Instruction.GotoLong;
import sonde.bpf.insn.Instruction.GotoRegister;
import sonde.bpf.insn.Instruction.Load;
import sonde.bpf.insn.Instruction.LoadAcquire;
import sonde.bpf.insn.Instruction.LoadPacket;
import sonde.bpf.insn.Instruction.LoadPacketIndexed;
import sonde.bpf.insn.Instruction.LoadSigned;
import sonde.bpf.insn.Instruction.LoadWide;
import sonde.bpf.insn.Instruction.MayGoto;
import sonde.bpf.insn.Instruction.Negate;
import sonde.bpf.insn.Instruction.NoSpeculation;
import sonde.bpf.insn.Instruction.PerCpuAddress;
import sonde.bpf.insn.Instruction.SignExtend;
import sonde.bpf.insn.Instruction.Store;
import sonde.bpf.insn.Instruction.StoreRelease;
import sonde.bpf.insn.Instruction.UnknownInstruction;

/**
 * Instructions as the verifier's log and {@code bpftool prog dump xlated} write them
 * (kernel/bpf/disasm.c, Linux 6.18). Where the kernel's text is the same for different instructions
 * (constants that name kernel variables or maps by index) ours tells them apart, so that {@link
 * Assembler} gives back what was read.
 */
public final class Disassembler {
    private static final HexFormat HEX = HexFormat.of();

    private Disassembler() {}

    /** A program, a line each: slot number, opcode, text. */
    public static List<String> lines(long[] words) {
        return lines(words, ListingSymbols.NUMBERS);
    }

    /** {@link #lines(long[])} with names. */
    public static List<String> lines(long[] words, ListingSymbols symbols) {
        List<String> lines = new ArrayList<>(words.length);
        StringBuilder out = new StringBuilder(64);
        int slot = 0;
        while (slot < words.length) {
            Instruction instruction = InstructionDecoder.at(words, slot);
            out.setLength(0);
            out.append(slot).append(": (");
            HEX.toHexDigits(out, (byte) words[slot]);
            out.append(") ");
            append(out, instruction, symbols);
            lines.add(out.toString());
            slot += instruction.slots();
        }
        return lines;
    }

    /** One instruction: {@code "r1 = *(u64 *)(r10 -8)"}. */
    public static String text(Instruction instruction) {
        return append(new StringBuilder(48), instruction, ListingSymbols.NUMBERS).toString();
    }

    /** Writes one instruction behind what is there. */
    public static StringBuilder append(
            StringBuilder out, Instruction instruction, ListingSymbols symbols) {
        switch (instruction) {
            case Alu i -> {
                name(out, i.to(), i.wide()).append(' ').append(i.operation().sign()).append(' ');
                decimal(out, i.from(), i.wide());
            }
            case Negate i -> name(name(out, i.to(), i.wide()).append(" = -"), i.to(), i.wide());
            case SignExtend i -> {
                name(out, i.to(), i.wide()).append(" = (s").append(i.bits()).append(')');
                name(out, i.from(), i.wide());
            }
            case ByteSwap i -> {
                name(out, i.to(), true).append(" = ").append(i.change().sign()).append(i.bits());
                name(out.append(' '), i.to(), true);
            }
            case AddressSpaceCast i -> {
                name(name(out, i.to(), true).append(" = addr_space_cast("), i.from(), true);
                out.append(", ").append(i.toSpace()).append(", ").append(i.fromSpace()).append(')');
            }
            case PerCpuAddress i -> {
                name(out, i.to(), true).append(" = &(void __percpu *)(");
                name(out, i.from(), true).append(')');
            }
            case LoadWide i -> loadWide(name(out, i.to(), true).append(" = "), i, symbols);
            case Load i -> {
                name(out, i.to(), true).append(" = *");
                memory(out, 'u', i.width(), i.base(), i.offset());
            }
            case LoadSigned i -> {
                name(out, i.to(), true).append(" = *");
                memory(out, 's', i.width(), i.base(), i.offset());
            }
            case LoadPacket i -> packet(out, i.width()).append(i.offset()).append(']');
            case LoadPacketIndexed i -> {
                name(packet(out, i.width()), i.index(), true);
                out.append(" + ").append(i.offset()).append(']');
            }
            case Store i -> {
                memory(out.append('*'), 'u', i.width(), i.base(), i.offset()).append(" = ");
                decimal(out, i.from(), true);
            }
            case Atomic i -> atomic(out, i);
            case LoadAcquire i -> {
                name(out, i.to(), true).append(" = load_acquire(");
                memory(out, 'u', i.width(), i.base(), i.offset()).append(')');
            }
            case StoreRelease i -> {
                memory(out.append("store_release("), 'u', i.width(), i.base(), i.offset());
                name(out.append(", "), i.from(), true).append(')');
            }
            case NoSpeculation _ -> out.append("nospec");
            case UnknownInstruction i -> HEX.toHexDigits(out.append("BUG_"), (byte) i.word());
            case Flow i -> flow(out, i, symbols);
        }
        return out;
    }

    private static void flow(StringBuilder out, Flow flow, ListingSymbols symbols) {
        switch (flow) {
            case Branch i -> branch(out, i);
            case Goto i -> signed(out.append("goto pc"), i.offset());
            case GotoLong i -> signed(out.append("gotol pc"), i.offset());
            case GotoRegister i -> name(out.append("gotox "), i.target(), true);
            case MayGoto i -> signed(out.append("may_goto pc"), i.offset());
            case CallHelperFunction i ->
                    out.append("call ")
                            .append(symbols.helper(i.helper()))
                            .append('#')
                            .append(i.helper());
            case CallLocal i -> signed(out.append("call pc"), i.offset());
            case CallKernel i ->
                    out.append("call ")
                            .append(symbols.kernelFunction(i.btfId(), i.module()))
                            .append('#')
                            .append(i.btfId());
            case Exit _ -> out.append("exit");
        }
    }

    /** References print as bpftool prints them. */
    private static void loadWide(StringBuilder out, LoadWide i, ListingSymbols symbols) {
        int low = (int) i.value();
        String high = Integer.toUnsignedString((int) (i.value() >>> 32));
        switch (i.meaning()) {
            case NUMBER -> out.append("0x").append(Long.toHexString(i.value()));
            case MAP -> out.append(symbols.map(low));
            case MAP_VALUE -> out.append(symbols.map(low)).append("[0]+").append(high);
            case BTF_ID -> {
                out.append("btf[id:").append(Integer.toUnsignedString(low)).append(']');
                if (i.value() >>> 32 != 0) {
                    out.append("[fd:").append(high).append(']');
                }
            }
            case FUNCTION -> signed(out.append("subprog["), low).append(']');
            case MAP_INDEX ->
                    out.append("map[idx:").append(Integer.toUnsignedString(low)).append(']');
            case MAP_INDEX_VALUE ->
                    out.append("map[idx:")
                            .append(Integer.toUnsignedString(low))
                            .append("]+")
                            .append(high);
        }
    }

    private static void atomic(StringBuilder out, Atomic i) {
        AtomicOperation operation = i.operation();
        if (!operation.fetches()) {
            memory(out.append("lock *"), 'u', i.width(), i.base(), i.offset());
            name(out.append(' ').append(operation.sign()).append(' '), i.from(), true);
            return;
        }
        boolean compares = operation == AtomicOperation.COMPARE_EXCHANGE;
        name(out, compares ? BpfRegister.R0 : i.from(), true).append(" = atomic");
        out.append(i.width() == Width.U64 ? "64_" : "_").append(operation.sign()).append('(');
        memory(out, 'u', i.width(), i.base(), i.offset()).append(compares ? ", r0, " : ", ");
        name(out, i.from(), true).append(')');
    }

    private static void branch(StringBuilder out, Branch i) {
        name(out.append("if "), i.left(), i.wide());
        out.append(' ').append(i.condition().sign()).append(' ');
        switch (i.right()) {
            case BpfRegister register -> name(out, register, i.wide());
            case InstructionOperand.Immediate(int value) ->
                    out.append("0x").append(Integer.toHexString(value));
        }
        signed(out.append(" goto pc"), i.offset());
    }

    private static void decimal(StringBuilder out, InstructionOperand operand, boolean wide) {
        switch (operand) {
            case BpfRegister register -> name(out, register, wide);
            case InstructionOperand.Immediate(int value) -> out.append(value);
        }
    }

    private static StringBuilder packet(StringBuilder out, Width width) {
        return out.append("r0 = *(u").append(width.bytes() * 8).append(" *)skb[");
    }

    private static StringBuilder memory(
            StringBuilder out, char sign, Width width, BpfRegister base, int offset) {
        out.append('(').append(sign).append(width.bytes() * 8).append(" *)(");
        return signed(name(out, base, true).append(' '), offset).append(')');
    }

    /** Always with a sign: {@code +0}. */
    private static StringBuilder signed(StringBuilder out, int number) {
        return number < 0 ? out.append(number) : out.append('+').append(number);
    }

    private static StringBuilder name(StringBuilder out, BpfRegister register, boolean wide) {
        return out.append(wide ? 'r' : 'w').append(register.ordinal());
    }
}
