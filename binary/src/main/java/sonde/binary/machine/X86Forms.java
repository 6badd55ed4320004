package sonde.binary.machine;

import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import sonde.binary.machine.MachineOperand.MachineAccess;
import sonde.sys.ResourceTable;

/**
 * The encodings of x86, from {@code x86.txt}.
 *
 * <p>A form fits when its set of accepted states contains each state of the bytes: one bit per
 * mandatory prefix, kind of operand, value of a field, vector length, mode and operand size.
 */
final class X86Forms {
    static final int PREFIX = 0;
    static final int REGISTER = 4;
    static final int MEMORY = 5;
    static final int REG = 6;
    static final int RM = 14;
    static final int W = 22;
    static final int LENGTH = 24;
    static final int MODE = 28;
    static final int OPERAND = 31;
    static final int REX_B = 34;
    static final int ADDRESS = 36;
    static final long PREFIXES = 0xf;
    static final long WS = 3L << W;
    static final long OPERANDS = 7L << OPERAND;

    static final int LEGACY = 0;
    static final int VEX = 16;
    static final int EVEX = 32;

    /**
     * An operand.
     *
     * @param field which bits of the encoding name it
     * @param size class of the register, or width of the number
     * @param name a fixed register
     * @param memoryClass width of the memory by vector length or operand size; 0 for a number
     */
    record X86Slot(
            char field,
            char size,
            String name,
            char memoryClass,
            int memoryBytes,
            MachineAccess access) {}

    /** What a form has besides its operands. */
    enum X86Trait {
        REP,
        REPZ,
        BND,
        IND,
        HLE,
        HLE3,
        HINT,
        HINT2,
        S64,
        W64,
        ER,
        SAE,
        TWIN,
        CC,
        PCC,
        CLMUL,
        PTR,
        VVVV
    }

    /**
     * @param accept the states that fit
     * @param att mnemonic with marks for suffixes
     * @param broadcast bytes of an element that may be repeated; 0 for none
     */
    record X86Form(
            long accept,
            String att,
            String intel,
            X86Slot[] slots,
            int traits,
            int broadcast,
            MachineFlow flow) {
        boolean has(X86Trait trait) {
            return (traits & 1 << trait.ordinal()) != 0;
        }

        /** Whether the form needs one of several states, which the bits therefore select. */
        boolean selects(long states) {
            return (accept & states) != states;
        }
    }

    private static final X86Form[] NONE = {};
    private static final X86Form[][] FORMS = new X86Form[40 * 256][];
    private static final boolean[] MODRM = new boolean[40 * 256];
    private static final Set<String> ORDERED =
            Set.of("monitor", "mwait", "monitorx", "mwaitx", "invlpga", "bound", "enter");
    private static final Set<String> FIXED =
            Set.of(
                    "al", "cl", "av", "aw", "ax", "dxm", "st", "sti", "xmm0", "cs", "ds", "es",
                    "fs", "gs", "ss", "sax", "eax", "ecx", "edx", "ebx", "1i");

    static {
        Arrays.fill(FORMS, NONE);
        load();
    }

    private X86Forms() {}

    static X86Form[] of(int map, int opcode) {
        return FORMS[map << 8 | opcode];
    }

    static boolean hasModrm(int map, int opcode) {
        return MODRM[map << 8 | opcode];
    }

    /** Instructions whose operands AT&T syntax prints in Intel's order. */
    static boolean keepsOrder(String mnemonic) {
        return ORDERED.contains(mnemonic);
    }

    private static void load() {
        int map = 0;
        for (String line : ResourceTable.lines(X86Forms.class.getResourceAsStream("x86.txt"))) {
            if (line.startsWith("=")) {
                int encoding = "lve".indexOf(line.charAt(2)) * 16;
                map = encoding + Integer.parseInt(line.substring(3));
            } else {
                add(map, line.split(" "));
            }
        }
    }

