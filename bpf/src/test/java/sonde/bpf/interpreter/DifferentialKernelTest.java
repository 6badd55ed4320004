package sonde.bpf.interpreter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.insn.Code;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.Condition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Register;
import sonde.bpf.insn.Width;
import sonde.testkit.Property;

/** The kernel and the interpreter come to the same results. */
@Tag("kernel")
final class DifferentialKernelTest {
    private static final int PROGRAMS = 4_000;
    private static final int PACKETS = 4;

    private int accepted;

    @Test
    void randomProgramsEndAlike() {
        accepted = 0;
        Property.forAll(
                20261121,
                PROGRAMS,
                random -> {
                    Code code = RandomProgram.of(random);
                    VirtualProgram ours = new Machine(Environment.FIXED).load(code);
                    KernelRun kernel;
                    try {
                        kernel = KernelRun.load(KernelRun.XDP, code.words());
                    } catch (IllegalStateException e) {
                        assertThat(e.getMessage()).contains("unreachable insn");
                        return;
                    }
                    accepted++;
                    try (kernel) {
                        for (int i = 0; i < PACKETS; i++) {
                            byte[] packet = packet(random);
                            KernelRun.Result theirs = kernel.run(packet);
                            long result = ours.run(Context.xdp(packet));
                            assertThat((int) result).as("%s", code).isEqualTo(theirs.value());
                            assertThat(packet).as("%s", code).isEqualTo(theirs.packet());
                        }
                    }
                });
        assertThat(accepted).isGreaterThan(PROGRAMS * 9 / 10);
    }

    /** Random bytes, and words that are near zero or the sign. */
    private static byte[] packet(RandomGenerator random) {
        byte[] packet = new byte[RandomProgram.PACKET];
        for (int at = 0; at < packet.length; at += 8) {
            long word =
                    switch (random.nextInt(4)) {
                        case 0 -> random.nextInt(-3, 4);
                        case 1 -> Long.MIN_VALUE + random.nextInt(2);
                        case 2 -> random.nextInt();
                        default -> random.nextLong();
                    };
            for (int i = 0; i < 8; i++) {
                packet[at + i] = (byte) (word >> 8 * i);
            }
        }
        return packet;
    }

    /** Kinds of maps: number of enum bpf_map_type, and how ours is made. */
    private enum Kind {
        HASH(1, 4, 0) {
            @Override
            VirtualMap make() {
                return VirtualHash.of("m", 4, 8, 4);
            }
        },
        ARRAY(2, 4, 0) {
            @Override
            VirtualMap make() {
                return VirtualArray.of("m", 8, 4);
            }
        },
        PER_CPU_HASH(5, 4, 0) {
            @Override
            VirtualMap make() {
                return VirtualHash.perCpu("m", 4, 8, 4, 1);
            }
        },
        PER_CPU_ARRAY(6, 4, 0) {
            @Override
            VirtualMap make() {
                return VirtualArray.perCpu("m", 8, 4, 1);
            }
        },
        PREFIXES(11, 8, 1) {
            @Override
            VirtualMap make() {
                return new VirtualPrefixTree("m", 8, 8, 4);
            }
        },
        QUEUE(22, 0, 0) {
            @Override
            VirtualMap make() {
                return VirtualQueue.of("m", 8, 4);
            }
        },
        STACK(23, 0, 0) {
            @Override
            VirtualMap make() {
                return VirtualQueue.stack("m", 8, 4);
            }
        };

        private final int type;
        private final int keyBytes;
        private final int flags;

        Kind(int type, int keyBytes, int flags) {
            this.type = type;
            this.keyBytes = keyBytes;
            this.flags = flags;
        }

        abstract VirtualMap make();
    }

    private static final int STEPS = 14;

    /** Lookups, updates with all flags and deletes in random order, every answer compared. */
    @Test
    void mapsAnswerAlike() {
        for (Kind kind : Kind.values()) {
            Property.forAll(
                    kind.type * 1000L,
                    300,
                    random -> {
                        int fd = KernelRun.map(kind.type, kind.keyBytes, 8, 4, kind.flags);
                        try {
                            Code code = mapCode(random, kind, fd);
                            byte[] packet = new byte[16 + 8 * STEPS];
                            VirtualProgram ours =
                                    new Machine(Environment.FIXED).map(fd, kind.make()).load(code);
                            try (KernelRun kernel = KernelRun.load(KernelRun.XDP, code.words())) {
                                byte[] theirs = kernel.run(packet).packet();
                                ours.run(Context.xdp(packet));
                                assertThat(packet).as("%s %s", kind, code).isEqualTo(theirs);
                            }
                        } finally {
                            KernelRun.discard(fd);
                        }
                    });
        }
    }

    private static Code mapCode(RandomGenerator random, Kind kind, int fd) {
        Label fail = new Label("fail");
        CodeBuilder code = new CodeBuilder();
        code.load(Width.U32, Register.R6, Register.R1, 0)
                .load(Width.U32, Register.R7, Register.R1, 4)
                .move(Register.R2, Register.R6)
                .add(Register.R2, 16 + 8 * STEPS)
                .branch(Condition.GREATER, Register.R2, Register.R7, fail);
        for (int i = 0; i < STEPS; i++) {
            Label out = new Label("out");
            if (kind.keyBytes == 8) {
                int most = random.nextInt(20) == 0 ? 40 : 33;
                code.store(Width.U32, Register.R10, -8, random.nextInt(most))
                        .store(Width.U32, Register.R10, -4, random.nextInt(4) << 6 | 3);
            } else {
                code.store(Width.U32, Register.R10, -8, random.nextInt(6));
            }
            code.store(Width.U64, Register.R10, -16, random.nextInt())
                    .map(Register.R1, fd)
                    .move(Register.R2, Register.R10);
            if (kind.keyBytes == 0) {
                int function = 87 + random.nextInt(3);
                code.add(Register.R2, -16);
                code.move(Register.R3, random.nextInt(4)).call(function);
                code.load(Width.U64, Register.R1, Register.R10, -16).add(Register.R0, Register.R1);
            } else {
                code.add(Register.R2, -8);
                switch (random.nextInt(4)) {
                    case 0 ->
                            code.call(1)
                                    .ifZero(Register.R0, out)
                                    .load(Width.U64, Register.R0, Register.R0, 0);
                    case 1 -> code.call(3);
                    default ->
                            code.move(Register.R3, Register.R10)
                                    .add(Register.R3, -16)
                                    .move(Register.R4, random.nextInt(4))
                                    .call(2);
                }
            }
            code.at(out).store(Width.U64, Register.R6, 16 + 8 * i, Register.R0);
        }
        return code.exit(2).at(fail).exit(0).build();
    }
}
