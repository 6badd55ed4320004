package sonde.bpf.classic;

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

/** Lines of {@code tcpdump -d}: {@code (001) jeq #0x800 jt 2 jf 5}. */
final class ClassicText {
    private ClassicText() {}

    static String line(ClassicInstruction instruction, int index) {
        return switch (instruction) {
            case Load i -> plain(index, load(i), operand(i));
            case Store i -> plain(index, i.fromX() ? "stx" : "st", "M[" + i.cell() + "]");
            case Alu i -> {
                String number =
                        i.operation().isBitwise()
                                ? "0x" + Integer.toHexString(i.value())
                                : Integer.toString(i.value());
                yield plain(index, i.operation().label(), "#" + number);
            }
            case AluX i -> plain(index, i.operation().label(), "x");
            case Negate _ -> plain(index, "neg", "");
            case Jump i -> plain(index, "ja", Integer.toString(index + 1 + i.distance()));
            case Branch i -> {
                String right = "#0x" + Integer.toHexString(i.value());
                yield branch(index, i.condition(), right, i.ifTrue(), i.ifFalse());
            }
            case BranchX i -> branch(index, i.condition(), "x", i.ifTrue(), i.ifFalse());
            case Return i -> plain(index, "ret", "#" + i.value());
            case ReturnA _ -> plain(index, "ret", "");
            case Transfer i -> plain(index, i.toX() ? "tax" : "txa", "");
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

    private static String load(Load load) {
        int bytes =
                switch (load.source()) {
                    case Packet source -> source.bytes();
                    case PacketIndexed source -> source.bytes();
                    case HeaderLength _ -> 1;
                    case Fact _, Cell _, Constant _, Length _ -> 4;
                };
        String size = bytes == 1 ? "b" : bytes == 2 ? "h" : "";
        return (load.toX() ? "ldx" : "ld") + size;
    }

    private static String operand(Load load) {
        return switch (load.source()) {
            case Packet source -> "[" + source.offset() + "]";
            case PacketIndexed source -> "[x + " + source.offset() + "]";
            case Fact source -> "[" + source.what().k() + "]";
            case Cell source -> "M[" + source.number() + "]";
            case Constant source -> "#0x" + Integer.toHexString(source.value());
            case Length _ -> "#pktlen";
            case HeaderLength source -> "4*([" + source.offset() + "]&0xf)";
        };
    }
}
