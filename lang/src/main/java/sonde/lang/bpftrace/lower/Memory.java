package sonde.lang.bpftrace.lower;

import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.KernelFunction;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.lower.Value.Where;
import sonde.lang.declare.TracepointTypes;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.Vreg;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.type.Field;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;

/** Reads, writes and copies memory, one's own and others'. */
final class Memory {
    /** Up to so many bytes are copied by loads and stores, more by a helper. */
    private static final int INLINE = 64;

    private final Lowerer lowerer;

    Memory(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    /** Memory until the statement ends. */
    Place own(int sizeBytes, int align) {
        return lowerer.frame().allocate(emit().function(), sizeBytes, Math.max(align, 1));
    }

    /** Memory for a value, such that it can be read by words. */
    Place own(Type type) {
        return own(Math.max(1, type.sizeBytes()), type.sizeBytes() >= 8 ? 8 : type.align());
    }

    /** Fills memory with zeros. */
    void zero(Place to, int sizeBytes) {
        if (sizeBytes > INLINE) {
            emit().run(
                            KernelFunction.PROBE_READ_KERNEL,
                            emit().address(to),
                            Operand.of(sizeBytes),
                            Operand.of(0));
            return;
        }
        for (int at = 0; at < sizeBytes; ) {
            int chunk = chunk(to.plus(at), sizeBytes - at);
            emit().store(Width.of(chunk), to.base(), to.offset() + at, Operand.of(0));
            at += chunk;
        }
    }

    /** The widest access at a place; the verifier wants those of the stack and context aligned. */
    static int chunk(Place at, int left) {
        int most = at.align();
        while (most > left) {
            most /= 2;
        }
        return most;
    }

    /** Copies bytes from anywhere to one's own memory. */
    void copy(Place from, int sizeBytes, Place to) {
        if (from.equals(to) || sizeBytes == 0) {
            return;
        }
        if (isClosed(from) && sizeBytes > TracepointTypes.CLOSED_BYTES) {
            int head = TracepointTypes.CLOSED_BYTES;
            zero(to, head);
            copy(from.plus(head), sizeBytes - head, to.plus(head));
            return;
        }
        boolean near = from.where() == Where.OWN || from.where() == Where.CONTEXT;
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
            Vreg word = emit().load(width, false, from.base(), from.offset() + at);
            emit().store(width, to.base(), to.offset() + at, word);
            at += chunk;
        }
    }

    /** Whether a place begins with what programs of tracepoints may not read. */
    private boolean isClosed(Place from) {
        return from.where() == Where.CONTEXT
                && from.offset() == 0
                && lowerer.clause().site().kind() == Kind.TRACEPOINT;
    }

    private void read(Place from, int sizeBytes, Place to) {
        int helper =
                from.where() == Where.USER
                        ? KernelFunction.PROBE_READ_USER
                        : KernelFunction.PROBE_READ_KERNEL;
        Block nothing = emit().block();
        if (mayBeNull(from)) {
            zero(to, sizeBytes);
            skipNull(from, nothing);
        }
        Vreg result =
                emit().call(
                                helper,
                                emit().address(to),
                                Operand.of(sizeBytes),
                                emit().address(from));
        lowerer.errors().check(result, helper);
        emit().start(nothing);
    }

    private boolean mayBeNull(Place from) {
        return lowerer.clause().site().kind() == Kind.ITER && from.base() instanceof Vreg;
    }

    /** What an iterator hands over may be null; the verifier lets no one add to it unseen. */
    void skipNull(Place from, Block nothing) {
        if (mayBeNull(from) && from.base() instanceof Vreg base) {
            emit().when(Condition.EQUAL, base, 0, nothing);
        }
    }

