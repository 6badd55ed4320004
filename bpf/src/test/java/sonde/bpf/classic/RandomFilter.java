package sonde.bpf.classic;

import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import sonde.bpf.classic.ClassicInstruction.AluX;
import sonde.bpf.classic.ClassicInstruction.AncillarySource;
import sonde.bpf.classic.ClassicInstruction.BranchX;
import sonde.bpf.classic.ClassicInstruction.ClassicAlu;
import sonde.bpf.classic.ClassicInstruction.ClassicBranch;
import sonde.bpf.classic.ClassicInstruction.ClassicConstant;
import sonde.bpf.classic.ClassicInstruction.ClassicJump;
import sonde.bpf.classic.ClassicInstruction.ClassicLoad;
import sonde.bpf.classic.ClassicInstruction.ClassicNegate;
import sonde.bpf.classic.ClassicInstruction.ClassicSource;
import sonde.bpf.classic.ClassicInstruction.ClassicStore;
import sonde.bpf.classic.ClassicInstruction.ClassicTransfer;
import sonde.bpf.classic.ClassicInstruction.HeaderLength;
import sonde.bpf.classic.ClassicInstruction.MemoryCell;
import sonde.bpf.classic.ClassicInstruction.PacketBytes;
import sonde.bpf.classic.ClassicInstruction.PacketIndexed;
import sonde.bpf.classic.ClassicInstruction.PacketLength;
import sonde.bpf.classic.ClassicInstruction.ReturnA;

/** Filters of every instruction; cells are written first, indexes kept small. */
final class RandomFilter {
    private static final int CELLS = 3;

    private RandomFilter() {}

    static ClassicProgram of(RandomGenerator random) throws ClassicFilterException {
        List<ClassicInstruction> program = new ArrayList<>();
        program.add(new ClassicLoad(false, new ClassicConstant(random.nextInt())));
        program.add(new ClassicLoad(true, new ClassicConstant(random.nextInt(40))));
        for (int i = 0; i < CELLS; i++) {
            program.add(new ClassicStore(random.nextBoolean(), i));
        }
        int count = random.nextInt(4, 40);
        for (int i = 0; i < count; i++) {
            one(random, count - i - 1, program);
        }
        program.add(new ReturnA());
        return ClassicProgram.of(program);
    }

    private static void one(RandomGenerator random, int left, List<ClassicInstruction> program) {
        boolean coin = random.nextBoolean();
        switch (random.nextInt(10)) {
            case 0, 1, 2 -> program.add(load(random));
            case 3 -> program.add(new ClassicStore(coin, random.nextInt(CELLS)));
            case 4, 5 -> {
                ClassicOperation operation =
                        ClassicOperation.values()[random.nextInt(ClassicOperation.values().length)];
                int value =
                        switch (operation) {
                            case LSH, RSH -> random.nextInt(32);
                            case DIV, MOD -> random.nextInt(1, 100);
                            default -> coin ? random.nextInt() : random.nextInt(256);
                        };
                program.add(
                        random.nextInt(3) > 0
                                ? new ClassicAlu(operation, value)
                                : new AluX(operation));
            }
            case 6 -> program.add(new ClassicNegate());
            case 7 -> program.add(new ClassicJump(random.nextInt(Math.min(left, 3) + 1)));
            case 8 -> {
                ClassicCondition condition =
                        ClassicCondition.values()[random.nextInt(ClassicCondition.values().length)];
                int yes = random.nextInt(Math.min(left, 6) + 1);
                int no = random.nextInt(Math.min(left, 6) + 1);
                program.add(
                        coin
                                ? new BranchX(condition, yes, no)
                                : new ClassicBranch(condition, random.nextInt(300), yes, no));
            }
            default -> program.add(new ClassicTransfer(coin));
        }
    }

    private static ClassicLoad load(RandomGenerator random) {
        int bytes = 1 << random.nextInt(3);
        ClassicSource source =
                switch (random.nextInt(8)) {
                    case 0, 1 -> new PacketBytes(bytes, random.nextInt(44));
                    case 2 -> new PacketIndexed(bytes, random.nextInt(20));
                    case 3 -> new MemoryCell(random.nextInt(CELLS));
                    case 4 -> new PacketLength();
                    case 5 -> new HeaderLength(random.nextInt(40));
                    case 6 ->
                            new AncillarySource(
                                    random.nextBoolean() ? Ancillary.PROTOCOL : Ancillary.XOR_X);
                    default -> new ClassicConstant(random.nextInt(100));
                };
        boolean toX =
                source instanceof HeaderLength
                        || !(source instanceof PacketBytes
                                        || source instanceof PacketIndexed
                                        || source instanceof AncillarySource)
                                && random.nextBoolean();
        return new ClassicLoad(toX, source);
    }
}
