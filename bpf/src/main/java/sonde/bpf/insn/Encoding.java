package sonde.bpf.insn;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Instruction.Alu;
import sonde.bpf.insn.Instruction.AtomicAdd;
import sonde.bpf.insn.Instruction.Branch;
import sonde.bpf.insn.Instruction.Call;
import sonde.bpf.insn.Instruction.Exit;
import sonde.bpf.insn.Instruction.Goto;
import sonde.bpf.insn.Instruction.Load;
import sonde.bpf.insn.Instruction.LoadWide;
import sonde.bpf.insn.Instruction.Meaning;
import sonde.bpf.insn.Instruction.Negate;
import sonde.bpf.insn.Instruction.Store;
import sonde.bpf.insn.Instruction.Unknown;

/**
 * Instructions to and from words of 64 bits (RFC 9669 section 3.1), little-endian machines: opcode
 * in bits 0 to 7, destination 8 to 11, source 12 to 15, offset 16 to 31, immediate 32 to 63.
 */
public final class Encoding {
    // Instruction classes, the low three bits of the opcode.
    private static final int LD = 0x00;
    private static final int LDX = 0x01;
    private static final int ST = 0x02;
    private static final int STX = 0x03;
    private static final int ALU = 0x04;
    private static final int JMP = 0x05;
    private static final int JMP32 = 0x06;
    private static final int ALU64 = 0x07;

    private static final int FROM_REGISTER = 0x08;
    private static final int LOAD_WIDE = 0x18 | LD;
    private static final int MODE = 0xe0;
    private static final int MEMORY = 0x60;
    private static final int ATOMIC = 0xc0;
    private static final int CALL = 0x80;
    private static final int EXIT = 0x90;
    private static final int NEGATE = 0x80;

    private Encoding() {}

    /** The words of a program. */
    public static long[] encode(List<Instruction> instructions) {
        int slots = instructions.stream().mapToInt(Instruction::slots).sum();
        long[] words = new long[slots];
        int at = 0;
        for (Instruction instruction : instructions) {
            words[at++] = word(instruction);
            if (instruction instanceof LoadWide wide) {
                words[at++] = wide.value() & 0xffffffff00000000L;
            }
        }
        return words;
    }

    private static long word(Instruction instruction) {
        return switch (instruction) {
            case Alu i -> alu(i);
            case Negate i -> word((i.wide() ? ALU64 : ALU) | NEGATE, i.to(), 0, 0, 0);
            case LoadWide i -> word(LOAD_WIDE, i.to(), i.meaning().ordinal(), 0, (int) i.value());
            case Load i -> {
                int code = LDX | MEMORY | i.width().code();
                yield word(code, i.to(), i.base().ordinal(), i.offset(), 0);
            }
            case Store i -> store(i);
            case AtomicAdd i -> {
                int code = STX | ATOMIC | i.width().code();
                yield word(code, i.base(), i.from().ordinal(), i.offset(), 0);
            }
            case Branch i -> branch(i);
            case Goto i -> word(JMP, Register.R0, 0, i.offset(), 0);
            case Call i -> word(JMP | CALL, Register.R0, 0, 0, i.helper());
            case Exit _ -> JMP | EXIT;
            case Unknown i -> i.word();
        };
    }

    private static long alu(Alu i) {
        int code = (i.wide() ? ALU64 : ALU) | i.operation().code();
        return switch (i.from()) {
            case Register from -> word(code | FROM_REGISTER, i.to(), from.ordinal(), 0, 0);
            case Operand.Immediate(int value) -> word(code, i.to(), 0, 0, value);
        };
    }

    private static long store(Store i) {
        int code = MEMORY | i.width().code();
        return switch (i.from()) {
            case Register from -> word(code | STX, i.base(), from.ordinal(), i.offset(), 0);
            case Operand.Immediate(int value) -> word(code | ST, i.base(), 0, i.offset(), value);
        };
    }

    private static long branch(Branch i) {
        int code = (i.wide() ? JMP : JMP32) | i.condition().code();
        return switch (i.right()) {
            case Register right ->
                    word(code | FROM_REGISTER, i.left(), right.ordinal(), i.offset(), 0);
            case Operand.Immediate(int value) -> word(code, i.left(), 0, i.offset(), value);
        };
    }

