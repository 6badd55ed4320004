package sonde.bpf.interpreter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import sonde.bpf.interpreter.ProgramFaultException.Kind;
import sonde.testkit.Property;

/** Whatever the words are: a result or the typed fault, within the budget. */
final class InterpreterPropertyTest {
    private static final int[] OPCODES = {
        0x07, 0x0f, 0x17, 0x27, 0x37, 0x3f, 0x47, 0x57, 0x67, 0x77, 0x87, 0x97, 0x9f, 0xb7, 0xbf,
        0xc7, 0xd7, 0x04, 0x34, 0xdc, 0x18, 0x61, 0x69, 0x71, 0x79, 0x81, 0x62, 0x6a, 0x72, 0x7a,
        0x63, 0x7b, 0xdb, 0xc3, 0x05, 0x15, 0x1d, 0x25, 0x55, 0x65, 0x16, 0x06, 0x85, 0x95, 0xe5,
        0x20, 0x30, 0x40
    };

    @Test
    void garbageEndsInAResultOrAFault() {
        Set<Kind> seen = EnumSet.noneOf(Kind.class);
        Property.forAll(
                5,
                30_000,
                random -> {
                    BpfMachine machine =
                            new BpfMachine(MachineEnvironment.FIXED)
                                    .map(3, VirtualHash.of("h", 4, 8, 4))
                                    .map(4, VirtualArray.of("a", 8, 1))
                                    .map(5, new VirtualRing("r", 4096))
                                    .map(6, VirtualQueue.of("q", 8, 2));
                    VirtualProgram program = machine.load(words(random));
                    try {
                        program.run(ProgramContext.xdp(new byte[64]), 3_000);
                    } catch (ProgramFaultException e) {
                        seen.add(e.kind());
                        assertThat(e).hasMessageStartingWith("instruction " + e.slot() + ": ");
                    }
                });
        assertThat(seen).isEqualTo(EnumSet.allOf(Kind.class));
    }

    private static long[] words(RandomGenerator random) {
        long[] words = new long[random.nextInt(1, 40)];
        for (int i = 0; i < words.length; i++) {
            int opcode = OPCODES[random.nextInt(OPCODES.length)];
            boolean jump = (opcode & 7) == 5 || (opcode & 7) == 6;
            long offset = jump ? random.nextInt(-8, 9) : random.nextInt(-32, 16);
            long immediate = random.nextInt(3) == 0 ? random.nextInt() : random.nextInt(0, 8);
            if (opcode == 0x85) {
                immediate = random.nextBoolean() ? random.nextInt(200) : random.nextInt(-6, 6);
            }
            int source = random.nextInt(11);
            if (opcode == 0x85) {
                source = random.nextInt(3);
                offset = 0;
            }
            words[i] =
                    random.nextInt(40) == 0
                            ? random.nextLong()
                            : opcode
                                    | (opcode == 0x85 ? 0 : random.nextLong(11)) << 8
                                    | (long) fits(opcode, source) << 12
                                    | (reserved(opcode) ? 0 : offset & 0xffff) << 16
                                    | (hasNoImmediate(opcode) ? 0 : immediate) << 32;
            if (opcode == 0x18 && i + 1 < words.length) {
                words[++i] = 0;
            }
        }
        return words;
    }

    /** Sources that instructions with a constant or without one leave zero. */
    private static int fits(int opcode, int source) {
        int kind = opcode & 7;
        boolean constant = (opcode & 8) == 0 && (kind == 4 || kind == 7 || kind == 5 || kind == 6);
        if (opcode == 0x85) {
            return source;
        }
        if (opcode == 0x18) {
            return source % 5;
        }
        return constant && opcode != 0x85 || kind == 2 || kind == 0 && opcode != 0x40 ? 0 : source;
    }

    private static boolean reserved(int opcode) {
        int kind = opcode & 7;
        return kind == 4 || kind == 7 || kind == 0 || opcode == 0x85 || opcode == 0x95;
    }

    private static boolean hasNoImmediate(int opcode) {
        int kind = opcode & 7;
        boolean register = (opcode & 8) != 0 && kind >= 4;
        return register || kind == 1 || opcode == 0x63 || opcode == 0x7b || opcode == 0x95;
    }
}
