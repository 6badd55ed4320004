package sonde.binary.machine;

import org.jspecify.annotations.Nullable;
import sonde.binary.machine.Arm64Forms.Arm64Form;
import sonde.binary.machine.MachineOperand.MachineAccess;
import sonde.binary.machine.MachineOperand.MachineImmediate;
import sonde.binary.machine.MachineOperand.MachineMemory;
import sonde.binary.machine.MachineOperand.MachineModifier;
import sonde.binary.machine.MachineOperand.MachineRegister;
import sonde.binary.machine.MachineOperand.MachineTarget;

/** Reads the operands of a word of arm64; the letters are explained in {@code arm64.txt}. */
final class Arm64Operands {
    private static final String[] SHIFTS = {"lsl", "lsr", "asr", "ror"};
    private static final String[] EXTENDS = {
        "uxtb", "uxth", "uxtw", "uxtx", "sxtb", "sxth", "sxtw", "sxtx"
    };
    private static final String[] BYTES = {"8b", "16b"};
    private static final String[] ALL = {"8b", "16b", "4h", "8h", "2s", "4s", "1d", "2d"};
    private static final String[] WIDE = {"8h", "4s", "2d", "1q"};
    private static final String[] FLOATS = {"2s", "4s", "?", "2d"};
    private static final String SCALARS = "bhsdq";
    private static final MachineRegister[] X = general("x", 64, "xzr");
    private static final MachineRegister[] W = general("w", 32, "wzr");
    private static final MachineRegister[] XSP = general("x", 64, "sp");
    private static final MachineRegister[] WSP = general("w", 32, "wsp");

    private final int word;
    private final Arm64Form form;
    private final long address;
    private final boolean q;
    private final int size;
    boolean failed;

    Arm64Operands(int word, Arm64Form form, long address) {
        this.word = word;
        this.form = form;
        this.address = address;
        q = bits(30, 1) == 1;
        size = bits(22, 2);
    }

    private static MachineRegister[] general(String letter, int width, String last) {
        MachineRegister[] all = new MachineRegister[32];
        for (int i = 0; i < 31; i++) {
            all[i] = new MachineRegister(letter + i, width);
        }
        all[31] = new MachineRegister(last, width);
        return all;
    }

    private int bits(int low, int count) {
        return word >>> low & (1 << count) - 1;
    }

    private long signed(int low, int count) {
        return (long) word << 64 - low - count >> 64 - count;
    }

    private int number(char field) {
        return switch (field) {
            case 'd' -> word & 31;
            case 'n' -> bits(5, 5);
            case 'm' -> bits(16, 5);
            default -> bits(10, 5);
        };
    }

    private static MachineModifier text(String text) {
        return new MachineModifier(text);
    }

    private static MachineModifier decimal(long value) {
        return new MachineModifier("#" + value);
    }

    private static MachineImmediate hex(long value) {
        return new MachineImmediate(value, 64);
    }

    @Nullable MachineOperand operand(String code) {
        char first = code.charAt(0);
        if (first == '#') {
            return immediate(code);
        }
        if ("mlte".indexOf(first) >= 0 || code.charAt(1) == '7') {
            MachineOperand memory = memory(code);
            if (memory != null) {
                return memory;
            }
        }
        char last = code.charAt(code.length() - 1);
        switch (code) {
            case "rd", "rn", "rm", "ra" -> {
                return (word < 0 ? X : W)[number(last)];
            }
            case "pd", "pn" -> {
                return (word < 0 ? XSP : WSP)[number(last)];
            }
            case "wd", "wn", "wm", "wa" -> {
                return W[number(last)];
            }
            case "xd", "xn", "xm", "xa" -> {
                return X[number(last)];
            }
            case "xsd", "xsn", "xsm" -> {
                return XSP[number(last)];
            }
            case "wm1", "wd1" -> {
                return paired(W, code);
            }
            case "xm1", "xd1" -> {
                return paired(X, code);
            }
            case "adr" -> {
                return new MachineTarget(address + (signed(5, 19) << 2 | bits(29, 2)));
            }
            case "adrp" -> {
                long pages = signed(5, 19) << 2 | bits(29, 2);
                return new MachineTarget((address & ~0xfffL) + (pages << 12));
            }
            case "b26" -> {
                return new MachineTarget(address + signed(0, 26) * 4);
            }
            case "b19" -> {
                return new MachineTarget(address + signed(5, 19) * 4);
            }
            case "b14" -> {
                return new MachineTarget(address + signed(5, 14) * 4);
            }
            default -> {
                return other(code, last);
            }
        }
    }

