package sonde.bpf.interpreter;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.Instruction;
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
import sonde.bpf.insn.InstructionEncoding;
import sonde.bpf.insn.InstructionOperand;
import sonde.bpf.insn.Width;

/** Instructions to operations: targets become slots, constants registers. */
final class ProgramPreparation {
    private static final AtomicOperation[] ATOMIC = AtomicOperation.values();
    private static final int ZERO_OF_CONSTANTS = BpfRegister.values().length;

    /** Addresses of code: no region has such a number. */
    static final long CODE = 0x7f00_0000L << 32;

    private final BpfMachine machine;
    private final long[] words;
    private final long[] ops;
    private final List<Long> constants = new ArrayList<>();
    private final Map<Long, Integer> places = new HashMap<>();

    private ProgramPreparation(BpfMachine machine, long[] words) {
        this.machine = machine;
        this.words = words;
        this.ops = new long[words.length + 1];
    }

    static Executable of(BpfMachine machine, long[] words) {
        return new ProgramPreparation(machine, words.clone()).prepare();
    }

    private Executable prepare() {
        int slot = 0;
        for (Instruction instruction : InstructionEncoding.decode(words)) {
            ops[slot] = word(instruction, slot);
            if (instruction.slots() == 2) {
                ops[slot + 1] = PreparedOp.BAD;
            }
            slot += instruction.slots();
        }
        ops[words.length] = PreparedOp.OUTSIDE;
        return new Executable(ops, constants.stream().mapToLong(Long::longValue).toArray(), words);
    }

    private long word(Instruction instruction, int slot) {
        return switch (instruction) {
            case Alu i -> {
                int op = i.operation().ordinal() + (i.wide() ? 0 : PreparedOp.ALU32);
                yield writes(op, i.to(), operand(i.from()), 0);
            }
            case Negate i -> writes(i.wide() ? PreparedOp.NEG : PreparedOp.NEG32, i.to(), 0, 0);
            case SignExtend i -> writes(signOp(i), i.to(), i.from().ordinal(), 0);
            case ByteSwap i -> writes(swapOp(i), i.to(), i.to().ordinal(), 0);
            case AddressSpaceCast i -> writes(PreparedOp.MOV, i.to(), i.from().ordinal(), 0);
            case LoadWide i -> {
                Long value = value(i, slot);
                yield value == null
                        ? PreparedOp.BAD
                        : writes(PreparedOp.WIDE, i.to(), constant(value), slot + 2);
            }
            case Load i ->
                    writes(
                            widthOp(PreparedOp.LOAD8, i.width()),
                            i.to(),
                            i.base().ordinal(),
                            i.offset());
            case LoadAcquire i ->
                    writes(
                            widthOp(PreparedOp.LOAD8, i.width()),
                            i.to(),
                            i.base().ordinal(),
                            i.offset());
            case LoadSigned i -> {
                int op = widthOp(PreparedOp.LOAD8_SIGNED, i.width());
                yield writes(op, i.to(), i.base().ordinal(), i.offset());
            }
            case LoadPacket i ->
                    PreparedOp.word(
                            widthOp(PreparedOp.PACKET8, i.width()), 0, constant(0), i.offset());
            case LoadPacketIndexed i ->
                    PreparedOp.word(
                            widthOp(PreparedOp.PACKET8, i.width()),
                            0,
                            i.index().ordinal(),
                            i.offset());
            case Store i -> {
                int op = widthOp(PreparedOp.STORE8, i.width());
                yield PreparedOp.word(op, i.base().ordinal(), operand(i.from()), i.offset());
            }
            case StoreRelease i -> {
                int op = widthOp(PreparedOp.STORE8, i.width());
                yield PreparedOp.word(op, i.base().ordinal(), i.from().ordinal(), i.offset());
            }
            case Atomic i -> atomic(i);
            case Instruction.Flow i -> flow(i, slot);
            case NoSpeculation _ -> PreparedOp.NOTHING;
            case PerCpuAddress _, UnknownInstruction _ -> PreparedOp.BAD;
        };
    }

