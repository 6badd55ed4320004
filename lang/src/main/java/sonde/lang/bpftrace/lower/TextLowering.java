package sonde.lang.bpftrace.lower;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.TypePromotion;
import sonde.lang.bpftrace.lower.LoweredValue.MemoryOwner;
import sonde.lang.bpftrace.lower.LoweredValue.PlaceValue;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.ir.BasicBlock;
import sonde.lang.ir.IrOperand;
import sonde.lang.ir.IrOperation.IrAlu;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.VirtualRegister;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.TextType;

/** Texts of the script, and comparisons of what does not fit a register. */
final class TextLowering {
    /** Up to so many bytes are compared without a loop. */
    private static final int UNROLLED = 128;

    private final ProgramLowering lowerer;

    TextLowering(ProgramLowering lowerer) {
        this.lowerer = lowerer;
    }

    private OperationEmitter emit() {
        return lowerer.emit();
    }

    /** A text of the script, with its NUL and zeros up to 8 bytes. */
    PlaceValue literal(String bytes) {
        int offset = lowerer.unit().text(bytes);
        return new PlaceValue(emit().mapValue(ScriptUnit.TEXTS, offset), 0, MemoryOwner.OWN);
    }

    /** Writes a text of the script, and zeros behind it. */
    void write(String bytes, int sizeBytes, PlaceValue to) {
        byte[] content = Arrays.copyOf(bytes.getBytes(StandardCharsets.ISO_8859_1), sizeBytes);
        if (bytes.length() >= sizeBytes && sizeBytes > 0) {
            content[sizeBytes - 1] = 0;
        }
        int words = Math.min(sizeBytes, bytes.length() + 8 & ~7);
        if (words > 64) {
            lowerer.memory().copy(literal(bytes), Math.min(sizeBytes, bytes.length() + 1), to);
            words = Math.min(sizeBytes, bytes.length() + 1);
        } else {
            for (int at = 0; at < words; ) {
                int chunk = Math.min(4, MemoryLowering.chunk(to.plus(at), words - at));
                emit().store(
                                Width.of(chunk),
                                to.base(),
                                to.offset() + at,
                                IrOperand.of(signed(word(content, at, chunk), chunk)));
                at += chunk;
            }
        }
        if (sizeBytes > words) {
            lowerer.memory().zero(to.plus(words), sizeBytes - words);
        }
    }

    private static long word(byte[] content, int at, int size) {
        long word = 0;
        for (int i = size - 1; i >= 0; i--) {
            word = word << 8 | (at + i < content.length ? content[at + i] & 0xff : 0);
        }
        return word;
    }

    private static long signed(long word, int size) {
        return size == 4 ? (int) word : word;
    }

    /** The text that an expression is, when the script says it; null otherwise. */
    private static @Nullable String known(Expression e) {
        return e instanceof Expression.StringLiteral s ? s.bytes() : null;
    }

    /** A value in memory that can be read word by word. */
    PlaceValue near(Expression e) {
        ValueType type = lowerer.type(e);
        LoweredValue value = lowerer.value(e);
        if (value instanceof PlaceValue place
                && (place.where() == MemoryOwner.OWN
                        && (place.align() == 8 || !(place.base() instanceof StackObject)))) {
            return place;
        }
        PlaceValue own = lowerer.memory().own(type.sizeBytes() + 7 & ~7, 8);
        if (value instanceof PlaceValue place) {
            int rest = (type.sizeBytes() + 7 & ~7) - type.sizeBytes();
            if (rest > 0) {
                lowerer.memory().zero(own.plus(type.sizeBytes()), rest);
            }
            lowerer.memory().copy(place, type.sizeBytes(), own);
        } else {
            lowerer.into(e, type, own);
        }
        return own;
    }

    /** Goes to one block when both are equal, to the other when they differ. */
    void compare(Expression left, Expression right, BasicBlock same, BasicBlock differ) {
        ValueType a = lowerer.type(left);
        ValueType b = lowerer.type(right);
        if (a instanceof TextType x && b instanceof TextType y) {
            String text = known(right);
            String other = known(left);
            if (text != null || other != null) {
                Expression place = text != null ? left : right;
                int size = text != null ? x.sizeBytes() : y.sizeBytes();
                equal(place, size, text != null ? text : String.valueOf(other), same, differ);
                return;
            }
            texts(near(left), x.sizeBytes(), near(right), y.sizeBytes(), same, differ);
            return;
        }
        if (a instanceof TupleType x && b instanceof TupleType y) {
            tuples(left, x, right, y, same, differ);
            return;
        }
        int size = Math.min(a.sizeBytes(), b.sizeBytes());
        bytes(near(left), near(right), size, differ);
        emit().go(same);
    }

    private void tuples(
            Expression left,
            TupleType x,
            Expression right,
            TupleType y,
            BasicBlock same,
            BasicBlock differ) {
        ValueType common = TypePromotion.of(x, y);
        TupleType type = common instanceof TupleType t ? t : x;
        PlaceValue a = lowerer.placed(left, type);
        PlaceValue b = lowerer.placed(right, type);
        for (TypeField field : type.fields()) {
            bytes(
                    a.plus(field.offsetBytes()),
                    b.plus(field.offsetBytes()),
                    field.type().sizeBytes(),
                    differ);
        }
        emit().go(same);
    }

