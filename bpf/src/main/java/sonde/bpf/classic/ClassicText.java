package sonde.bpf.classic;

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
import sonde.bpf.classic.ClassicInstruction.ClassicStore;
import sonde.bpf.classic.ClassicInstruction.ClassicTransfer;
import sonde.bpf.classic.ClassicInstruction.HeaderLength;
import sonde.bpf.classic.ClassicInstruction.MemoryCell;
import sonde.bpf.classic.ClassicInstruction.PacketBytes;
import sonde.bpf.classic.ClassicInstruction.PacketIndexed;
import sonde.bpf.classic.ClassicInstruction.PacketLength;
import sonde.bpf.classic.ClassicInstruction.ReturnA;

/** Lines of {@code tcpdump -d}: {@code (001) jeq #0x800 jt 2 jf 5}. */
final class ClassicText {
    private ClassicText() {}

    static String line(ClassicInstruction instruction, int index) {
        return switch (instruction) {
            case ClassicLoad i -> plain(index, load(i), operand(i));
            case ClassicStore i -> plain(index, i.fromX() ? "stx" : "st", "M[" + i.cell() + "]");
            case ClassicAlu i -> {
                String number =
                        i.operation().isBitwise()
                                ? "0x" + Integer.toHexString(i.value())
                                : Integer.toString(i.value());
                yield plain(index, i.operation().label(), "#" + number);
            }
            case AluX i -> plain(index, i.operation().label(), "x");
            case ClassicNegate _ -> plain(index, "neg", "");
            case ClassicJump i -> plain(index, "ja", Integer.toString(index + 1 + i.distance()));
            case ClassicBranch i -> {
                String right = "#0x" + Integer.toHexString(i.value());
                yield branch(index, i.condition(), right, i.ifTrue(), i.ifFalse());
            }
            case BranchX i -> branch(index, i.condition(), "x", i.ifTrue(), i.ifFalse());
            case ClassicReturn i -> plain(index, "ret", "#" + i.value());
            case ReturnA _ -> plain(index, "ret", "");
            case ClassicTransfer i -> plain(index, i.toX() ? "tax" : "txa", "");
        };
    }

    private static String plain(int index, String name, String operand) {
        return "(%03d) %-8s %s".formatted(index, name, operand);
    }

    private static String branch(
            int index, ClassicCondition condition, String right, int ifTrue, int ifFalse) {
        return "(%03d) %-8s %-16s jt %d\tjf %d"
                .formatted(
                        index, condition.label(), right, index + 1 + ifTrue, index + 1 + ifFalse);
    }

    private static String load(ClassicLoad load) {
        int bytes =
                switch (load.source()) {
                    case PacketBytes source -> source.bytes();
                    case PacketIndexed source -> source.bytes();
                    case HeaderLength _ -> 1;
                    case AncillarySource _, MemoryCell _, ClassicConstant _, PacketLength _ -> 4;
                };
        String size = bytes == 1 ? "b" : bytes == 2 ? "h" : "";
        return (load.toX() ? "ldx" : "ld") + size;
    }

    private static String operand(ClassicLoad load) {
        return switch (load.source()) {
            case PacketBytes source -> "[" + source.offset() + "]";
            case PacketIndexed source -> "[x + " + source.offset() + "]";
            case AncillarySource source -> "[" + source.what().k() + "]";
            case MemoryCell source -> "M[" + source.number() + "]";
            case ClassicConstant source -> "#0x" + Integer.toHexString(source.value());
            case PacketLength _ -> "#pktlen";
            case HeaderLength source -> "4*([" + source.offset() + "]&0xf)";
        };
    }
}