    private MachineOperand paired(MachineRegister[] names, String code) {
        int number = number(code.charAt(1));
        failed |= (number & 1) != 0;
        return names[number + 1 & 31];
    }

    private @Nullable MachineOperand other(String code, char last) {
        switch (code) {
            case "sh" -> {
                int amount = bits(10, 6);
                failed |= amount > 31 && word >= 0;
                return amount == 0 && size == 0 ? null : text(SHIFTS[size] + " #" + amount);
            }
            case "ext" -> {
                return extended();
            }
            case "cc" -> {
                return text(Arm64Decoder.CONDITIONS[bits(12, 4)]);
            }
            case "icc" -> {
                return text(Arm64Decoder.CONDITIONS[bits(12, 4) ^ 1]);
            }
            case "cn" -> {
                return text("C" + bits(12, 4));
            }
            case "cm" -> {
                return text("C" + bits(8, 4));
            }
            case "sysx" -> {
                return (word & 31) == 31 ? null : X[word & 31];
            }
            case "pstate" -> {
                String name = Arm64Forms.name("pstate", bits(16, 3) << 3 | bits(5, 3));
                failed |= name == null;
                return text("" + name);
            }
            case "sysreg" -> {
                String name = Arm64Forms.name("mrs", bits(5, 15));
                return text(
                        name != null
                                ? name
                                : "s%d_%d_c%d_c%d_%d"
                                        .formatted(
                                                bits(19, 1) + 2,
                                                bits(16, 3),
                                                bits(12, 4),
                                                bits(8, 4),
                                                bits(5, 3)));
            }
            case "prf" -> {
                String name = Arm64Forms.name("prf", word & 31);
                return name != null ? text(name) : text("#0x%02x".formatted(word & 31));
            }
            case "v1d", "v1n" -> {
                return text("v" + number(last) + ".d[1]");
            }
            case "r5n" -> {
                return ((bits(16, 4) & 7) == 0 ? X : W)[number('n')];
            }
            case "s5d" -> {
                int log = Integer.numberOfTrailingZeros(bits(16, 5));
                failed |= log > 3;
                return scalar(log, word & 31);
            }
            default -> {
                return vector(code, last);
            }
        }
    }

    private MachineOperand extended() {
        int option = bits(13, 3);
        int amount = bits(10, 3);
        failed |= amount > 4;
        boolean wide = (option & 3) == 3 && word < 0;
        MachineRegister register = (wide ? X : W)[number('m')];
        boolean stack = number('n') == 31 || (word & 31) == 31 && (word >> 29 & 1) == 0;
        String shown = EXTENDS[option];
        if (stack && option == (word < 0 ? 3 : 2)) {
            return text(register.name() + (amount == 0 ? "" : ", lsl #" + amount));
        }
        return text(register.name() + ", " + shown + (amount == 0 ? "" : " #" + amount));
    }

    private MachineRegister scalar(int log, int number) {
        failed |= log > 4 || log < 0;
        return new MachineRegister(
                SCALARS.charAt(Math.clamp(log, 0, 4)) + "" + number, 8 << Math.clamp(log, 0, 4));
    }

    /** Element size by the leading bit of immh, as a logarithm of bytes. */
    private int shiftLog() {
        return 31 - Integer.numberOfLeadingZeros(bits(19, 4));
    }

