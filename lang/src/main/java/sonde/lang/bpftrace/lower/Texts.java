package sonde.lang.bpftrace.lower;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.Width;
import sonde.lang.bpftrace.check.Promotion;
import sonde.lang.bpftrace.lower.Value.Place;
import sonde.lang.bpftrace.lower.Value.Where;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.ir.Block;
import sonde.lang.ir.Operand;
import sonde.lang.ir.Operation;
import sonde.lang.ir.StackObject;
import sonde.lang.ir.Vreg;
import sonde.lang.type.Field;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/** Texts of the script, and comparisons of what does not fit a register. */
final class Texts {
    /** Up to so many bytes are compared without a loop. */
    private static final int UNROLLED = 128;

    private final Lowerer lowerer;

    Texts(Lowerer lowerer) {
        this.lowerer = lowerer;
    }

    private Emitter emit() {
        return lowerer.emit();
    }

    /** A text of the script, with its NUL and zeros up to 8 bytes. */
    Place literal(String bytes) {
        int offset = lowerer.unit().text(bytes);
        return new Place(emit().mapValue(Unit.TEXTS, offset), 0, Where.OWN);
    }

    /** Writes a text of the script, and zeros behind it. */
    void write(String bytes, int sizeBytes, Place to) {
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
                int chunk = Math.min(4, Memory.chunk(to.plus(at), words - at));
                emit().store(
                                Width.of(chunk),
                                to.base(),
                                to.offset() + at,
                                Operand.of(signed(word(content, at, chunk), chunk)));
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
    Place near(Expression e) {
        Type type = lowerer.type(e);
        Value value = lowerer.value(e);
        if (value instanceof Place place
                && (place.where() == Where.OWN
                        && (place.align() == 8 || !(place.base() instanceof StackObject)))) {
            return place;
        }
        Place own = lowerer.memory().own(type.sizeBytes() + 7 & ~7, 8);
        if (value instanceof Place place) {
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
    void compare(Expression left, Expression right, Block same, Block differ) {
        Type a = lowerer.type(left);
        Type b = lowerer.type(right);
        if (a instanceof Type.Text x && b instanceof Type.Text y) {
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
        if (a instanceof Tuple x && b instanceof Tuple y) {
            tuples(left, x, right, y, same, differ);
            return;
        }
        int size = Math.min(a.sizeBytes(), b.sizeBytes());
        bytes(near(left), near(right), size, differ);
        emit().go(same);
    }

    private void tuples(
            Expression left, Tuple x, Expression right, Tuple y, Block same, Block differ) {
        Type common = Promotion.of(x, y);
        Tuple type = common instanceof Tuple t ? t : x;
        Place a = lowerer.placed(left, type);
        Place b = lowerer.placed(right, type);
        for (Field field : type.fields()) {
            bytes(
                    a.plus(field.offsetBytes()),
                    b.plus(field.offsetBytes()),
                    field.type().sizeBytes(),
                    differ);
        }
        emit().go(same);
    }

    /** A place against a text of the script: its NUL counts, what is behind it does not. */
    private void equal(Expression e, int size, String text, Block same, Block differ) {
        if (text.length() > size) {
            lowerer.value(e);
            emit().go(differ);
            return;
        }
        Place place = near(e);
        int length = Math.min(size, text.length() + 1);
        byte[] content = Arrays.copyOf(text.getBytes(StandardCharsets.ISO_8859_1), length);
        prefix(place, content, length, differ);
        emit().go(same);
    }

    /** Goes to {@code differ} unless memory begins with bytes of the script. */
    void prefix(Place place, byte[] content, int length, Block differ) {
        for (int at = 0; at < length; ) {
            int chunk = Memory.chunk(place.plus(at), length - at);
            Vreg word = emit().load(Width.of(chunk), false, place.base(), place.offset() + at);
            emit().when(Condition.NOT_EQUAL, word, Operand.of(word(content, at, chunk)), differ);
            at += chunk;
        }
    }

    /** Goes to {@code differ} unless so many bytes are equal. */
    void bytes(Place a, Place b, int size, Block differ) {
        if (size > UNROLLED) {
            loop(a, b, size / 8, differ);
            bytes(a.plus(size & ~7), b.plus(size & ~7), size & 7, differ);
            return;
        }
        for (int at = 0; at < size; ) {
            int chunk =
                    Math.min(
                            Memory.chunk(a.plus(at), size - at),
                            Memory.chunk(b.plus(at), size - at));
            Width width = Width.of(chunk);
            Vreg x = emit().load(width, false, a.base(), a.offset() + at);
            Vreg y = emit().load(width, false, b.base(), b.offset() + at);
            emit().when(Condition.NOT_EQUAL, x, y, differ);
            at += chunk;
        }
    }

    /** The same for many words; the verifier walks each. */
    private void loop(Place a, Place b, int words, Block differ) {
        Vreg index = emit().copy(Operand.of(0));
        Vreg left = emit().address(a);
        Vreg right = emit().address(b);
        Block head = emit().block();
        Block done = emit().block();
        emit().start(head);
        emit().when(Condition.GREATER_OR_EQUAL, index, words * 8L, done);
        Vreg x = emit().alu(AluOperation.ADD, left, index);
        Vreg y = emit().alu(AluOperation.ADD, right, index);
        Vreg first = emit().load(Width.U64, false, x, 0);
        Vreg second = emit().load(Width.U64, false, y, 0);
        emit().when(Condition.NOT_EQUAL, first, second, differ);
        emit().function()
                .add(new Operation.Alu(AluOperation.ADD, true, index, index, Operand.of(8)));
        emit().go(head);
        emit().start(done);
    }

    /** Byte by byte: kernels leave bytes of longer names behind the end of a short one. */
    private void untilEnd(Place a, Place b, int size, Block same, Block differ) {
        Vreg index = emit().copy(Operand.of(0));
        Vreg left = emit().address(a);
        Vreg right = emit().address(b);
        Block head = emit().block();
        emit().start(head);
        emit().when(Condition.GREATER_OR_EQUAL, index, size, same);
        Vreg first = emit().load(Width.U8, false, emit().alu(AluOperation.ADD, left, index), 0);
        Vreg second = emit().load(Width.U8, false, emit().alu(AluOperation.ADD, right, index), 0);
        emit().when(Condition.NOT_EQUAL, first, second, differ);
        emit().when(Condition.EQUAL, first, 0, same);
        emit().function()
                .add(new Operation.Alu(AluOperation.ADD, true, index, index, Operand.of(1)));
        emit().go(head);
    }

    /** Compares so many bytes, up to the end of both texts. */
    void beginnings(Place a, Place b, int size, Block same, Block differ) {
        Block slowly = emit().block();
        bytes(a, b, size, slowly);
        emit().go(same);
        emit().start(slowly);
        untilEnd(a, b, size, same, differ);
    }

    private void texts(Place a, int sizeA, Place b, int sizeB, Block same, Block differ) {
        int common = Math.min(sizeA, sizeB);
        Block slowly = emit().block();
        bytes(a, b, common, slowly);
        Block whole = emit().block();
        emit().go(whole);
        emit().start(slowly);
        untilEnd(a, b, common, same, differ);
        emit().start(whole);
        if (sizeA == sizeB) {
            emit().go(same);
            return;
        }
        Place longer = sizeA > sizeB ? a : b;
        Vreg next = emit().load(Width.U8, false, longer.base(), longer.offset() + common - 1);
        emit().when(Condition.EQUAL, next, 0, same);
        Vreg rest = emit().load(Width.U8, false, longer.base(), longer.offset() + common);
        emit().when(Condition.EQUAL, rest, 0, same);
        emit().go(differ);
    }
}
