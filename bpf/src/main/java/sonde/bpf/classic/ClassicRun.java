package sonde.bpf.classic;

import java.util.List;
import sonde.bpf.classic.ClassicInstruction.Alu;
import sonde.bpf.classic.ClassicInstruction.AluX;
import sonde.bpf.classic.ClassicInstruction.Branch;
import sonde.bpf.classic.ClassicInstruction.BranchX;
import sonde.bpf.classic.ClassicInstruction.Cell;
import sonde.bpf.classic.ClassicInstruction.Constant;
import sonde.bpf.classic.ClassicInstruction.Fact;
import sonde.bpf.classic.ClassicInstruction.HeaderLength;
import sonde.bpf.classic.ClassicInstruction.Jump;
import sonde.bpf.classic.ClassicInstruction.Length;
import sonde.bpf.classic.ClassicInstruction.Load;
import sonde.bpf.classic.ClassicInstruction.Negate;
import sonde.bpf.classic.ClassicInstruction.Packet;
import sonde.bpf.classic.ClassicInstruction.PacketIndexed;
import sonde.bpf.classic.ClassicInstruction.Return;
import sonde.bpf.classic.ClassicInstruction.ReturnA;
import sonde.bpf.classic.ClassicInstruction.Store;
import sonde.bpf.classic.ClassicInstruction.Transfer;

/** One run of a checked filter: it ends, because jumps go forward. */
final class ClassicRun {
    /** No number of 32 bits: the load left the packet. */
    private static final long OUTSIDE = Long.MIN_VALUE;

    private final byte[] packet;
    private final Facts facts;
    private final int[] cells = new int[ClassicProgram.CELLS];
    private int a;
    private int x;

    ClassicRun(byte[] packet, Facts facts) {
        this.packet = packet;
        this.facts = facts;
    }

    int run(List<ClassicInstruction> program) {
        int at = 0;
        while (true) {
            ClassicInstruction instruction = program.get(at++);
            switch (instruction) {
                case Load load -> {
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
                case Store store -> cells[store.cell()] = store.fromX() ? x : a;
                case Alu alu -> a = alu.operation().apply(a, alu.value());
                case AluX alu -> {
                    boolean divides =
                            alu.operation() == ClassicOperation.DIV
                                    || alu.operation() == ClassicOperation.MOD;
                    if (divides && x == 0) {
                        return 0;
                    }
                    a = alu.operation().apply(a, x);
                }
                case Negate _ -> a = -a;
                case Jump jump -> at += jump.distance();
                case Branch b -> at += b.condition().holds(a, b.value()) ? b.ifTrue() : b.ifFalse();
                case BranchX b -> at += b.condition().holds(a, x) ? b.ifTrue() : b.ifFalse();
                case Return i -> {
                    return i.value();
                }
                case ReturnA _ -> {
                    return a;
                }
                case Transfer transfer -> {
                    if (transfer.toX()) {
                        x = a;
                    } else {
                        a = x;
                    }
                }
            }
        }
    }

    private long value(ClassicInstruction.Source source) {
        return switch (source) {
            case Packet(int bytes, int offset) -> load(bytes, offset);
            case PacketIndexed(int bytes, int offset) -> load(bytes, offset + x);
            case Fact(Ancillary what) -> what == Ancillary.XOR_X ? a ^ x : facts.value(what);
            case Cell(int number) -> cells[number];
            case Constant(int value) -> value;
            case Length _ -> packet.length;
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