    private MachineOperand vector(String code, char last) {
        int dot = code.indexOf('.');
        if (dot < 0) {
            int number = number(last);
            return switch (code.charAt(0)) {
                case 'b' -> scalar(0, number);
                case 'h' -> scalar(1, number);
                case 's' -> scalar(2, number);
                case 'd' -> scalar(3, number);
                case 'q' -> scalar(4, number);
                case 'z' -> scalar(size, number);
                case 'Z' -> scalar(size + 1, number);
                case 'y' -> scalar(bits(22, 1) + 2, number);
                case 'j' -> scalar(shiftLog(), number);
                default -> scalar(shiftLog() + 1, number);
            };
        }
        int number = number(code.charAt(dot - 1));
        String kind = code.substring(dot + 1);
        int full = q ? 1 : 0;
        int log = Integer.numberOfTrailingZeros(bits(16, 5));
        return switch (kind) {
            case "T" -> arranged(number, ALL[size * 2 + full]);
            case "L" -> arranged(number, size == 3 ? "?" : ALL[size * 2 + 2 + full]);
            case "W" -> arranged(number, WIDE[size]);
            case "B" -> arranged(number, BYTES[full]);
            case "S" -> arranged(number, q ? "4s" : "2s");
            case "H" -> arranged(number, q ? "8h" : "4h");
            case "F" -> arranged(number, FLOATS[bits(22, 1) * 2 + full]);
            case "Fp" -> arranged(number, bits(22, 1) == 0 ? "2s" : "2d");
            case "D1" -> arranged(number, q ? "2d" : "1d");
            case "NH" -> arranged(number, ALL[2 + bits(22, 1) * 2 + full]);
            case "NW" -> arranged(number, bits(22, 1) == 0 ? "4s" : "2d");
            case "J" -> arranged(number, ALL[shiftLog() * 2 + full]);
            case "Jw" -> arranged(number, WIDE[shiftLog()]);
            case "I5" -> arranged(number, log > 3 ? "?" : ALL[log * 2 + full]);
            case "e5" -> {
                failed |= log > 3;
                yield text(
                        "v%d.%c[%d]"
                                .formatted(
                                        number,
                                        SCALARS.charAt(Math.min(log, 3)),
                                        bits(16, 5) >> log + 1));
            }
            case "e4" ->
                    text(
                            "v%d.%c[%d]"
                                    .formatted(
                                            number,
                                            SCALARS.charAt(Math.min(log, 3)),
                                            bits(11, 4) >> log));
            case "x" -> element(size);
            case "xf" -> element(bits(22, 1) + 2);
            case "xh" -> element(1);
            case "x4b" -> text("v%d.4b[%d]".formatted(bits(16, 5), bits(11, 1) << 1 | bits(21, 1)));
            default -> arranged(number, kind);
        };
    }

    private MachineOperand element(int log) {
        int h = bits(11, 1);
        int l = bits(21, 1);
        int m = bits(20, 1);
        failed |= log == 0 || log == 3 && l == 1;
        return switch (log) {
            case 1 -> text("v%d.h[%d]".formatted(bits(16, 4), h << 2 | l << 1 | m));
            case 2 -> text("v%d.s[%d]".formatted(bits(16, 5), h << 1 | l));
            default -> text("v%d.d[%d]".formatted(bits(16, 5), h));
        };
    }

    private MachineRegister arranged(int number, String arrangement) {
        failed |= arrangement.equals("?");
        return new MachineRegister("v" + number + "." + arrangement, q ? 128 : 64);
    }

