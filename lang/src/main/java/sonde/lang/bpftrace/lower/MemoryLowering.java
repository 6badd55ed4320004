package sonde.lang.bpftrace.lower;

import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.LoweredValue.MemoryOwner;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.declare.TracepointTypes;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperation.IrLoad;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.SpecialValue;

/** Reads, writes and copies memory, one's own and others'. */
final class MemoryLowering {
    /** Up to so many bytes are copied by loads and stores, more by a helper. */
    private static final int INLINE = 64;

    private final ProgramLowering lowerer;

    MemoryLowering(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    /** Memory until the statement ends. */
    PlaceValue own(int sizeBytes, int align) {
        return lowerer.frame().allocate(emit().function(), sizeBytes, Math.max(align, 1));
    }

    /** Memory for a value, such that it can be read by words. */
    PlaceValue own(ValueType type) {
        return own(Math.max(1, type.sizeBytes()), type.sizeBytes() >= 8 ? 8 : type.align());
    }

    /** Fills memory with zeros. */
    void zero(PlaceValue to, int sizeBytes) {
        if (sizeBytes > INLINE) {
            emit().run(
                            HelperFunctionId.PROBE_READ_KERNEL,
                            emit().address(to),
                            IrOperand.of(sizeBytes),
                            IrOperand.of(0));
            return;
        }
        for (int at = 0; at < sizeBytes; ) {
            int chunk = chunk(to.plus(at), sizeBytes - at);
            emit().store(Width.of(chunk), to.base(), to.offset() + at, IrOperand.of(0));
            at += chunk;
        }
    }

    /** The widest access at a place; the verifier wants those of the stack and context aligned. */
    static int chunk(PlaceValue at, int left) {
        int most = at.align();
        while (most > left) {
            most /= 2;
        }
        return most;
    }

    /** Copies bytes from anywhere to one's own memory. */
    void copy(PlaceValue from, int sizeBytes, PlaceValue to) {
        if (from.equals(to) || sizeBytes == 0) {
            return;
        }
        if (isClosed(from) && sizeBytes > TracepointTypes.CLOSED_BYTES) {
            int head = TracepointTypes.CLOSED_BYTES;
            zero(to, head);
            copy(from.plus(head), sizeBytes - head, to.plus(head));
            return;
        }
        boolean near = from.where() == MemoryOwner.OWN || from.where() == MemoryOwner.CONTEXT;
        if (!near || sizeBytes > INLINE) {
            read(from, sizeBytes, to);
            return;
        }
        for (int at = 0; at < sizeBytes; ) {
            int chunk =
                    Math.min(
                            chunk(from.plus(at), sizeBytes - at),
                            chunk(to.plus(at), sizeBytes - at));
            Width width = Width.of(chunk);
            VirtualRegister word = emit().load(width, false, from.base(), from.offset() + at);
            emit().store(width, to.base(), to.offset() + at, word);
            at += chunk;
        }
    }

    /** Whether a place begins with what programs of tracepoints may not read. */
    private boolean isClosed(PlaceValue from) {
        return from.where() == MemoryOwner.CONTEXT
                && from.offset() == 0
                && lowerer.clause().site().kind() == Kind.TRACEPOINT;
    }

    private void read(PlaceValue from, int sizeBytes, PlaceValue to) {
        int helper =
                from.where() == MemoryOwner.USER
                        ? HelperFunctionId.PROBE_READ_USER
                        : HelperFunctionId.PROBE_READ_KERNEL;
        BasicBlock nothing = emit().block();
        if (mayBeNull(from)) {
            zero(to, sizeBytes);
            skipNull(from, nothing);
        }
        VirtualRegister result =
                emit().call(
                                helper,
                                emit().address(to),
                                IrOperand.of(sizeBytes),
                                emit().address(from));
        lowerer.errors().check(result, helper);
        emit().start(nothing);
    }

    private boolean mayBeNull(PlaceValue from) {
        return lowerer.clause().site().kind() == Kind.ITER
                && from.base() instanceof VirtualRegister;
    }

    /** What an iterator hands over may be null; the verifier lets no one add to it unseen. */
    void skipNull(PlaceValue from, BasicBlock nothing) {
        if (mayBeNull(from) && from.base() instanceof VirtualRegister base) {
            emit().when(JumpCondition.EQUAL, base, 0, nothing);
        }
    }

    /** Reads a number that lies somewhere. */
    VirtualRegister load(PlaceValue from, ValueType type) {
        int size = type.sizeBytes();
        boolean signed = isSigned(type);
        PlaceValue near = from;
        if (from.where() == MemoryOwner.KERNEL || from.where() == MemoryOwner.USER) {
            near =
                    new PlaceValue(
                            lowerer.frame().object(emit().function(), 8, 8), 0, MemoryOwner.OWN);
            read(from, size, near);
        } else if (near.align() < size && near.base() instanceof StackObject) {
            PlaceValue aligned =
                    new PlaceValue(
                            lowerer.frame().object(emit().function(), 8, 8), 0, MemoryOwner.OWN);
            copy(near, size, aligned);
            near = aligned;
        }
        VirtualRegister to =
                type instanceof PointerType p && p.space() == PointerSpace.OWN
                        ? emit().function().pointer()
                        : emit().function().scalar();
        emit().function()
                .add(
                        new IrLoad(
                                Width.of(size),
                                signed && size < 8,
                                to,
                                near.base(),
                                near.offset()));
        return to;
    }

    /** Writes a number to one's own memory. */
    void store(PlaceValue to, ValueType type, IrOperand value) {
        int size = type.sizeBytes();
        if (to.align() >= size || !(to.base() instanceof StackObject)) {
            emit().store(Width.of(size), to.base(), to.offset(), value);
            return;
        }
        VirtualRegister left = emit().register(value);
        for (int at = 0; at < size; ) {
            int chunk = chunk(to.plus(at), size - at);
            IrOperand part = at == 0 ? left : emit().alu(AluOperation.SHIFT_RIGHT, left, at * 8L);
            emit().store(Width.of(chunk), to.base(), to.offset() + at, part);
            at += chunk;
        }
    }

    /** Reads a member that is a number; of a bitfield the sign is its first bit, as in C. */
    VirtualRegister load(PlaceValue of, TypeField field, ValueType type) {
        if (field.bits() == 0) {
            return load(of.plus(field.offsetBytes()), type);
        }
        long last = field.bitOffset() + field.bits() - 1;
        for (int size = 1; size <= 8; size *= 2) {
            long unit = field.bitOffset() / (8L * size);
            if (last / (8L * size) == unit) {
                // The compiler put it there: aligned, and not beyond the end of the structure.
                VirtualRegister word = load(of.plus((int) (unit * size)), new IntType(size, false));
                return bits(word, field.bitOffset() % (8L * size), field);
            }
        }
        return packed(of, field);
    }

    /** A member of a packed structure, which no aligned word holds, byte by byte. */
    private VirtualRegister packed(PlaceValue of, TypeField field) {
        long shift = field.bitOffset() % 8;
        int bytes = (int) (shift + field.bits() + 7) / 8;
        VirtualRegister word = load(of.plus(field.offsetBytes()), IntType.U8);
        for (int i = 1; i < Math.min(bytes, 8); i++) {
            VirtualRegister next = load(of.plus(field.offsetBytes() + i), IntType.U8);
            VirtualRegister up = emit().alu(AluOperation.SHIFT_LEFT, next, 8L * i);
            word = emit().alu(AluOperation.OR, word, up);
        }
        if (bytes <= 8) {
            return bits(word, shift, field);
        }
        VirtualRegister top = load(of.plus(field.offsetBytes() + 8), IntType.U8);
        VirtualRegister low = emit().alu(AluOperation.SHIFT_RIGHT, word, shift);
        VirtualRegister high = emit().alu(AluOperation.SHIFT_LEFT, top, 64 - shift);
        return bits(emit().alu(AluOperation.OR, low, high), 0, field);
    }

    private VirtualRegister bits(VirtualRegister word, long shift, TypeField field) {
        VirtualRegister up = emit().alu(AluOperation.SHIFT_LEFT, word, 64 - shift - field.bits());
        AluOperation down =
                isSigned(field.type()) ? AluOperation.SHIFT_RIGHT_SIGNED : AluOperation.SHIFT_RIGHT;
        return emit().alu(down, up, 64L - field.bits());
    }

    static boolean isSigned(ValueType type) {
        return switch (type) {
            case IntType i -> i.signed();
            case EnumType e -> e.signed();
            default -> false;
        };
    }

    /** Whether values of a type fit a register. */
    static boolean isNumber(ValueType type) {
        return switch (type) {
            case IntType i -> i.sizeBytes() <= 8;
            case BoolType _, EnumType _, PointerType _ -> true;
            case SpecialType n ->
                    n.kind() == SpecialValue.KERNEL_SYMBOL
                            || n.kind() == SpecialValue.USERNAME
                            || n.kind() == SpecialValue.STRERROR;
            default -> false;
        };
    }
}
