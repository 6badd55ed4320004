package sonde.bpf.insn;

import static sonde.bpf.insn.InstructionEncoding.ABSOLUTE;
import static sonde.bpf.insn.InstructionEncoding.ALU;
import static sonde.bpf.insn.InstructionEncoding.ALU64;
import static sonde.bpf.insn.InstructionEncoding.ATOMIC;
import static sonde.bpf.insn.InstructionEncoding.BYTE_SWAP;
import static sonde.bpf.insn.InstructionEncoding.CALL;
import static sonde.bpf.insn.InstructionEncoding.CALL_KERNEL;
import static sonde.bpf.insn.InstructionEncoding.CALL_LOCAL;
import static sonde.bpf.insn.InstructionEncoding.EXIT;
import static sonde.bpf.insn.InstructionEncoding.FROM_REGISTER;
import static sonde.bpf.insn.InstructionEncoding.INDEXED;
import static sonde.bpf.insn.InstructionEncoding.JMP;
import static sonde.bpf.insn.InstructionEncoding.JMP32;
import static sonde.bpf.insn.InstructionEncoding.LD;
import static sonde.bpf.insn.InstructionEncoding.LDX;
import static sonde.bpf.insn.InstructionEncoding.LOAD_ACQUIRE;
import static sonde.bpf.insn.InstructionEncoding.LOAD_WIDE;
import static sonde.bpf.insn.InstructionEncoding.MAY_GOTO;
import static sonde.bpf.insn.InstructionEncoding.MEMORY;
import static sonde.bpf.insn.InstructionEncoding.MEMORY_SIGNED;
import static sonde.bpf.insn.InstructionEncoding.MODE;
import static sonde.bpf.insn.InstructionEncoding.NEGATE;
import static sonde.bpf.insn.InstructionEncoding.NO_SPECULATION;
import static sonde.bpf.insn.InstructionEncoding.ST;
import static sonde.bpf.insn.InstructionEncoding.STORE_RELEASE;
import static sonde.bpf.insn.InstructionEncoding.STX;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Instruction.AddressSpaceCast;
import sonde.bpf.insn.Instruction.Alu;
import sonde.bpf.insn.Instruction.Atomic;
import sonde.bpf.insn.Instruction.Branch;
import sonde.bpf.insn.Instruction.ByteOrderChange;
import sonde.bpf.insn.Instruction.ByteSwap;
import sonde.bpf.insn.Instruction.CallHelperFunction;
import sonde.bpf.insn.Instruction.CallKernel;
import sonde.bpf.insn.Instruction.CallLocal;
import sonde.bpf.insn.Instruction.ConstantMeaning;
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

/** Words to instructions; every word has an answer. */
final class InstructionDecoder {
    private static final ConstantMeaning[] MEANINGS = ConstantMeaning.values();

    private InstructionDecoder() {}

    /** The instruction that begins at a slot. */
    static Instruction at(long[] words, int slot) {
        long word = words[slot];
        if ((word & 0xff) == LOAD_WIDE && slot + 1 < words.length) {
            Instruction wide = loadWide(word, words[slot + 1]);
            return wide != null ? wide : new UnknownInstruction(word);
        }
        Instruction known = decode(word);
        // Fields that the model has no place for must not get lost.
        return known != null && InstructionEncoding.word(known) == word
                ? known
                : new UnknownInstruction(word);
    }

    /** Why the word at a slot is not an instruction. */
    static String complaint(long[] words, int slot) {
        long word = words[slot];
        int opcode = (int) word & 0xff;
        if ((word >> 8 & 0xf) >= BpfRegister.count() || (word >> 12 & 0xf) >= BpfRegister.count()) {
            int wrong = (int) Math.max(word >> 8 & 0xf, word >> 12 & 0xf);
            return "register r%d of %016x; the last one is r10".formatted(wrong, word);
        }
        if (opcode == LOAD_WIDE) {
            return slot + 1 == words.length
                    ? "a 64-bit constant lacks its second half"
                    : "a 64-bit constant of unknown kind %d, or with reserved fields that are not 0"
                            .formatted(word >> 12 & 0xf);
        }
        // Byte swaps alone need a constant that is not 0.
        if (decode(opcode) != null || decode(opcode | 16L << 32) != null) {
            return "%016x has a reserved field that is not 0, or a value nobody defined"
                    .formatted(word);
        }
        return "no instruction has the opcode %02x (%016x)".formatted(opcode, word);
    }

    private static @Nullable Instruction loadWide(long first, long second) {
        int meaning = (int) (first >> 12 & 0xf);
        int to = (int) (first >> 8 & 0xf);
        boolean known =
                meaning < MEANINGS.length
                        && to < BpfRegister.count()
                        && (first >> 16 & 0xffff) == 0
                        && (second & 0xffffffffL) == 0;
        return known
                ? new LoadWide(MEANINGS[meaning], BpfRegister.of(to), first >>> 32 | second)
                : null;
    }

    private static @Nullable Instruction decode(long word) {
        int opcode = (int) word & 0xff;
        int toNumber = (int) (word >> 8 & 0xf);
        int fromNumber = (int) (word >> 12 & 0xf);
        if (toNumber >= BpfRegister.count() || fromNumber >= BpfRegister.count()) {
            return null;
        }
        BpfRegister to = BpfRegister.of(toNumber);
        BpfRegister from = BpfRegister.of(fromNumber);
        short offset = (short) (word >> 16);
        int immediate = (int) (word >> 32);
        return switch (opcode & 7) {
            case ALU, ALU64 -> decodeAlu(opcode, to, from, offset, immediate);
            case LD -> decodePacket(opcode, from, immediate);
            case LDX -> decodeLoad(opcode, to, from, offset);
            case ST -> decodeStore(opcode, to, offset, immediate);
            case STX -> decodeStore(opcode, to, from, offset, immediate);
            default -> decodeJump(opcode, to, from, offset, immediate);
        };
    }