    /** The value of a bit mask; 0 for none. */
    private static long bitMask(int word) {
        int n = word >>> 22 & 1;
        int imms = word >>> 10 & 63;
        int immr = word >>> 16 & 63;
        int length = 31 - Integer.numberOfLeadingZeros(n << 6 | ~imms & 63);
        if (length < 1 || word >= 0 && n == 1) {
            return 0;
        }
        int width = 1 << length;
        int ones = imms & width - 1;
        int turn = immr & width - 1;
        if (ones == width - 1) {
            return 0;
        }
        long element = (1L << ones + 1) - 1;
        long limit = width == 64 ? -1 : (1L << width) - 1;
        element = (element >>> turn | (turn == 0 ? 0 : element << width - turn)) & limit;
        for (int i = width; i < 64; i *= 2) {
            element |= element << i;
        }
        return element;
    }

    /** Whether a bit mask can be moved by MOVZ or MOVN, which is then how {@code mov} is read. */
    static boolean isMoveWide(int word) {
        long value = bitMask(word);
        int halves = word < 0 ? 4 : 2;
        long all = word < 0 ? -1 : 0xffff_ffffL;
        for (int i = 0; i < halves; i++) {
            long half = 0xffffL << 16 * i;
            if ((value & all & ~half) == 0 || (~value & all & ~half) == 0) {
                return true;
            }
        }
        return false;
    }

    private @Nullable MachineOperand immediate(String code) {
        int width = word < 0 ? 64 : 32;
        long half = (long) bits(5, 16) << 16 * bits(21, 2);
        int immr = bits(16, 6);
        int imms = bits(10, 6);
        int high = 8 << Math.max(shiftLog(), 0);
        switch (code) {
            case "#12" -> {
                return text(
                        "#0x"
                                + Integer.toHexString(bits(10, 12))
                                + (bits(22, 1) == 1 ? ", lsl #12" : ""));
            }
            case "#bm" -> {
                long value = bitMask(word);
                failed |= value == 0;
                return new MachineImmediate(value, width);
            }
            case "#movz" -> {
                failed |= width == 32 && bits(22, 1) == 1;
                return new MachineImmediate(half, width);
            }
            case "#movn" -> {
                failed |= width == 32 && bits(22, 1) == 1;
                return new MachineImmediate(~half, width);
            }
            case "#16h" -> {
                failed |= width == 32 && bits(22, 1) == 1;
                int shift = 16 * bits(21, 2);
                return text(
                        "#0x"
                                + Integer.toHexString(bits(5, 16))
                                + (shift == 0 ? "" : ", lsl #" + shift));
            }
            case "#immr" -> {
                fieldsFit(width);
                return decimal(immr);
            }
            case "#imms" -> {
                boolean extract = (word >>> 23 & 63) == 0x27;
                failed |= extract && (bits(22, 1) == 1 != word < 0 || imms >= width);
                return decimal(imms);
            }
            case "#lsb" -> {
                fieldsFit(width);
                return decimal(width - immr);
            }
            case "#wd1" -> {
                return decimal(imms + 1);
            }
            case "#wdx" -> {
                return decimal(imms - immr + 1);
            }
            case "#tb" -> {
                return decimal(bits(31, 1) << 5 | bits(19, 5));
            }
            case "#i16" -> {
                return hex(bits(5, 16));
            }
            case "#i16l" -> {
                return decimal(bits(0, 16));
            }
            case "#crm" -> {
                return bits(8, 4) == 15 ? null : hex(bits(8, 4));
            }
            case "#crmx" -> {
                return hex(bits(8, 4));
            }
            case "#op1" -> {
                return decimal(bits(16, 3));
            }
            case "#op2" -> {
                return decimal(bits(5, 3));
            }
            case "#nz" -> {
                return hex(word & 15);
            }
            case "#c5" -> {
                return hex(bits(16, 5));
            }
            case "#u6" -> {
                return decimal(bits(15, 6));
            }
            case "#u6x16" -> {
                return hex(bits(16, 6) * 16L);
            }
            case "#u4" -> {
                return hex(bits(10, 4));
            }
            case "#fbits" -> {
                failed |= imms < 32 && width == 32;
                return decimal(64 - imms);
            }
            case "#shR" -> {
                return decimal(2 * high - bits(16, 7));
            }
            case "#shL" -> {
                return decimal(bits(16, 7) - high);
            }
            case "#esz" -> {
                return decimal(8L << size);
            }
            case "#ext" -> {
                failed |= !q && bits(14, 1) == 1;
                return decimal(bits(11, 4));
            }
            case "#rot" -> {
                return decimal(bits(11, 2) * 90L);
            }
            case "#rot1" -> {
                return decimal(bits(12, 1) * 180L + 90);
            }
            default -> {
                return modified(code);
            }
        }
    }