    private static void add(int map, String[] words) {
        String[] key = words[0].split("\\.");
        int at = map << 8 | Integer.parseInt(key[0], 16);
        long accept = (1L << 39) - 1 & ~(1L << LENGTH + 3);
        for (int i = 1; i < key.length; i++) {
            accept = narrowed(accept, key[i]);
        }
        String[] names = words[1].split("/");
        String operands = words.length > 2 && !words[2].equals("-") ? words[2] : "";
        X86Slot[] slots =
                operands.isEmpty()
                        ? new X86Slot[0]
                        : Arrays.stream(operands.split(","))
                                .map(X86Forms::slot)
                                .toArray(X86Slot[]::new);
        int traits = 0;
        int broadcast = 0;
        for (int i = 3; i < words.length; i++) {
            for (String trait : words[i].split(",")) {
                if (trait.matches("b\\d+")) {
                    broadcast = Integer.parseInt(trait.substring(1));
                } else {
                    traits |= 1 << X86Trait.valueOf(trait.toUpperCase(Locale.ROOT)).ordinal();
                }
            }
        }
        for (X86Slot slot : slots) {
            traits |= slot.field == 'H' ? 1 << X86Trait.VVVV.ordinal() : 0;
        }
        X86Form form =
                new X86Form(
                        accept,
                        names[0].replace("}_", "} "),
                        names[names.length - 1].replace("}_", "} "),
                        slots,
                        traits,
                        broadcast,
                        flow(names[0]));
        X86Form[] old = FORMS[at];
        FORMS[at] = Arrays.copyOf(old, old.length + 1);
        FORMS[at][old.length] = form;
        boolean fields = (accept & 0x3ffff0L) != 0x3ffff0L;
        for (X86Slot slot : slots) {
            fields |= "EGMRVWkBSCD".indexOf(slot.field) >= 0;
        }
        MODRM[at] |= fields;
    }

    private static long narrowed(long accept, String condition) {
        String values = condition.substring(1);
        long set = 0;
        int from;
        int bits;
        switch (condition.charAt(0)) {
            case 'r', 'm' -> {
                return accept & ~(1L << (condition.equals("r") ? MEMORY : REGISTER));
            }
            case 'x' -> {
                return accept & ~(values.equals("64") ? 3L << MODE : 1L << MODE + 2);
            }
            case 'o', 'a' -> {
                set =
                        (values.contains("16") ? 1 : 0)
                                | (values.contains("32") ? 2 : 0)
                                | (values.contains("64") ? 4 : 0);
                from = condition.charAt(0) == 'o' ? OPERAND : ADDRESS;
                bits = 3;
                return accept & ~((1L << bits) - 1 << from) | accept & set << from;
            }
            case 'p' -> {
                from = PREFIX;
                bits = 4;
            }
            case '/' -> {
                from = REG;
                bits = 8;
            }
            case 't' -> {
                from = RM;
                bits = 8;
            }
            case 'w' -> {
                from = W;
                bits = 2;
            }
            case 'L' -> {
                from = LENGTH;
                bits = 4;
            }
            case 'B' -> {
                from = REX_B;
                bits = 2;
            }
            default -> throw new IllegalArgumentException(condition);
        }
        for (int i = 0; i < values.length(); i++) {
            set |= 1L << values.charAt(i) - '0';
        }
        return accept & ~((1L << bits) - 1 << from) | accept & set << from;
    }

    private static X86Slot slot(String text) {
        MachineAccess access =
                switch (text.charAt(0)) {
                    case '+' -> MachineAccess.READ_WRITE;
                    case '=' -> MachineAccess.WRITE;
                    case '*' -> MachineAccess.ADDRESS;
                    default -> MachineAccess.READ;
                };
        String rest = access == MachineAccess.READ ? text : text.substring(1);
        if (FIXED.contains(rest)) {
            return new X86Slot('F', ' ', rest, ' ', 0, access);
        }
        int colon = rest.indexOf(':');
        String register = colon < 0 ? rest : rest.substring(0, colon);
        String memory = colon < 0 ? "" : rest.substring(colon + 1);
        boolean number = !memory.isEmpty() && Character.isDigit(memory.charAt(0));
        return new X86Slot(
                register.charAt(0),
                register.length() > 1 ? register.charAt(1) : ' ',
                "",
                memory.isEmpty() || number ? ' ' : memory.charAt(0),
                number ? Integer.parseInt(memory) : 0,
                access);
    }

    private static MachineFlow flow(String mnemonic) {
        String name = mnemonic.replaceAll("[~?^].*", "");
        return switch (name) {
            case "call", "lcall" -> MachineFlow.CALL;
            case "jmp", "ljmp" -> MachineFlow.JUMP;
            case "ret", "lret", "iret", "sysretS", "sysexitS", "uiret" -> MachineFlow.RETURN;
            case "ud0", "ud1", "ud2", "int3" -> MachineFlow.TRAP;
            default ->
                    name.startsWith("j") || name.startsWith("loop") || name.equals("xbegin")
                            ? MachineFlow.BRANCH
                            : MachineFlow.NEXT;
        };
    }
}