    private long flow(Instruction.Flow flow, int slot) {
        return switch (flow) {
            case Branch i -> {
                int op = i.condition().ordinal() + (i.wide() ? PreparedOp.JEQ : PreparedOp.JMP32);
                yield PreparedOp.word(
                        op, i.left().ordinal(), operand(i.right()), target(slot, i.offset()));
            }
            case Goto i -> PreparedOp.word(PreparedOp.GOTO, 0, 0, target(slot, i.offset()));
            case GotoLong i -> PreparedOp.word(PreparedOp.GOTO, 0, 0, target(slot, i.offset()));
            case MayGoto i -> PreparedOp.word(PreparedOp.MAY_GOTO, 0, 0, target(slot, i.offset()));
            case GotoRegister _ -> PreparedOp.BAD;
            case CallHelperFunction i -> PreparedOp.word(PreparedOp.CALL, 0, 0, i.helper());
            case CallLocal i ->
                    PreparedOp.word(PreparedOp.CALL_LOCAL, 0, 0, target(slot, i.offset()));
            case CallKernel i ->
                    PreparedOp.word(PreparedOp.CALL_KERNEL, 0, i.module() & 0xffff, i.btfId());
            case Exit _ -> PreparedOp.EXIT;
        };
    }

    /** R10 is only read. */
    private static long writes(int op, BpfRegister to, int from, int offset) {
        return to == BpfRegister.R10
                ? PreparedOp.BAD
                : PreparedOp.word(op, to.ordinal(), from, offset);
    }

    private int target(int slot, int offset) {
        long target = slot + 1L + offset;
        return target < 0 || target > words.length ? words.length : (int) target;
    }

    private int operand(InstructionOperand operand) {
        return switch (operand) {
            case BpfRegister register -> register.ordinal();
            case InstructionOperand.Immediate(int value) -> constant(value);
        };
    }

    private int constant(long value) {
        return places.computeIfAbsent(
                value,
                added -> {
                    constants.add(added);
                    return ZERO_OF_CONSTANTS + constants.size() - 1;
                });
    }

    /** Null when it stands for a map that is not there. */
    private @Nullable Long value(LoadWide i, int slot) {
        int low = (int) i.value();
        return switch (i.meaning()) {
            case NUMBER, BTF_ID -> (Long) i.value();
            case MAP, MAP_INDEX -> machine.mapAddress(low);
            case MAP_VALUE, MAP_INDEX_VALUE -> {
                Long address = machine.valueAddress(low);
                yield address == null ? null : (Long) (address + (i.value() >>> 32));
            }
            case FUNCTION -> (Long) (CODE | target(slot, low));
        };
    }

    private static int signOp(SignExtend i) {
        return switch (i.bits()) {
            case 8 -> i.wide() ? PreparedOp.SIGN8 : PreparedOp.SIGN8_32;
            case 16 -> i.wide() ? PreparedOp.SIGN16 : PreparedOp.SIGN16_32;
            default -> PreparedOp.SIGN32;
        };
    }

    /** The machine modelled here is little-endian. */
    private static int swapOp(ByteSwap i) {
        boolean swaps = i.change() != ByteOrderChange.TO_LITTLE;
        return switch (i.bits()) {
            case 16 -> swaps ? PreparedOp.SWAP16 : PreparedOp.ZERO16;
            case 32 -> swaps ? PreparedOp.SWAP32 : PreparedOp.ZERO32;
            default -> swaps ? PreparedOp.SWAP64 : PreparedOp.NOTHING;
        };
    }

    private static int widthOp(int first, Width width) {
        return first
                + switch (width) {
                    case U8 -> 0;
                    case U16 -> 1;
                    case U32 -> 2;
                    case U64 -> 3;
                };
    }

    private static long atomic(Atomic i) {
        int what = i.operation().ordinal() << 1 | (i.width() == Width.U64 ? 1 : 0);
        int offset = what << 16 | i.offset() & 0xffff;
        return i.from() == BpfRegister.R10 && i.operation().fetches()
                ? PreparedOp.BAD
                : PreparedOp.word(
                        PreparedOp.ATOMIC, i.base().ordinal(), i.from().ordinal(), offset);
    }

    static AtomicOperation atomicOperation(int offset) {
        return ATOMIC[offset >>> 17];
    }
}