    private void fieldsFit(int width) {
        failed |= (width == 64) != (bits(22, 1) == 1);
        failed |= width == 32 && (bits(16, 6) > 31 || bits(10, 6) > 31);
    }

    private MachineOperand modified(String code) {
        int value = bits(16, 3) << 5 | bits(5, 5);
        String number = "#0x" + Integer.toHexString(value);
        switch (code) {
            case "#0" -> {
                return decimal(0);
            }
            case "#0.0" -> {
                return text("#0.0");
            }
            case "#fp8" -> {
                return text(floating(bits(13, 8)));
            }
            case "#mf8" -> {
                return text(floating(value));
            }
            case "#mi8" -> {
                int shift = 8 * bits(13, 2);
                return text(number + (shift == 0 ? "" : ", lsl #" + shift));
            }
            case "#mi16" -> {
                int shift = 8 * bits(13, 1);
                return text(number + (shift == 0 ? "" : ", lsl #" + shift));
            }
            case "#msl" -> {
                return text(number + ", msl #" + (bits(12, 1) == 0 ? 8 : 16));
            }
            case "#mi64" -> {
                long mask = 0;
                for (int i = 0; i < 8; i++) {
                    mask |= (value >> i & 1) == 0 ? 0 : 0xffL << 8 * i;
                }
                return hex(mask);
            }
            default -> {
                return text(number);
            }
        }
    }

    private static String floating(int imm) {
        int exponent = (imm >> 4 & 7 ^ 4) - 3;
        double value = (1 + (imm & 15) / 16.0) * Math.pow(2, exponent);
        String digits = "%.18e".formatted((imm & 128) != 0 ? -value : value);
        return "#" + digits;
    }

    private MachineAccess access() {
        String name = form.mnemonic();
        boolean exclusive = name.startsWith("stx") || name.startsWith("stl");
        if (name.startsWith("prf")) {
            return MachineAccess.ADDRESS;
        }
        if (name.startsWith("cas") || name.startsWith("swp")) {
            return MachineAccess.READ_WRITE;
        }
        boolean atomic =
                (form.mask() & 0x3f20_0c00) == 0x3f20_0c00
                        && (form.value() & 0x3f20_0c00) == 0x3820_0000;
        return atomic && !name.startsWith("ldap")
                ? MachineAccess.READ_WRITE
                : exclusive || name.startsWith("st") ? MachineAccess.WRITE : MachineAccess.READ;
    }

    private MachineMemory memory(String index, int scale, long offset, int log, String shown) {
        return new MachineMemory(
                "", XSP[number('n')].name(), index, scale, offset, true, 1 << log, access(), shown);
    }

