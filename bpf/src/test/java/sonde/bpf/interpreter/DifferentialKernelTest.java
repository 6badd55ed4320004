package sonde.bpf.interpreter;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.bpf.insn.Assembler;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;
import sonde.testkit.Property;

/** The kernel and the interpreter come to the same results. */
@Tag("kernel")
final class DifferentialKernelTest {
    private static final int PROGRAMS = 4_000;
    private static final int PACKETS = 4;

    private int accepted;
    private int tried;

    @Test
    void randomProgramsEndAlike() {
        accepted = 0;
        tried = 0;
        Property.forAll(
                20261121,
                PROGRAMS,
                random -> {
                    ProgramCode code = RandomProgram.of(random);
                    VirtualProgram ours = new BpfMachine(MachineEnvironment.FIXED).load(code);
                    KernelRun kernel;
                    tried++;
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
                            long result = ours.run(ProgramContext.xdp(packet));
                            assertThat((int) result).as("%s", code).isEqualTo(theirs.value());
                            assertThat(packet).as("%s", code).isEqualTo(theirs.packet());
                        }
                    }
                });
        assertThat(accepted).isGreaterThan(tried * 9 / 10);
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
        RECENT(9, 4, 0) {
            @Override
            VirtualMap make() {
                return VirtualHash.recent("m", 4, 8, 64);
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

        /** An LRU map is not to be full: the kernel drops about the oldest, ours exactly it. */
        int entries() {
            return this == RECENT ? 64 : 4;
        }
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
                        int fd =
                                KernelRun.map(
                                        kind.type, kind.keyBytes, 8, kind.entries(), kind.flags);
                        try {
                            ProgramCode code = mapCode(random, kind, fd);
                            byte[] packet = new byte[16 + 8 * STEPS];
                            VirtualProgram ours =
                                    new BpfMachine(MachineEnvironment.FIXED)
                                            .map(fd, kind.make())
                                            .load(code);
                            try (KernelRun kernel = KernelRun.load(KernelRun.XDP, code.words())) {
                                byte[] theirs = kernel.run(packet).packet();
                                ours.run(ProgramContext.xdp(packet));
                                assertThat(packet).as("%s %s", kind, code).isEqualTo(theirs);
                            }
                        } finally {
                            KernelRun.discard(fd);
                        }
                    });
        }
    }

    private static ProgramCode mapCode(RandomGenerator random, Kind kind, int fd) {
        Label fail = new Label("fail");
        CodeBuilder code = new CodeBuilder();
        code.load(Width.U32, BpfRegister.R6, BpfRegister.R1, 0)
                .load(Width.U32, BpfRegister.R7, BpfRegister.R1, 4)
                .move(BpfRegister.R2, BpfRegister.R6)
                .add(BpfRegister.R2, 16 + 8 * STEPS)
                .branch(JumpCondition.GREATER, BpfRegister.R2, BpfRegister.R7, fail);
        for (int i = 0; i < STEPS; i++) {
            Label out = new Label("out");
            if (kind.keyBytes == 8) {
                int most = random.nextInt(20) == 0 ? 40 : 33;
                code.store(Width.U32, BpfRegister.R10, -8, random.nextInt(most))
                        .store(Width.U32, BpfRegister.R10, -4, random.nextInt(4) << 6 | 3);
            } else {
                code.store(Width.U32, BpfRegister.R10, -8, random.nextInt(6));
            }
            code.store(Width.U64, BpfRegister.R10, -16, random.nextInt())
                    .map(BpfRegister.R1, fd)
                    .move(BpfRegister.R2, BpfRegister.R10);
            if (kind.keyBytes == 0) {
                int function = 87 + random.nextInt(3);
                code.add(BpfRegister.R2, -16);
                code.move(BpfRegister.R3, random.nextInt(4)).call(function);
                code.load(Width.U64, BpfRegister.R1, BpfRegister.R10, -16)
                        .add(BpfRegister.R0, BpfRegister.R1);
            } else {
                code.add(BpfRegister.R2, -8);
                switch (random.nextInt(4)) {
                    case 0 ->
                            code.call(1)
                                    .ifZero(BpfRegister.R0, out)
                                    .load(Width.U64, BpfRegister.R0, BpfRegister.R0, 0);
                    case 1 -> code.call(3);
                    default ->
                            code.move(BpfRegister.R3, BpfRegister.R10)
                                    .add(BpfRegister.R3, -16)
                                    .move(BpfRegister.R4, random.nextInt(4))
                                    .call(2);
                }
            }
            code.at(out).store(Width.U64, BpfRegister.R6, 16 + 8 * i, BpfRegister.R0);
        }
        return code.exit(2).at(fail).exit(0).build();
    }

    /** Records until a ring of a page is full, and what bpf_ringbuf_query says then. */
    @Test
    void ringsHoldAsMuch() throws Exception {
        for (int size : new int[] {1, 8, 9, 100, 500}) {
            int fd = KernelRun.map(RING, 0, 0, 4096, 0);
            try {
                ProgramCode code =
                        Assembler.assemble(
                                FILL.replace("FD", Integer.toString(fd))
                                        .replace("SIZE", Integer.toString(size)));
                byte[] packet = new byte[128];
                VirtualProgram ours =
                        new BpfMachine(MachineEnvironment.FIXED)
                                .map(fd, new VirtualRing("r", 4096))
                                .load(code);
                try (KernelRun kernel = KernelRun.load(KernelRun.XDP, code.words())) {
                    KernelRun.Result theirs = kernel.run(packet);
                    assertThat((int) ours.run(ProgramContext.xdp(packet)))
                            .as("records of %d bytes", size)
                            .isEqualTo(theirs.value());
                    assertThat(packet).isEqualTo(theirs.packet());
                }
            } finally {
                KernelRun.discard(fd);
            }
        }
    }

    private static final int RING = 27;

    private static final String FILL =
            """
            r6 = *(u32 *)(r1 +0)
            r2 = *(u32 *)(r1 +4)
            r1 = r6
            r1 += 128
            if r1 > r2 goto fail
            r1 = r10
            r1 += -512
            w2 = 512
            call bpf_get_current_comm
            r7 = 0
            r8 = 0
            again:
            if r8 > 0x100 goto full
            r8 += 1
            r1 = map[fd:FD]
            r2 = r10
            r2 += -512
            r3 = SIZE
            r4 = 0
            call bpf_ringbuf_output
            if r0 != 0x0 goto again
            r7 += 1
            goto again
            full:
            r1 = map[fd:FD]
            r2 = 0
            call bpf_ringbuf_query
            *(u64 *)(r6 +8) = r0
            r1 = map[fd:FD]
            r2 = 1
            call bpf_ringbuf_query
            *(u64 *)(r6 +16) = r0
            r1 = map[fd:FD]
            r2 = 2
            call bpf_ringbuf_query
            *(u64 *)(r6 +24) = r0
            r1 = map[fd:FD]
            r2 = 3
            call bpf_ringbuf_query
            *(u64 *)(r6 +32) = r0
            r1 = map[fd:FD]
            r2 = 5000
            r3 = 0
            call bpf_ringbuf_reserve
            *(u64 *)(r6 +40) = 1
            if r0 == 0x0 goto out
            *(u64 *)(r6 +40) = 2
            r1 = r0
            r2 = 0
            call bpf_ringbuf_discard
            out:
            r0 = r7
            exit
            fail:
            r0 = 0
            exit
            """;

    /** Subprograms, in all depths that a kernel allows, keep what they have to. */
    @Test
    void subprogramsEndAlike() throws Exception {
        StringBuilder text = new StringBuilder("r2 = *(u32 *)(r1 +4)\nr1 = 5\nr6 = 3\n");
        for (int depth = 0; depth < 7; depth++) {
            text.append("r6 += 17\nr7 = r6\nr7 *= 31\n*(u64 *)(r10 -8) = r7\n")
                    .append("call f%d\n".formatted(depth))
                    .append("r1 = *(u64 *)(r10 -8)\nr0 *= 7\nr0 += r1\nr0 += r6\nexit\n")
                    .append("f%d: r6 = r1\nr1 += %d\n".formatted(depth, depth));
        }
        text.append("r0 = r6\nexit\n");
        ProgramCode code = Assembler.assemble(text.toString());
        try (KernelRun kernel = KernelRun.load(KernelRun.XDP, code.words())) {
            byte[] packet = new byte[64];
            long ours =
                    new BpfMachine(MachineEnvironment.FIXED)
                            .load(code)
                            .run(ProgramContext.xdp(packet));
            assertThat((int) ours).isEqualTo(kernel.run(packet).value());
        }
    }
}
