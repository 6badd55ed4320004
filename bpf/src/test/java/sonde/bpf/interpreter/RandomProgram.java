package sonde.bpf.interpreter;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.Instruction.Alu;
import sonde.bpf.insn.Instruction.ByteOrderChange;
import sonde.bpf.insn.Instruction.ByteSwap;
import sonde.bpf.insn.Instruction.Negate;
import sonde.bpf.insn.Instruction.SignExtend;
import sonde.bpf.insn.InstructionOperand;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;

/**
 * XDP programs that a verifier accepts: nine registers from the packet, arithmetic, jumps forward,
 * the stack, and at last the registers back into the packet.
 */
final class RandomProgram {
    static final int PACKET = 128;
    private static final BpfRegister DATA = BpfRegister.R6;
    private static final List<BpfRegister> SCALARS =
            List.of(
                    BpfRegister.R0,
                    BpfRegister.R1,
                    BpfRegister.R2,
                    BpfRegister.R3,
                    BpfRegister.R4,
                    BpfRegister.R5,
                    BpfRegister.R7,
                    BpfRegister.R8,
                    BpfRegister.R9);
    private static final int STACK = 64;
    private static final int[] EDGES = {0, 1, -1, 31, 32, 63, 255, 65535, Integer.MIN_VALUE};

    private final RandomGenerator random;
    private final CodeBuilder code = new CodeBuilder();
    private final List<List<Label>> due = new ArrayList<>();

    private RandomProgram(RandomGenerator random) {
        this.random = random;
    }

    static ProgramCode of(RandomGenerator random) {
        return new RandomProgram(random).build();
    }

    private ProgramCode build() {
        Label fail = new Label("fail");
        code.load(Width.U32, DATA, BpfRegister.R1, 0)
                .load(Width.U32, BpfRegister.R7, BpfRegister.R1, 4)
                .move(BpfRegister.R2, DATA)
                .add(BpfRegister.R2, PACKET)
                .branch(JumpCondition.GREATER, BpfRegister.R2, BpfRegister.R7, fail);
        for (int i = 0; i < SCALARS.size(); i++) {
            code.load(Width.U64, SCALARS.get(i), DATA, i * 8);
        }
        for (int at = 8; at <= STACK; at += 8) {
            code.store(Width.U64, BpfRegister.R10, -at, random.nextInt());
        }
        int count = random.nextInt(10, 80);
        for (int i = 0; i <= count; i++) {
            due.add(new ArrayList<>());
        }
        for (int i = 0; i < count; i++) {
            due.get(i).forEach(code::at);
            one(i, count);
        }
        due.get(count).forEach(code::at);
        for (int i = 0; i < SCALARS.size(); i++) {
            code.store(Width.U64, DATA, i * 8, SCALARS.get(i));
        }
        for (int at = 8; at <= 48; at += 8) {
            code.load(Width.U64, BpfRegister.R1, BpfRegister.R10, -at)
                    .store(Width.U64, DATA, 72 + at, BpfRegister.R1);
        }
        return code.exit(2).at(fail).exit(0).build();
    }

    private BpfRegister scalar() {
        return SCALARS.get(random.nextInt(SCALARS.size()));
    }

    private int immediate() {
        return random.nextBoolean() ? EDGES[random.nextInt(EDGES.length)] : random.nextInt();
    }

    private <E> E any(E[] values) {
        return values[random.nextInt(values.length)];
    }

    private void one(int at, int count) {
        switch (random.nextInt(12)) {
            case 0, 1, 2, 3 -> alu();
            case 4, 5 -> {
                Label target = new Label("at " + at);
                due.get(random.nextInt(at + 1, Math.min(count, at + 12) + 1)).add(target);
                InstructionOperand right =
                        random.nextBoolean()
                                ? scalar()
                                : new InstructionOperand.Immediate(immediate());
                if (random.nextBoolean()) {
                    code.branch(any(JumpCondition.values()), scalar(), right, target);
                } else {
                    code.branch32(any(JumpCondition.values()), scalar(), right, target);
                }
            }
            case 6 -> code.add(new Negate(random.nextBoolean(), scalar()));
            case 7 -> {
                boolean wide = random.nextBoolean();
                int bits = 8 << random.nextInt(wide ? 3 : 2);
                code.add(new SignExtend(bits, wide, scalar(), scalar()));
            }
            case 8 ->
                    code.add(
                            new ByteSwap(
                                    any(ByteOrderChange.values()),
                                    16 << random.nextInt(3),
                                    scalar()));
            case 9 -> code.move(scalar(), random.nextLong());
            case 10 -> memory();
            default -> atomic();
        }
    }

    private void alu() {
        AluOperation operation = any(AluOperation.values());
        boolean wide = random.nextBoolean();
        InstructionOperand right = scalar();
        if (random.nextBoolean()) {
            int value = immediate();
            right =
                    new InstructionOperand.Immediate(
                            switch (operation) {
                                case SHIFT_LEFT, SHIFT_RIGHT, SHIFT_RIGHT_SIGNED ->
                                        value & (wide ? 63 : 31);
                                case DIVIDE, REMAINDER, SIGNED_DIVIDE, SIGNED_REMAINDER ->
                                        value == 0 ? 7 : value;
                                default -> value;
                            });
        }
        code.add(new Alu(operation, wide, scalar(), right));
    }

    private void memory() {
        Width width = any(Width.values());
        int offset = -STACK + random.nextInt(STACK / width.bytes()) * width.bytes();
        switch (random.nextInt(4)) {
            case 0 -> code.load(width, scalar(), BpfRegister.R10, offset);
            case 1 -> code.store(width, BpfRegister.R10, offset, immediate());
            case 2 -> code.store(width, BpfRegister.R10, offset, scalar());
            default -> {
                Width signed = width == Width.U64 ? Width.U32 : width;
                code.add(
                        new Instruction.LoadSigned(
                                signed, scalar(), BpfRegister.R10, (short) offset));
            }
        }
    }

    private void atomic() {
        Width width = random.nextBoolean() ? Width.U64 : Width.U32;
        int offset = -STACK + random.nextInt(STACK / 8) * 8;
        code.atomic(any(AtomicOperation.values()), width, BpfRegister.R10, offset, scalar());
    }
}