    private @Nullable MachineOperand memory(String code) {
        int dot = code.indexOf('.');
        String kind = dot < 0 ? code : code.substring(0, dot);
        String argument = dot < 0 ? "" : code.substring(dot + 1);
        String base = "[" + XSP[number('n')].name();
        int log =
                argument.isEmpty() || !Character.isDigit(argument.charAt(0))
                        ? 0
                        : argument.charAt(0) - '0';
        long nine = signed(12, 9);
        long seven = signed(15, 7) << log;
        if (argument.endsWith("4") && kind.endsWith("g")) {
            nine <<= 4;
        }
        switch (kind) {
            case "m0" -> {
                return memory("", 0, 0, log, base + "]");
            }
            case "m12" -> {
                long offset = (long) bits(10, 12) << log;
                return memory("", 0, offset, log, plain(base, offset));
            }
            case "mu9", "mu9g" -> {
                return memory("", 0, nine, log, plain(base, nine));
            }
            case "mo9", "mo9g" -> {
                return memory("", 0, 0, log, base + "], #" + nine);
            }
            case "mp9", "mp9g" -> {
                return memory("", 0, nine, log, base + ", #" + nine + "]!");
            }
            case "m7" -> {
                return memory("", 0, seven, log + 1, plain(base, seven));
            }
            case "o7" -> {
                return memory("", 0, 0, log + 1, base + "], #" + seven);
            }
            case "p7" -> {
                return memory("", 0, seven, log + 1, base + ", #" + seven + "]!");
            }
            case "maut", "mautp" -> {
                long offset = (signed(22, 1) << 9 | bits(12, 9)) << 3;
                boolean pre = kind.equals("mautp");
                String shown = pre ? base + ", #" + offset + "]!" : plain(base, offset);
                return memory("", 0, offset, 3, shown);
            }
            case "mr" -> {
                return registerOffset(base, log);
            }
            default -> {
                return structures(kind, argument);
            }
        }
    }

    private static String plain(String base, long offset) {
        return offset == 0 ? base + "]" : base + ", #" + offset + "]";
    }

    private MachineOperand registerOffset(String base, int log) {
        int option = bits(13, 3);
        failed |= (option & 2) == 0;
        boolean scaled = bits(12, 1) == 1;
        MachineRegister index = ((option & 1) == 1 ? X : W)[number('m')];
        String shift = scaled ? " #" + log : "";
        String extend =
                option == 3 ? scaled ? ", lsl" + shift : "" : ", " + EXTENDS[option] + shift;
        return memory(
                index.name(),
                scaled ? 1 << log : 1,
                0,
                log,
                base + ", " + index.name() + extend + "]");
    }

    private @Nullable MachineOperand structures(String kind, String argument) {
        int count = kind.charAt(kind.length() - 1) - '0';
        if (kind.startsWith("list")) {
            return text(list(word & 31, count, ALL[bits(10, 2) * 2 + (q ? 1 : 0)]));
        }
        if (kind.startsWith("tbl")) {
            return text(list(number('n'), count, "16b"));
        }
        if (kind.startsWith("elem")) {
            int log = elementLog(argument);
            int all = (q ? 8 : 0) | bits(12, 1) << 2 | bits(10, 2);
            failed |= log == 3 && bits(12, 1) == 1 || log == 2 && bits(10, 2) > 1;
            failed |= log == 1 && (bits(10, 2) & 1) == 1;
            return text(
                    list(word & 31, count, "" + SCALARS.charAt(log)) + "[" + (all >> log) + "]");
        }
        if (!kind.startsWith("mpost")) {
            return null;
        }
        String base = "[" + XSP[number('n')].name() + "], ";
        int m = number('m');
        int bytes = count * (q ? 16 : 8);
        if (kind.startsWith("mposte")) {
            bytes = count << elementLog(argument);
        } else if (kind.startsWith("mpostr")) {
            bytes = count << bits(10, 2);
        }
        return memory("", 0, 0, 0, base + (m == 31 ? "#" + bytes : X[m].name()));
    }

    private int elementLog(String argument) {
        int log = SCALARS.indexOf(argument);
        return log == 2 && bits(10, 1) == 1 ? 3 : log;
    }

    private static String list(int first, int count, String arrangement) {
        StringBuilder out = new StringBuilder("{");
        if (count > 2 && first + count <= 32) {
            out.append(
                    "v%d.%s-v%d.%s".formatted(first, arrangement, first + count - 1, arrangement));
        } else {
            for (int i = 0; i < count; i++) {
                out.append(i == 0 ? "" : ", ")
                        .append("v%d.%s".formatted(first + i & 31, arrangement));
            }
        }
        return out.append('}').toString();
    }
}
