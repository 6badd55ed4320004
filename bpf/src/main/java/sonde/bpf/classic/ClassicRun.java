package sonde.bpf.classic;

import java.util.List;
import sonde.bpf.classic.ClassicInstruction.AluX;
import sonde.bpf.classic.ClassicInstruction.AncillarySource;
import sonde.bpf.classic.ClassicInstruction.BranchX;
import sonde.bpf.classic.ClassicInstruction.ClassicAlu;
import sonde.bpf.classic.ClassicInstruction.ClassicBranch;
import sonde.bpf.classic.ClassicInstruction.ClassicConstant;
import sonde.bpf.classic.ClassicInstruction.ClassicJump;
import sonde.bpf.classic.ClassicInstruction.ClassicLoad;
import sonde.bpf.classic.ClassicInstruction.ClassicNegate;
import sonde.bpf.classic.ClassicInstruction.ClassicReturn;
import sonde.bpf.classic.ClassicInstruction.ClassicSource;
import sonde.bpf.classic.ClassicInstruction.ClassicStore;
import sonde.bpf.classic.ClassicInstruction.ClassicTransfer;
import sonde.bpf.classic.ClassicInstruction.HeaderLength;
import sonde.bpf.classic.ClassicInstruction.MemoryCell;
import sonde.bpf.classic.ClassicInstruction.PacketBytes;
import sonde.bpf.classic.ClassicInstruction.PacketIndexed;
import sonde.bpf.classic.ClassicInstruction.PacketLength;
import sonde.bpf.classic.ClassicInstruction.ReturnA;

/** One run of a checked filter: it ends, because jumps go forward. */
final class ClassicRun {
    /** No number of 32 bits: the load left the packet. */
    private static final long OUTSIDE = Long.MIN_VALUE;

    private final byte[] packet;
    private final PacketFacts facts;
    private final int[] cells = new int[ClassicProgram.CELLS];
    private int a;
    private int x;

    ClassicRun(byte[] packet, PacketFacts facts) {
        this.packet = packet;
        this.facts = facts;
    }

    int run(List<ClassicInstruction> program) {
        int at = 0;
        while (true) {
            ClassicInstruction instruction = program.get(at++);
            switch (instruction) {
                case ClassicLoad load -> {
                    long value = value(load.source());
                    if (value == OUTSIDE) {
                        return 0;
                    }
                    if (load.toX()) {
                        x = (int) value;
                    } else {
                        a = (int) value;
                    }
                }
                case ClassicStore store -> cells[store.cell()] = store.fromX() ? x : a;
                case ClassicAlu alu -> a = alu.operation().apply(a, alu.value());
                case AluX alu -> {
                    boolean divides =
                            alu.operation() == ClassicOperation.DIV
                                    || alu.operation() == ClassicOperation.MOD;
                    if (divides && x == 0) {
                        return 0;
                    }
                    a = alu.operation().apply(a, x);
                }
                case ClassicNegate _ -> a = -a;
                case ClassicJump jump -> at += jump.distance();
                case ClassicBranch b ->
                        at += b.condition().holds(a, b.value()) ? b.ifTrue() : b.ifFalse();
                case BranchX b -> at += b.condition().holds(a, x) ? b.ifTrue() : b.ifFalse();
                case ClassicReturn i -> {
                    return i.value();
                }
                case ReturnA _ -> {
                    return a;
                }
                case ClassicTransfer transfer -> {
                    if (transfer.toX()) {
                        x = a;
                    } else {
                        a = x;
                    }
                }
            }
        }
    }

    private long value(ClassicSource source) {
        return switch (source) {
            case PacketBytes(int bytes, int offset) -> load(bytes, offset);
            case PacketIndexed(int bytes, int offset) -> load(bytes, offset + x);
            case AncillarySource(Ancillary what) ->
                    what == Ancillary.XOR_X ? a ^ x : facts.value(what);
            case MemoryCell(int number) -> cells[number];
            case ClassicConstant(int value) -> value;
            case PacketLength _ -> packet.length;
            case HeaderLength(int offset) -> {
                long value = load(1, offset);
                yield value == OUTSIDE ? value : (value & 0xf) << 2;
            }
        };
    }

    private long load(int bytes, int offset) {
        if (offset < 0 || offset > packet.length - bytes) {
            return OUTSIDE;
        }
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            value = value << 8 | packet[offset + i] & 0xff;
        }
        return value;
    }
}