    private static long word(int opcode, Register to, int source, int offset, int immediate) {
        return opcode
                | (long) to.ordinal() << 8
                | (long) source << 12
                | (offset & 0xffffL) << 16
                | (long) immediate << 32;
    }

    /** The instructions of a program; a lone first half of a wide load is {@link Unknown}. */
    public static List<Instruction> decode(long[] words) {
        List<Instruction> instructions = new ArrayList<>(words.length);
        for (int at = 0; at < words.length; at++) {
            Instruction wide = at + 1 < words.length ? loadWide(words[at], words[at + 1]) : null;
            if (wide != null) {
                at++;
                instructions.add(wide);
            } else {
                Instruction known = decode(words[at]);
                // Fields that the model has no place for must not get lost.
                instructions.add(
                        known != null && word(known) == words[at] ? known : new Unknown(words[at]));
            }
        }
        return instructions;
    }

    private static @Nullable Instruction loadWide(long first, long second) {
        int meaning = (int) (first >> 12 & 0xf);
        int to = (int) (first >> 8 & 0xf);
        boolean known =
                (first & 0xff) == LOAD_WIDE
                        && meaning < Meaning.values().length
                        && to < Register.count()
                        && (first >> 16 & 0xffff) == 0
                        && (second & 0xffffffffL) == 0;
        return known
                ? new LoadWide(Meaning.values()[meaning], Register.of(to), first >>> 32 | second)
                : null;
    }

    private static @Nullable Instruction decode(long word) {
        int opcode = (int) word & 0xff;
        int toNumber = (int) (word >> 8 & 0xf);
        int fromNumber = (int) (word >> 12 & 0xf);
        if (toNumber >= Register.count() || fromNumber >= Register.count()) {
            return null;
        }
        Register to = Register.of(toNumber);
        Register from = Register.of(fromNumber);
        short offset = (short) (word >> 16);
        Operand.Immediate immediate = new Operand.Immediate((int) (word >> 32));
        return switch (opcode & 7) {
            case ALU, ALU64 -> {
                Operand right = (opcode & FROM_REGISTER) == 0 ? immediate : from;
                yield decodeAlu(opcode, to, right);
            }
            case LDX ->
                    (opcode & MODE) == MEMORY
                            ? new Load(Width.ofOpcode(opcode), to, from, offset)
                            : null;
            case ST ->
                    (opcode & MODE) == MEMORY
                            ? new Store(Width.ofOpcode(opcode), to, offset, immediate)
                            : null;
            case STX -> decodeStore(opcode, to, from, offset);
            case JMP, JMP32 -> {
                Operand right = (opcode & FROM_REGISTER) == 0 ? immediate : from;
                yield decodeJump(opcode, to, right, offset, immediate.value());
            }
            default -> null;
        };
    }

    private static @Nullable Instruction decodeAlu(int opcode, Register to, Operand right) {
        boolean wide = (opcode & 7) == ALU64;
        if ((opcode & 0xf0) == NEGATE) {
            return new Negate(wide, to);
        }
        int operation = opcode >> 4;
        return operation < AluOperation.count()
                ? new Alu(AluOperation.of(operation), wide, to, right)
                : null;
    }

    private static @Nullable Instruction decodeStore(
            int opcode, Register base, Register from, short offset) {
        return switch (opcode & MODE) {
            case MEMORY -> new Store(Width.ofOpcode(opcode), base, offset, from);
            case ATOMIC -> new AtomicAdd(Width.ofOpcode(opcode), base, offset, from);
            default -> null;
        };
    }

    private static @Nullable Instruction decodeJump(
            int opcode, Register left, Operand right, short offset, int immediate) {
        boolean wide = (opcode & 7) == JMP;
        if (wide) {
            switch (opcode) {
                case JMP:
                    return new Goto(offset);
                case JMP | CALL:
                    return new Call(immediate);
                case JMP | EXIT:
                    return new Exit();
                default:
                    break;
            }
        }
        Condition condition = Condition.ofOpcode(opcode);
        return condition == null ? null : new Branch(condition, wide, left, right, offset);
    }
}
