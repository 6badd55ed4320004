package sonde.bpf.classic;

import org.jspecify.annotations.Nullable;
import sonde.bpf.classic.ClassicInstruction.AluX;
import sonde.bpf.classic.ClassicInstruction.AncillarySource;
import sonde.bpf.classic.ClassicInstruction.BranchX;
import sonde.bpf.classic.ClassicInstruction.ClassicAlu;
import sonde.bpf.classic.ClassicInstruction.ClassicBranch;
import sonde.bpf.classic.ClassicInstruction.ClassicConstant;
import sonde.bpf.classic.ClassicInstruction.ClassicJump;
import sonde.bpf.classic.ClassicInstruction.ClassicLoad;
import sonde.bpf.classic.ClassicInstruction.ClassicNegate;
import sonde.bpf.classic.ClassicInstruction.ClassicReturn;
import sonde.bpf.classic.ClassicInstruction.ClassicSource;
import sonde.bpf.classic.ClassicInstruction.ClassicStore;
import sonde.bpf.classic.ClassicInstruction.ClassicTransfer;
import sonde.bpf.classic.ClassicInstruction.HeaderLength;
import sonde.bpf.classic.ClassicInstruction.MemoryCell;
import sonde.bpf.classic.ClassicInstruction.PacketBytes;
import sonde.bpf.classic.ClassicInstruction.PacketIndexed;
import sonde.bpf.classic.ClassicInstruction.PacketLength;
import sonde.bpf.classic.ClassicInstruction.ReturnA;

/**
 * Instructions to and from words: code in bits 0 to 15, jt 16 to 23, jf 24 to 31, k 32 to 63, which
 * is struct sock_filter as a little-endian machine reads it.
 */
final class ClassicEncoding {
    // Classes, the low three bits (include/uapi/linux/bpf_common.h).
    private static final int LD = 0x00;
    private static final int LDX = 0x01;
    private static final int ST = 0x02;
    private static final int STX = 0x03;
    private static final int ALU = 0x04;
    private static final int JMP = 0x05;
    private static final int RET = 0x06;
    private static final int MISC = 0x07;

    // Modes of loads, the upper three bits.
    private static final int IMMEDIATE = 0x00;
    private static final int ABSOLUTE = 0x20;
    private static final int INDEXED = 0x40;
    private static final int MEMORY = 0x60;
    private static final int LENGTH = 0x80;
    private static final int HEADER = 0xa0;

    private static final int BYTE = 0x10;
    private static final int WITH_X = 0x08;
    private static final int RETURN_A = 0x10;
    private static final int NEGATE = 0x80;
    private static final int TO_A = 0x80;

    private ClassicEncoding() {}

    static long word(ClassicInstruction instruction) {
        return switch (instruction) {
            case ClassicLoad i -> load(i);
            case ClassicStore i -> word(i.fromX() ? STX : ST, 0, 0, i.cell());
            case ClassicAlu i -> word(ALU | i.operation().code(), 0, 0, i.value());
            case AluX i -> word(ALU | WITH_X | i.operation().code(), 0, 0, 0);
            case ClassicNegate _ -> word(ALU | NEGATE, 0, 0, 0);
            case ClassicJump i -> word(JMP, 0, 0, i.distance());
            case ClassicBranch i ->
                    word(JMP | i.condition().code(), i.ifTrue(), i.ifFalse(), i.value());
            case BranchX i -> word(JMP | WITH_X | i.condition().code(), i.ifTrue(), i.ifFalse(), 0);
            case ClassicReturn i -> word(RET, 0, 0, i.value());
            case ReturnA _ -> word(RET | RETURN_A, 0, 0, 0);
            case ClassicTransfer i -> word(i.toX() ? MISC : MISC | TO_A, 0, 0, 0);
        };
    }

    private static long load(ClassicLoad load) {
        int to = load.toX() ? LDX : LD;
        return switch (load.source()) {
            case PacketBytes(int bytes, int offset) ->
                    word(to | ABSOLUTE | size(bytes), 0, 0, offset);
            case PacketIndexed(int bytes, int offset) ->
                    word(to | INDEXED | size(bytes), 0, 0, offset);
            case AncillarySource(Ancillary what) -> word(to | ABSOLUTE, 0, 0, what.k());
            case MemoryCell(int number) -> word(to | MEMORY, 0, 0, number);
            case ClassicConstant(int value) -> word(to | IMMEDIATE, 0, 0, value);
            case PacketLength _ -> word(to | LENGTH, 0, 0, 0);
            case HeaderLength(int offset) -> word(to | HEADER | BYTE, 0, 0, offset);
        };
    }

