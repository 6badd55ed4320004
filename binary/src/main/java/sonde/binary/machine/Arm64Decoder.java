package sonde.binary.machine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.machine.Arm64Forms.Arm64Form;

/** Instructions of arm64. */
final class Arm64Decoder implements MachineDecoder {
    static final String[] CONDITIONS = "eq ne cs cc mi pl vs vc hi ls ge lt gt le al nv".split(" ");

    @Override
    public MachineInstruction decode(byte[] code, int offset, int end, long address) {
        if (end - offset < 4) {
            return invalid(Math.max(1, end - offset), address, ".byte", List.of());
        }
        int word = 0;
        for (int i = 3; i >= 0; i--) {
            word = word << 8 | code[offset + i] & 0xff;
        }
        for (Arm64Form form : Arm64Forms.of(word)) {
            if ((word & form.mask()) == form.value() && fits(word, form.condition())) {
                MachineInstruction decoded = decoded(word, form, address);
                if (decoded != null) {
                    return decoded;
                }
            }
        }
        String number = "0x%08x ; undefined".formatted(word);
        return invalid(4, address, ".inst", List.of(new MachineOperand.MachineModifier(number)));
    }

    private static MachineInstruction invalid(
            int length, long address, String name, List<MachineOperand> operands) {
        return new MachineInstruction(
                address, length, MachineSyntax.ARM, "", name, "", operands, MachineFlow.INVALID);
    }

    private static @Nullable MachineInstruction decoded(int word, Arm64Form form, long address) {
        Arm64Operands reader = new Arm64Operands(word, form, address);
        List<MachineOperand> operands = new ArrayList<>(form.operands().length);
        for (String code : form.operands()) {
            MachineOperand operand = reader.operand(code);
            if (operand != null) {
                operands.add(operand);
            }
        }
        if (reader.failed) {
            return null;
        }
        return new MachineInstruction(
                address, 4, MachineSyntax.ARM, "", mnemonic(word, form), "", operands, form.flow());
    }

    private static String mnemonic(int word, Arm64Form form) {
        String name = form.mnemonic();
        if (name.endsWith("Q")) {
            String stem = name.substring(0, name.length() - 2);
            return (word & 1 << 30) != 0 ? stem + "2" : stem;
        }
        if (name.endsWith(".C")) {
            return name.substring(0, name.length() - 1) + CONDITIONS[word & 15];
        }
        if (name.equals("hint")) {
            String known = Arm64Forms.name("hint", word >> 5 & 127);
            return known != null ? known : "hint #0x" + Integer.toHexString(word >> 5 & 127);
        }
        if (name.equals("dsb") || name.equals("dmb")) {
            String known = Arm64Forms.name("barrier", word >> 8 & 15);
            return name + " " + (known != null ? known : "#0x%02x".formatted(word >> 8 & 15));
        }
        if (name.equals("sys") && form.condition().equals("sys")) {
            String known = Arm64Forms.name("sys", word >> 5 & 0x3fff);
            return known == null
                    ? name
                    : known.endsWith(",")
                            ? known + " " + ((word & 31) == 31 ? "xzr" : "x" + (word & 31))
                            : known;
        }
        return name;
    }

    private static int bits(int word, int low, int count) {
        return word >>> low & (1 << count) - 1;
    }

    private static boolean fits(int word, String condition) {
        if (condition.isEmpty()) {
            return true;
        }
        int d = word & 31;
        int n = bits(word, 5, 5);
        int m = bits(word, 16, 5);
        int immr = bits(word, 16, 6);
        int imms = bits(word, 10, 6);
        int size = word < 0 ? 63 : 31;
        int cond = bits(word, 12, 4);
        return switch (condition) {
            case "movsp" -> d == 31 || n == 31;
            case "bfiz" -> imms < immr;
            case "lsl" -> imms != size && imms + 1 == immr;
            case "rnrm" -> n == m;
            case "al" -> cond < 14 && m == n;
            case "cinc" -> cond < 14 && m == n && n != 31;
            case "cneg" -> cond < 14 && m == n;
            case "sh3" -> bits(word, 22, 2) != 3;
            case "immh" -> bits(word, 19, 4) != 0;
            case "immh1" -> Integer.bitCount(bits(word, 19, 4)) == 1;
            case "movz" -> bits(word, 5, 16) != 0 || bits(word, 21, 2) == 0;
            case "movn" ->
                    (bits(word, 5, 16) != 0 || bits(word, 21, 2) == 0)
                            && (word < 0 || bits(word, 5, 16) != 0xffff);
            case "movbm" -> !Arm64Operands.isMoveWide(word);
            case "sys" -> {
                String name = Arm64Forms.name("sys", word >> 5 & 0x3fff);
                yield name != null && (name.endsWith(",") || d == 31);
            }
            default -> true;
        };
    }
}
