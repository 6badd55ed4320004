package sonde.bpf.insn;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import sonde.bpf.insn.Instruction.AddressSpaceCast;
import sonde.bpf.insn.Instruction.Alu;
import sonde.bpf.insn.Instruction.Atomic;
import sonde.bpf.insn.Instruction.Branch;
import sonde.bpf.insn.Instruction.ByteOrderChange;
import sonde.bpf.insn.Instruction.ByteSwap;
import sonde.bpf.insn.Instruction.CallHelperFunction;
import sonde.bpf.insn.Instruction.CallKernel;
import sonde.bpf.insn.Instruction.CallLocal;
import sonde.bpf.insn.Instruction.Exit;
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
 * Instructions to and from words of 64 bits (RFC 9669 section 3.1), as little-endian machines see
 * them: opcode in bits 0 to 7, destination 8 to 11, source 12 to 15, offset 16 to 31, immediate 32
 * to 63. Objects made for big-endian machines are turned into such words by {@link #words}.
 */
public final class InstructionEncoding {
    /** struct bpf_insn. */
    static final int WORD_BYTES = 8;

    // Instruction classes, the low three bits of the opcode.
    static final int LD = 0x00;
    static final int LDX = 0x01;
    static final int ST = 0x02;
    static final int STX = 0x03;
    static final int ALU = 0x04;
    static final int JMP = 0x05;
    static final int JMP32 = 0x06;
    static final int ALU64 = 0x07;

    static final int FROM_REGISTER = 0x08;
    static final int LOAD_WIDE = 0x18 | LD;

    // Modes of memory access, the upper three bits of the opcode.
    static final int MODE = 0xe0;
    static final int ABSOLUTE = 0x20;
    static final int INDEXED = 0x40;
    static final int MEMORY = 0x60;
    static final int MEMORY_SIGNED = 0x80;
    static final int ATOMIC = 0xc0;

    static final int NEGATE = 0x80;
    static final int BYTE_SWAP = 0xd0;
    static final int MOVE = 0xb0;
    static final int CALL = 0x80;
    static final int EXIT = 0x90;
    static final int MAY_GOTO = 0xe0;
    static final int NO_SPECULATION = 0xc0 | ST;

    // Immediates of atomic accesses that are no arithmetic.
    static final int LOAD_ACQUIRE = 0x100;
    static final int STORE_RELEASE = 0x110;

    // The source register of calls.
    static final int CALL_LOCAL = 1;
    static final int CALL_KERNEL = 2;

    private InstructionEncoding() {}

    /** The words of a program. */
    public static long[] encode(List<Instruction> instructions) {
        int slots = 0;
        for (Instruction instruction : instructions) {
            slots += instruction.slots();
        }
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

    /**
     * The words in bytes, as a machine of that order has them.
     *
     * @throws InvalidInstructionException when the last one is cut off
     */
    public static long[] words(byte[] bytes, ByteOrder order) throws InvalidInstructionException {
        if (bytes.length % WORD_BYTES != 0) {
            throw new InvalidInstructionException(
                    bytes.length / WORD_BYTES,
                    "%d bytes are left where 8 make an instruction"
                            .formatted(bytes.length % WORD_BYTES));
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(order);
        long[] words = new long[bytes.length / WORD_BYTES];
        for (int i = 0; i < words.length; i++) {
            long word = buffer.getLong();
            words[i] = order == ByteOrder.LITTLE_ENDIAN ? word : fromBigEndian(word);
        }
        return words;
    }

    /** Inverse of {@link #words}. */
    public static byte[] bytes(long[] words, ByteOrder order) {
        ByteBuffer buffer = ByteBuffer.allocate(words.length * WORD_BYTES).order(order);
        for (long word : words) {
            buffer.putLong(order == ByteOrder.LITTLE_ENDIAN ? word : toBigEndian(word));
        }
        return buffer.array();
    }

    /** The fields stand from the top down, destination before source. */
    private static long fromBigEndian(long word) {
        return word >>> 56
                | (word >>> 52 & 0xf) << 8
                | (word >>> 48 & 0xf) << 12
                | (word >>> 32 & 0xffff) << 16
                | word << 32;
    }

    private static long toBigEndian(long word) {
        return word << 56
                | (word >>> 8 & 0xf) << 52
                | (word >>> 12 & 0xf) << 48
                | (word >>> 16 & 0xffff) << 32
                | word >>> 32;
    }

    static long word(Instruction instruction) {
        return switch (instruction) {
            case Alu i -> alu(i);
            case Negate i -> word((i.wide() ? ALU64 : ALU) | NEGATE, i.to(), 0, 0, 0);
            case SignExtend i -> {
                int code = (i.wide() ? ALU64 : ALU) | MOVE | FROM_REGISTER;
                yield word(code, i.to(), i.from().ordinal(), i.bits(), 0);
            }
            case ByteSwap i -> word(BYTE_SWAP | swapCode(i.change()), i.to(), 0, 0, i.bits());
            case AddressSpaceCast i -> {
                int spaces = i.toSpace() << 16 | i.fromSpace() & 0xffff;
                yield word(ALU64 | MOVE | FROM_REGISTER, i.to(), i.from().ordinal(), 1, spaces);
            }
            case PerCpuAddress i ->
                    word(ALU64 | MOVE | FROM_REGISTER, i.to(), i.from().ordinal(), -1, 0);
            case LoadWide i -> word(LOAD_WIDE, i.to(), i.meaning().ordinal(), 0, (int) i.value());
            case Load i -> {
                int code = LDX | MEMORY | i.width().code();
                yield word(code, i.to(), i.base().ordinal(), i.offset(), 0);
            }
            case LoadSigned i -> {
                int code = LDX | MEMORY_SIGNED | i.width().code();
                yield word(code, i.to(), i.base().ordinal(), i.offset(), 0);
            }
            case LoadPacket i ->
                    word(LD | ABSOLUTE | i.width().code(), BpfRegister.R0, 0, 0, i.offset());
            case LoadPacketIndexed i -> {
                int code = LD | INDEXED | i.width().code();
                yield word(code, BpfRegister.R0, i.index().ordinal(), 0, i.offset());
            }
            case Store i -> store(i);
            case Atomic i ->
                    atomic(i.width(), i.base(), i.from(), i.offset(), i.operation().code());
            case LoadAcquire i -> atomic(i.width(), i.to(), i.base(), i.offset(), LOAD_ACQUIRE);
            case StoreRelease i -> atomic(i.width(), i.base(), i.from(), i.offset(), STORE_RELEASE);
            case Branch i -> branch(i);
            case Goto i -> word(JMP, BpfRegister.R0, 0, i.offset(), 0);
            case GotoLong i -> word(JMP32, BpfRegister.R0, 0, 0, i.offset());
            case GotoRegister i -> word(JMP | FROM_REGISTER, i.target(), 0, 0, 0);
            case MayGoto i -> word(JMP | MAY_GOTO, BpfRegister.R0, 0, i.offset(), 0);
            case CallHelperFunction i -> word(JMP | CALL, BpfRegister.R0, 0, 0, i.helper());
            case CallLocal i -> word(JMP | CALL, BpfRegister.R0, CALL_LOCAL, 0, i.offset());
            case CallKernel i ->
                    word(JMP | CALL, BpfRegister.R0, CALL_KERNEL, i.module(), i.btfId());
            case Exit _ -> JMP | EXIT;
            case NoSpeculation _ -> NO_SPECULATION;
            case UnknownInstruction i -> i.word();
        };
    }

    private static int swapCode(ByteOrderChange change) {
        return switch (change) {
            case TO_LITTLE -> ALU;
            case TO_BIG -> ALU | FROM_REGISTER;
            case SWAP -> ALU64;
        };
    }

    private static long alu(Alu i) {
        int code = (i.wide() ? ALU64 : ALU) | i.operation().code();
        int variant = i.operation().variant();
        return switch (i.from()) {
            case BpfRegister from -> word(code | FROM_REGISTER, i.to(), from.ordinal(), variant, 0);
            case InstructionOperand.Immediate(int value) -> word(code, i.to(), 0, variant, value);
        };
    }

    private static long store(Store i) {
        int code = MEMORY | i.width().code();
        return switch (i.from()) {
            case BpfRegister from -> word(code | STX, i.base(), from.ordinal(), i.offset(), 0);
            case InstructionOperand.Immediate(int value) ->
                    word(code | ST, i.base(), 0, i.offset(), value);
        };
    }

    private static long atomic(
            Width width, BpfRegister to, BpfRegister source, int offset, int operation) {
        return word(STX | ATOMIC | width.code(), to, source.ordinal(), offset, operation);
    }

    private static long branch(Branch i) {
        int code = (i.wide() ? JMP : JMP32) | i.condition().code();
        return switch (i.right()) {
            case BpfRegister right ->
                    word(code | FROM_REGISTER, i.left(), right.ordinal(), i.offset(), 0);
            case InstructionOperand.Immediate(int value) ->
                    word(code, i.left(), 0, i.offset(), value);
        };
    }

    private static long word(int opcode, BpfRegister to, int source, int offset, int immediate) {
        return opcode
                | (long) to.ordinal() << 8
                | (long) source << 12
                | (offset & 0xffffL) << 16
                | (long) immediate << 32;
    }

    /**
     * The instructions of a program, none left out: words that the model does not name, a lone
     * first half of a wide load among them, are {@link UnknownInstruction}.
     */
    public static List<Instruction> decode(long[] words) {
        List<Instruction> instructions = new ArrayList<>(words.length);
        int at = 0;
        while (at < words.length) {
            Instruction instruction = InstructionDecoder.at(words, at);
            instructions.add(instruction);
            at += instruction.slots();
        }
        return instructions;
    }

    /**
     * The instructions of a program that has to be whole.
     *
     * @throws InvalidInstructionException at the first word that is none
     */
    public static List<Instruction> decodeAll(long[] words) throws InvalidInstructionException {
        List<Instruction> instructions = decode(words);
        int slot = 0;
        for (Instruction instruction : instructions) {
            if (instruction instanceof UnknownInstruction) {
                throw new InvalidInstructionException(
                        slot, InstructionDecoder.complaint(words, slot));
            }
            slot += instruction.slots();
        }
        return instructions;
    }
}
