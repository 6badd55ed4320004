package sonde.bpf.insn;

import java.util.List;
import java.util.random.RandomGenerator;
import sonde.bpf.insn.Instruction.ConstantMeaning;
import sonde.bpf.insn.Instruction.LoadWide;
import sonde.bpf.insn.Instruction.UnknownInstruction;

/** Words that are often instructions: opcodes of all classes, small fields. */
final class RandomWords {
    private static final long[] SOURCES = {0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 7, 10};
    private static final long[] OFFSETS = {0, 0, 0, 1, 8, 16, 32, -1, 7, -300, 32767, -32768};
    private static final long[] IMMEDIATES = {
        0,
        0,
        1,
        16,
        32,
        64,
        -1,
        0x01,
        0x41,
        0x51,
        0xa1,
        0xe1,
        0xf1,
        0x40,
        0x50,
        0xa0,
        0x100,
        0x110,
        0x10000,
        1234567,
        Integer.MIN_VALUE,
        Integer.MAX_VALUE
    };

    private RandomWords() {}

    static long[] of(RandomGenerator random, int count) {
        long[] words = new long[count];
        for (int i = 0; i < count; i++) {
            words[i] =
                    random.nextInt(256)
                            | (random.nextBoolean() ? random.nextLong(11) << 8 : 0)
                            | SOURCES[random.nextInt(SOURCES.length)] << 12
                            | (OFFSETS[random.nextInt(OFFSETS.length)] & 0xffff) << 16
                            | IMMEDIATES[random.nextInt(IMMEDIATES.length)] << 32;
            if (i > 0 && (words[i - 1] & 0xff) == 0x18 && random.nextBoolean()) {
                words[i] &= ~0xffffffffL;
            }
        }
        return words;
    }

    /** Instructions that have a text of their own. */
    static List<Instruction> instructions(RandomGenerator random, int words) {
        return InstructionEncoding.decode(of(random, words)).stream()
                .filter(i -> !(i instanceof UnknownInstruction))
                .filter(RandomWords::isWritable)
                .toList();
    }

    /** References to maps and functions have 32 bits that print. */
    private static boolean isWritable(Instruction instruction) {
        return !(instruction instanceof LoadWide wide)
                || wide.meaning() != ConstantMeaning.MAP
                        && wide.meaning() != ConstantMeaning.MAP_INDEX
                        && wide.meaning() != ConstantMeaning.FUNCTION
                || wide.value() >>> 32 == 0;
    }
}