    /** Reads a number that lies somewhere. */
    Vreg load(Place from, Type type) {
        int size = type.sizeBytes();
        boolean signed = isSigned(type);
        Place near = from;
        if (from.where() == Where.KERNEL || from.where() == Where.USER) {
            near = new Place(lowerer.frame().object(emit().function(), 8, 8), 0, Where.OWN);
            read(from, size, near);
        } else if (near.align() < size && near.base() instanceof StackObject) {
            Place aligned =
                    new Place(lowerer.frame().object(emit().function(), 8, 8), 0, Where.OWN);
            copy(near, size, aligned);
            near = aligned;
        }
        Vreg to =
                type instanceof Type.Pointer p && p.space() == Type.Space.OWN
                        ? emit().function().pointer()
                        : emit().function().scalar();
        emit().function()
                .add(
                        new Operation.Load(
                                Width.of(size),
                                signed && size < 8,
                                to,
                                near.base(),
                                near.offset()));
        return to;
    }

    /** Writes a number to one's own memory. */
    void store(Place to, Type type, Operand value) {
        int size = type.sizeBytes();
        if (to.align() >= size || !(to.base() instanceof StackObject)) {
            emit().store(Width.of(size), to.base(), to.offset(), value);
            return;
        }
        Vreg left = emit().register(value);
        for (int at = 0; at < size; ) {
            int chunk = chunk(to.plus(at), size - at);
            Operand part = at == 0 ? left : emit().alu(AluOperation.SHIFT_RIGHT, left, at * 8L);
            emit().store(Width.of(chunk), to.base(), to.offset() + at, part);
            at += chunk;
        }
    }

    /** Reads a member that is a number; of a bitfield the sign is its first bit, as in C. */
    Vreg load(Place of, Field field, Type type) {
        if (field.bits() == 0) {
            return load(of.plus(field.offsetBytes()), type);
        }
        long last = field.bitOffset() + field.bits() - 1;
        for (int size = 1; size <= 8; size *= 2) {
            long unit = field.bitOffset() / (8L * size);
            if (last / (8L * size) == unit) {
                // The compiler put it there: aligned, and not beyond the end of the structure.
                Vreg word = load(of.plus((int) (unit * size)), new Int(size, false));
                return bits(word, field.bitOffset() % (8L * size), field);
            }
        }
        return packed(of, field);
    }

    /** A member of a packed structure, which no aligned word holds, byte by byte. */
    private Vreg packed(Place of, Field field) {
        long shift = field.bitOffset() % 8;
        int bytes = (int) (shift + field.bits() + 7) / 8;
        Vreg word = load(of.plus(field.offsetBytes()), Int.U8);
        for (int i = 1; i < Math.min(bytes, 8); i++) {
            Vreg next = load(of.plus(field.offsetBytes() + i), Int.U8);
            Vreg up = emit().alu(AluOperation.SHIFT_LEFT, next, 8L * i);
            word = emit().alu(AluOperation.OR, word, up);
        }
        if (bytes <= 8) {
            return bits(word, shift, field);
        }
        Vreg top = load(of.plus(field.offsetBytes() + 8), Int.U8);
        Vreg low = emit().alu(AluOperation.SHIFT_RIGHT, word, shift);
        Vreg high = emit().alu(AluOperation.SHIFT_LEFT, top, 64 - shift);
        return bits(emit().alu(AluOperation.OR, low, high), 0, field);
    }

    private Vreg bits(Vreg word, long shift, Field field) {
        Vreg up = emit().alu(AluOperation.SHIFT_LEFT, word, 64 - shift - field.bits());
        AluOperation down =
                isSigned(field.type()) ? AluOperation.SHIFT_RIGHT_SIGNED : AluOperation.SHIFT_RIGHT;
        return emit().alu(down, up, 64L - field.bits());
    }

    static boolean isSigned(Type type) {
        return switch (type) {
            case Int i -> i.signed();
            case Type.Enum e -> e.signed();
            default -> false;
        };
    }

    /** Whether values of a type fit a register. */
    static boolean isNumber(Type type) {
        return switch (type) {
            case Int i -> i.sizeBytes() <= 8;
            case Type.Bool _, Type.Enum _, Type.Pointer _ -> true;
            case Type.Named n ->
                    n.kind() == Type.Special.KERNEL_SYMBOL
                            || n.kind() == Type.Special.USERNAME
                            || n.kind() == Type.Special.STRERROR;
            default -> false;
        };
    }
}