    private static @Nullable Instruction decodeAlu(
            int opcode, BpfRegister to, BpfRegister from, short offset, int immediate) {
        boolean wide = (opcode & 7) == ALU64;
        boolean fromRegister = (opcode & FROM_REGISTER) != 0;
        int code = opcode & 0xf0;
        if (code == NEGATE) {
            return new Negate(wide, to);
        }
        if (code == BYTE_SWAP) {
            return decodeSwap(wide, fromRegister, to, immediate);
        }
        if (code == InstructionEncoding.MOVE && fromRegister && offset != 0) {
            return decodeMove(wide, to, from, offset, immediate);
        }
        AluOperation operation = AluOperation.of(code, offset);
        if (operation == null) {
            return null;
        }
        return new Alu(
                operation,
                wide,
                to,
                fromRegister ? from : new InstructionOperand.Immediate(immediate));
    }

    private static @Nullable Instruction decodeSwap(
            boolean wide, boolean big, BpfRegister to, int bits) {
        if (bits != 16 && bits != 32 && bits != 64 || wide && big) {
            return null;
        }
        ByteOrderChange narrow = big ? ByteOrderChange.TO_BIG : ByteOrderChange.TO_LITTLE;
        return new ByteSwap(wide ? ByteOrderChange.SWAP : narrow, bits, to);
    }

    private static @Nullable Instruction decodeMove(
            boolean wide, BpfRegister to, BpfRegister from, short offset, int immediate) {
        return switch (offset) {
            case 8, 16 -> new SignExtend(offset, wide, to, from);
            case 32 -> wide ? new SignExtend(offset, true, to, from) : null;
            case 1 ->
                    wide
                            ? new AddressSpaceCast(to, from, immediate >>> 16, immediate & 0xffff)
                            : null;
            case -1 -> wide ? new PerCpuAddress(to, from) : null;
            default -> null;
        };
    }

    private static @Nullable Instruction decodePacket(int opcode, BpfRegister index, int offset) {
        Width width = Width.ofOpcode(opcode);
        if (width == Width.U64) {
            return null;
        }
        return switch (opcode & MODE) {
            case ABSOLUTE -> new LoadPacket(width, offset);
            case INDEXED -> new LoadPacketIndexed(width, index, offset);
            default -> null;
        };
    }

    private static @Nullable Instruction decodeLoad(
            int opcode, BpfRegister to, BpfRegister base, short offset) {
        Width width = Width.ofOpcode(opcode);
        return switch (opcode & MODE) {
            case MEMORY -> new Load(width, to, base, offset);
            case MEMORY_SIGNED ->
                    width == Width.U64 ? null : new LoadSigned(width, to, base, offset);
            default -> null;
        };
    }

    private static @Nullable Instruction decodeStore(
            int opcode, BpfRegister base, short offset, int immediate) {
        if (opcode == NO_SPECULATION) {
            return new NoSpeculation();
        }
        return (opcode & MODE) == MEMORY
                ? new Store(
                        Width.ofOpcode(opcode),
                        base,
                        offset,
                        new InstructionOperand.Immediate(immediate))
                : null;
    }

    private static @Nullable Instruction decodeStore(
            int opcode, BpfRegister to, BpfRegister from, short offset, int immediate) {
        Width width = Width.ofOpcode(opcode);
        if ((opcode & MODE) == MEMORY) {
            return new Store(width, to, offset, from);
        }
        if ((opcode & MODE) != ATOMIC) {
            return null;
        }
        if (immediate == LOAD_ACQUIRE) {
            return new LoadAcquire(width, to, from, offset);
        }
        if (immediate == STORE_RELEASE) {
            return new StoreRelease(width, to, offset, from);
        }
        AtomicOperation operation = AtomicOperation.of(immediate);
        return operation == null || width == Width.U8 || width == Width.U16
                ? null
                : new Atomic(operation, width, to, offset, from);
    }

    private static @Nullable Instruction decodeJump(
            int opcode, BpfRegister left, BpfRegister right, short offset, int immediate) {
        switch (opcode) {
            case JMP:
                return new Goto(offset);
            case JMP | FROM_REGISTER:
                return new GotoRegister(left);
            case JMP32:
                return new GotoLong(immediate);
            case JMP | MAY_GOTO:
                return new MayGoto(offset);
            case JMP | CALL:
                return decodeCall(right.ordinal(), offset, immediate);
            case JMP | EXIT:
                return new Exit();
            default:
                break;
        }
        JumpCondition condition = JumpCondition.ofOpcode(opcode);
        if (condition == null) {
            return null;
        }
        boolean wide = (opcode & 7) == JMP;
        boolean fromRegister = (opcode & FROM_REGISTER) != 0;
        InstructionOperand to = fromRegister ? right : new InstructionOperand.Immediate(immediate);
        return new Branch(condition, wide, left, to, offset);
    }

    private static @Nullable Instruction decodeCall(int kind, short offset, int immediate) {
        return switch (kind) {
            case 0 -> new CallHelperFunction(immediate);
            case CALL_LOCAL -> new CallLocal(immediate);
            case CALL_KERNEL -> new CallKernel(immediate, offset);
            default -> null;
        };
    }
}