    private static int size(int bytes) {
        return switch (bytes) {
            case 1 -> BYTE;
            case 2 -> 0x08;
            default -> 0;
        };
    }

    private static long word(int code, int ifTrue, int ifFalse, int k) {
        return code | (long) ifTrue << 16 | (long) ifFalse << 24 | (long) k << 32;
    }

    /** The instruction; null when there is none of that code. Fields it does not use are lost. */
    static @Nullable ClassicInstruction decode(long word) {
        int code = (int) word & 0xffff;
        int k = (int) (word >> 32);
        int ifTrue = (int) (word >> 16) & 0xff;
        int ifFalse = (int) (word >> 24) & 0xff;
        if (code > 0xff) {
            return null;
        }
        return switch (code & 7) {
            case LD, LDX -> load(code, k);
            case ST, STX -> store(code, k);
            case ALU -> alu(code, k);
            case JMP -> jump(code, ifTrue, ifFalse, k);
            case RET -> end(code, k);
            default -> transfer(code);
        };
    }

    private static @Nullable ClassicInstruction load(int code, int k) {
        ClassicSource source = source(code, k);
        return source == null ? null : new ClassicLoad((code & 7) == LDX, source);
    }

    private static @Nullable ClassicInstruction store(int code, int k) {
        return code > STX ? null : new ClassicStore(code == STX, k);
    }

    private static @Nullable ClassicInstruction end(int code, int k) {
        return switch (code) {
            case RET -> new ClassicReturn(k);
            case RET | RETURN_A -> new ReturnA();
            default -> null;
        };
    }

    private static @Nullable ClassicInstruction transfer(int code) {
        return switch (code) {
            case MISC -> new ClassicTransfer(true);
            case MISC | TO_A -> new ClassicTransfer(false);
            default -> null;
        };
    }

    private static @Nullable ClassicSource source(int code, int k) {
        boolean toX = (code & 7) == LDX;
        int size = code & 0x18;
        if (size == 0x18) {
            return null;
        }
        int bytes = size == BYTE ? 1 : size == 0 ? 4 : 2;
        int mode = code & 0xe0;
        if (mode == HEADER) {
            return toX && size == BYTE ? new HeaderLength(k) : null;
        }
        if (mode == ABSOLUTE || mode == INDEXED) {
            Ancillary fact = mode == ABSOLUTE ? Ancillary.at(k) : null;
            ClassicSource packet =
                    mode == ABSOLUTE ? new PacketBytes(bytes, k) : new PacketIndexed(bytes, k);
            ClassicSource found = fact == null ? packet : new AncillarySource(fact);
            return toX ? null : found;
        }
        if (size != 0) {
            return null;
        }
        return switch (mode) {
            case IMMEDIATE -> new ClassicConstant(k);
            case MEMORY -> new MemoryCell(k);
            case LENGTH -> new PacketLength();
            default -> null;
        };
    }

    private static @Nullable ClassicInstruction alu(int code, int k) {
        if ((code & 0xf0) == NEGATE) {
            return code == (ALU | NEGATE) ? new ClassicNegate() : null;
        }
        ClassicOperation operation = ClassicOperation.ofOpcode(code);
        if (operation == null) {
            return null;
        }
        return (code & WITH_X) != 0 ? new AluX(operation) : new ClassicAlu(operation, k);
    }

    private static @Nullable ClassicInstruction jump(int code, int ifTrue, int ifFalse, int k) {
        if (code == JMP) {
            return new ClassicJump(k);
        }
        ClassicCondition condition = ClassicCondition.ofOpcode(code);
        if (condition == null) {
            return null;
        }
        return (code & WITH_X) != 0
                ? new BranchX(condition, ifTrue, ifFalse)
                : new ClassicBranch(condition, k, ifTrue, ifFalse);
    }
}