    /** A place against a text of the script: its NUL counts, what is behind it does not. */
    private void equal(Expression e, int size, String text, BasicBlock same, BasicBlock differ) {
        if (text.length() > size) {
            lowerer.value(e);
            emit().go(differ);
            return;
        }
        PlaceValue place = near(e);
        int length = Math.min(size, text.length() + 1);
        byte[] content = Arrays.copyOf(text.getBytes(StandardCharsets.ISO_8859_1), length);
        prefix(place, content, length, differ);
        emit().go(same);
    }

    /** Goes to {@code differ} unless memory begins with bytes of the script. */
    void prefix(PlaceValue place, byte[] content, int length, BasicBlock differ) {
        for (int at = 0; at < length; ) {
            int chunk = MemoryLowering.chunk(place.plus(at), length - at);
            VirtualRegister word =
                    emit().load(Width.of(chunk), false, place.base(), place.offset() + at);
            emit().when(
                            JumpCondition.NOT_EQUAL,
                            word,
                            IrOperand.of(word(content, at, chunk)),
                            differ);
            at += chunk;
        }
    }

    /** Goes to {@code differ} unless so many bytes are equal. */
    void bytes(PlaceValue a, PlaceValue b, int size, BasicBlock differ) {
        if (size > UNROLLED) {
            loop(a, b, size / 8, differ);
            bytes(a.plus(size & ~7), b.plus(size & ~7), size & 7, differ);
            return;
        }
        for (int at = 0; at < size; ) {
            int chunk =
                    Math.min(
                            MemoryLowering.chunk(a.plus(at), size - at),
                            MemoryLowering.chunk(b.plus(at), size - at));
            Width width = Width.of(chunk);
            VirtualRegister x = emit().load(width, false, a.base(), a.offset() + at);
            VirtualRegister y = emit().load(width, false, b.base(), b.offset() + at);
            emit().when(JumpCondition.NOT_EQUAL, x, y, differ);
            at += chunk;
        }
    }

    /** The same for many words; the verifier walks each. */
    private void loop(PlaceValue a, PlaceValue b, int words, BasicBlock differ) {
        VirtualRegister index = emit().copy(IrOperand.of(0));
        VirtualRegister left = emit().address(a);
        VirtualRegister right = emit().address(b);
        BasicBlock head = emit().block();
        BasicBlock done = emit().block();
        emit().start(head);
        emit().when(JumpCondition.GREATER_OR_EQUAL, index, words * 8L, done);
        VirtualRegister x = emit().alu(AluOperation.ADD, left, index);
        VirtualRegister y = emit().alu(AluOperation.ADD, right, index);
        VirtualRegister first = emit().load(Width.U64, false, x, 0);
        VirtualRegister second = emit().load(Width.U64, false, y, 0);
        emit().when(JumpCondition.NOT_EQUAL, first, second, differ);
        emit().function().add(new IrAlu(AluOperation.ADD, true, index, index, IrOperand.of(8)));
        emit().go(head);
        emit().start(done);
    }

    /** Byte by byte: kernels leave bytes of longer names behind the end of a short one. */
    private void untilEnd(
            PlaceValue a, PlaceValue b, int size, BasicBlock same, BasicBlock differ) {
        VirtualRegister index = emit().copy(IrOperand.of(0));
        VirtualRegister left = emit().address(a);
        VirtualRegister right = emit().address(b);
        BasicBlock head = emit().block();
        emit().start(head);
        emit().when(JumpCondition.GREATER_OR_EQUAL, index, size, same);
        VirtualRegister first =
                emit().load(Width.U8, false, emit().alu(AluOperation.ADD, left, index), 0);
        VirtualRegister second =
                emit().load(Width.U8, false, emit().alu(AluOperation.ADD, right, index), 0);
        emit().when(JumpCondition.NOT_EQUAL, first, second, differ);
        emit().when(JumpCondition.EQUAL, first, 0, same);
        emit().function().add(new IrAlu(AluOperation.ADD, true, index, index, IrOperand.of(1)));
        emit().go(head);
    }

    /** Compares so many bytes, up to the end of both texts. */
    void beginnings(PlaceValue a, PlaceValue b, int size, BasicBlock same, BasicBlock differ) {
        BasicBlock slowly = emit().block();
        bytes(a, b, size, slowly);
        emit().go(same);
        emit().start(slowly);
        untilEnd(a, b, size, same, differ);
    }

    private void texts(
            PlaceValue a, int sizeA, PlaceValue b, int sizeB, BasicBlock same, BasicBlock differ) {
        int common = Math.min(sizeA, sizeB);
        BasicBlock slowly = emit().block();
        bytes(a, b, common, slowly);
        BasicBlock whole = emit().block();
        emit().go(whole);
        emit().start(slowly);
        untilEnd(a, b, common, same, differ);
        emit().start(whole);
        if (sizeA == sizeB) {
            emit().go(same);
            return;
        }
        PlaceValue longer = sizeA > sizeB ? a : b;
        VirtualRegister next =
                emit().load(Width.U8, false, longer.base(), longer.offset() + common - 1);
        emit().when(JumpCondition.EQUAL, next, 0, same);
        VirtualRegister rest =
                emit().load(Width.U8, false, longer.base(), longer.offset() + common);
        emit().when(JumpCondition.EQUAL, rest, 0, same);
        emit().go(differ);
    }
}
