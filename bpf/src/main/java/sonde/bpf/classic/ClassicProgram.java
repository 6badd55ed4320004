package sonde.bpf.classic;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** A filter that the kernel's checker (bpf_check_classic of net/core/filter.c) would take. */
public final class ClassicProgram {
    /** BPF_MAXINSNS. */
    static final int MOST = 4096;

    /** BPF_MEMWORDS. */
    static final int CELLS = 16;

    private static final int WORD_BYTES = 8;

    private final List<ClassicInstruction> instructions;

    private ClassicProgram(List<ClassicInstruction> instructions) {
        this.instructions = instructions;
    }

    /**
     * A program of instructions.
     *
     * @throws ClassicFilterException when one cannot be where it is
     */
    public static ClassicProgram of(List<ClassicInstruction> instructions)
            throws ClassicFilterException {
        List<ClassicInstruction> copy = List.copyOf(instructions);
        ClassicCheck.check(copy);
        return new ClassicProgram(copy);
    }

    /**
     * A program of struct sock_filter, as a machine of that order has them.
     *
     * @throws ClassicFilterException when it is none
     */
    public static ClassicProgram decode(byte[] bytes, ByteOrder order)
            throws ClassicFilterException {
        if (bytes.length % WORD_BYTES != 0) {
            throw new ClassicFilterException(
                    bytes.length / WORD_BYTES, "cut off: an instruction has 8 bytes");
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes).order(order);
        List<ClassicInstruction> instructions = new ArrayList<>();
        while (buffer.hasRemaining()) {
            long code = buffer.getShort() & 0xffffL;
            long ifTrue = buffer.get() & 0xffL;
            long ifFalse = buffer.get() & 0xffL;
            long word = code | ifTrue << 16 | ifFalse << 24 | (long) buffer.getInt() << 32;
            instructions.add(decode(word, instructions.size()));
        }
        return of(instructions);
    }

    private static ClassicInstruction decode(long word, int index) throws ClassicFilterException {
        ClassicInstruction instruction = ClassicEncoding.decode(word);
        if (instruction == null) {
            throw new ClassicFilterException(
                    index, "no instruction has the code 0x%x".formatted(word & 0xffff));
        }
        return instruction;
    }

    /**
     * The decimal form of {@code tcpdump -ddd}, which xt_bpf takes too: a count, then code, jt, jf
     * and k of each, separated by blanks, commas or new lines.
     *
     * @throws ClassicFilterException when it is none
     */
    public static ClassicProgram parse(String text) throws ClassicFilterException {
        String[] words = text.strip().split("[\\s,]+");
        List<ClassicInstruction> instructions = new ArrayList<>();
        long count = number(words, 0, MOST);
        if (words.length != 1 + 4 * count) {
            throw new ClassicFilterException(
                    -1,
                    "%d instructions have %d numbers, not %d"
                            .formatted(count, 4 * count, words.length - 1));
        }
        for (int i = 0; i < count; i++) {
            long word =
                    number(words, 4 * i + 1, 0xffff)
                            | number(words, 4 * i + 2, 0xff) << 16
                            | number(words, 4 * i + 3, 0xff) << 24
                            | number(words, 4 * i + 4, 0xffffffffL) << 32;
            instructions.add(decode(word, i));
        }
        return of(instructions);
    }

    private static long number(String[] words, int at, long most) throws ClassicFilterException {
        try {
            long number = Long.parseLong(words[at]);
            if (number >= 0 && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw new ClassicFilterException(
                (at - 1) / 4, "'%s' is not a number up to %d".formatted(words[at], most));
    }

    /** The instructions. */
    public List<ClassicInstruction> instructions() {
        return instructions;
    }

    /** struct sock_filter, for a machine of that order. */
    public byte[] encode(ByteOrder order) {
        ByteBuffer buffer = ByteBuffer.allocate(instructions.size() * WORD_BYTES).order(order);
        for (ClassicInstruction instruction : instructions) {
            long word = ClassicEncoding.word(instruction);
            buffer.putShort((short) word)
                    .put((byte) (word >> 16))
                    .put((byte) (word >> 24))
                    .putInt((int) (word >> 32));
        }
        return buffer.array();
    }

    /**
     * Runs it on a packet.
     *
     * @return bytes to keep, unsigned; 0 drops the packet
     */
    public int run(byte[] packet, PacketFacts facts) {
        return new ClassicRun(packet, facts).run(instructions);
    }

    /** As {@code tcpdump -d} prints it. */
    @Override
    public String toString() {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < instructions.size(); i++) {
            out.append(ClassicText.line(instructions.get(i), i)).append('\n');
        }
        return out.toString();
    }
}
