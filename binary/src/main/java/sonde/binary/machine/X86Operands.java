package sonde.binary.machine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.machine.MachineOperand.MachineAccess;
import sonde.binary.machine.MachineOperand.MachineImmediate;
import sonde.binary.machine.MachineOperand.MachineMemory;
import sonde.binary.machine.MachineOperand.MachineModifier;
import sonde.binary.machine.MachineOperand.MachineRegister;
import sonde.binary.machine.MachineOperand.MachineTarget;
import sonde.binary.machine.X86Forms.X86Form;
import sonde.binary.machine.X86Forms.X86Slot;
import sonde.binary.machine.X86Forms.X86Trait;

/** Reads what follows the opcode, and names the instruction. */
final class X86Operands {
    static final int ROUNDING = 1 << X86Trait.ER.ordinal() | 1 << X86Trait.SAE.ordinal();
    private static final String[] ROUND = {"{rn-sae}", "{rd-sae}", "{ru-sae}", "{rz-sae}"};
    private static final String[] SEGMENTS = {"es", "cs", "ss", "ds", "fs", "gs", "?", "?"};
    private static final String[] BASES_16 = {"bx", "bx", "bp", "bp", "si", "di", "bp", "bx"};
    private static final String[] INDEXES_16 = {"si", "di", "si", "di", "", "", "", ""};
    private static final String[] CONDITIONS =
            ("eq lt le unord neq nlt nle ord eq_uq nge ngt false neq_oq ge gt true eq_os lt_oq"
                            + " le_oq unord_s neq_us nlt_uq nle_uq ord_s eq_us nge_uq ngt_uq"
                            + " false_os neq_os ge_oq gt_oq true_us")
                    .split(" ");
    private static final String[] LOW =
            "al cl dl bl spl bpl sil dil r8b r9b r10b r11b r12b r13b r14b r15b".split(" ");
    private static final String[] HIGH = "al cl dl bl ah ch dh bh".split(" ");
    private static final String[] WORDS =
            "ax cx dx bx sp bp si di r8w r9w r10w r11w r12w r13w r14w r15w".split(" ");
    private static final MachineRegister[] BYTES = registers(8, LOW);
    private static final MachineRegister[] OLD_BYTES = registers(8, HIGH);
    private static final MachineRegister[] G16 = registers(16, WORDS);
    private static final MachineRegister[] G32 =
            registers(
                    32,
                    ("eax ecx edx ebx esp ebp esi edi r8d r9d r10d r11d r12d r13d r14d r15d")
                            .split(" "));
    private static final MachineRegister[] G64 =
            registers(
                    64, "rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split(" "));
    private static final MachineRegister[] XMM = numbered(128, "xmm", 32);
    private static final MachineRegister[] YMM = numbered(256, "ymm", 32);
    private static final MachineRegister[] ZMM = numbered(512, "zmm", 32);

    private final X86Encoding in;
    private final X86Form form;
    private final MachineSyntax syntax;
    private final long address;
    private int suffixBits;
    private boolean memoryOperand;
    private int rounding = -1;
    private String base = "";
    private int index = -1;
    private int scale;
    private int displacementBytes;
    private long displacement;

    X86Operands(X86Encoding in, X86Form form, MachineSyntax syntax, long address) {
        this.in = in;
        this.form = form;
        this.syntax = syntax;
        this.address = address;
        if (in.encoding == X86Forms.EVEX && in.broadcast && in.modrm >= 0xc0) {
            rounding = in.length;
            in.length = 2;
        }
    }

    private static MachineRegister[] registers(int bits, String... names) {
        MachineRegister[] all = new MachineRegister[names.length];
        for (int i = 0; i < names.length; i++) {
            all[i] = new MachineRegister(names[i], bits);
        }
        return all;
    }

    private static MachineRegister[] numbered(int bits, String name, int count) {
        String[] names = new String[count];
        for (int i = 0; i < count; i++) {
            names[i] = name + i;
        }
        return registers(bits, names);
    }

    MachineInstruction instruction() {
        X86Slot[] slots = form.slots();
        List<MachineOperand> operands = new ArrayList<>(slots.length + 1);
        if (in.modrm >= 0 && in.modrm < 0xc0 && slots.length > 0 && !namesControl(slots)) {
            readMemory();
        }
        for (X86Slot slot : slots) {
            MachineOperand operand = operand(slot);
            if (operand != null) {
                operands.add(operand);
            }
        }
        String condition = pseudo(operands);
        if (rounding >= 0) {
            operands.add(new MachineModifier(form.has(X86Trait.ER) ? ROUND[rounding] : "{sae}"));
            int last = operands.size() - 2;
            if (operands.get(last) instanceof MachineImmediate) {
                operands.add(last, operands.removeLast());
            }
        }
        String mnemonic = mnemonic();
        if (!condition.isEmpty()) {
            mnemonic = condition;
        }
        finishPrefixes(mnemonic);
        String prefix = X86Decoder.prefixText(in, form);
        if (in.encoding == X86Forms.EVEX && form.has(X86Trait.TWIN) && !needsEvex()) {
            prefix = "{evex} " + prefix;
        }
        if (form.has(X86Trait.HINT) && (in.used & 1 << 30) != 0) {
            mnemonic += (in.code[in.start + in.segment] & 0xff) == 0x2e ? ",pn" : ",pt";
        }
        String mask = in.mask == 0 ? "" : "{%k" + in.mask + "}";
        if (in.mask != 0 && syntax == MachineSyntax.INTEL) {
            mask = "{k" + in.mask + "}";
        }
        return new MachineInstruction(
                address,
                in.at - in.start,
                syntax,
                prefix,
                mnemonic,
                in.zeroing ? mask + "{z}" : mask,
                operands,
                form.flow());
    }

    /** Moves of control and debug registers read the memory bits of ModR/M as a register. */
    private static boolean namesControl(X86Slot[] slots) {
        return "CD".indexOf(slots[slots.length - 1].field()) >= 0
                || "CD".indexOf(slots[0].field()) >= 0;
    }

    private boolean needsEvex() {
        return in.broadcast
                || in.length >= 2
                || in.mask != 0
                || in.highR
                || in.vvvv >= 16
                || in.modrm >= 0xc0 && (in.rex & X86Encoding.X) != 0;
    }

    private void finishPrefixes(String mnemonic) {
        if (in.encoding != X86Forms.LEGACY) {
            return;
        }
        if (in.rexAt >= 0 && (in.rex ^ in.rexUsed) == 0) {
            in.use(in.rexAt);
        }
        if (in.fwait >= 0 && mnemonic.startsWith("fn") && !mnemonic.equals("fnop")) {
            in.use(in.fwait);
        }
        int kind = in.segment < 0 ? 0 : in.code[in.start + in.segment] & 0xff;
        if (form.has(X86Trait.HINT) && (kind == 0x2e || kind == 0x3e)) {
            in.use(in.segment);
            in.used |= 1 << 30;
        }
        if (kind == 0x3e && form.has(X86Trait.IND) && form.has(X86Trait.BND)) {
            in.notrack = in.segment;
        }
    }

    private String pseudo(List<MachineOperand> operands) {
        if (operands.isEmpty() || !(operands.getLast() instanceof MachineImmediate immediate)) {
            return "";
        }
        int value = (int) immediate.unsigned();
        String name = syntax == MachineSyntax.ATT ? form.att() : form.intel();
        String text = "";
        if (form.has(X86Trait.CC) && value < (in.encoding == X86Forms.LEGACY ? 8 : 32)) {
            int at = name.indexOf("cmp") + 3;
            text = name.substring(0, at) + CONDITIONS[value] + name.substring(at);
        } else if (form.has(X86Trait.PCC) && value < 8 && value != 3 && value != 7) {
            text = "vpcmp" + CONDITIONS[value] + name.substring(5);
        } else if (form.has(X86Trait.CLMUL) && (value & ~0x11) == 0) {
            int at = name.indexOf("mul") + 3;
            text =
                    name.substring(0, at)
                            + ((value & 1) != 0 ? "hq" : "lq")
                            + ((value & 16) != 0 ? "hq" : "lq")
                            + "dq";
        }
        if (!text.isEmpty()) {
            operands.removeLast();
        }
        return text;
    }

    private static char letter(int bits) {
        return switch (bits) {
            case 8 -> 'b';
            case 16 -> 'w';
            case 32 -> 'l';
            case 64 -> 'q';
            default -> ' ';
        };
    }

    private String mnemonic() {
        boolean att = syntax == MachineSyntax.ATT;
        String name = att ? form.att() : form.intel();
        int brace = name.indexOf('{');
        if (brace >= 0 && name.indexOf('|') > 0) {
            in.useOperandSize();
            String[] names = name.substring(brace + 1, name.indexOf('}')).split("\\|");
            return names[in.operandSize() >> 5];
        }
        char last = name.charAt(name.length() - 1);
        String stem = name.substring(0, name.length() - 1);
        String full =
                switch (last) {
                    case '?', 'Q' -> att && memoryOperand ? stem + letter(suffixBits) : stem;
                    case '~' -> {
                        in.useOperandSize();
                        yield att ? stem + letter(in.operandSize()) : stem;
                    }
                    case '-' -> {
                        in.use(in.data);
                        yield att ? stem + letter(Math.min(32, in.operandSize())) : stem;
                    }
                    case '^' -> stem + optionalSuffix();
                    case 'S' -> {
                        in.useRex(X86Encoding.W);
                        yield in.mode != 64
                                ? stem
                                : stem + ((in.rex & X86Encoding.W) != 0 ? 'q' : 'l');
                    }
                    case 'W' -> {
                        in.useRex(X86Encoding.W);
                        yield (in.rex & X86Encoding.W) != 0 ? stem + "64" : stem;
                    }
                    case '!' -> {
                        in.useRex(X86Encoding.W);
                        yield stem + ((in.rex & X86Encoding.W) != 0 ? 'q' : 'd');
                    }
                    default -> last == 's' || last == 'n' ? name.replace("^", "") : name;
                };
        if (in.fwait >= 0 && full.startsWith("fn") && !full.equals("fnop")) {
            full = "f" + full.substring(2);
        }
        full = full.replace("_only", " only");
        return form.has(X86Trait.IND) ? full + "*" : full;
    }

    /** The suffix of an instruction whose size only a prefix changes. */
    private String optionalSuffix() {
        if (form.has(X86Trait.W64)) {
            in.useOperandSize();
            int bits = in.operandSize();
            return bits == (in.mode == 16 ? 16 : 32) ? "" : "" + letter(bits);
        }
        if (in.mode == 64 && (in.rex & X86Encoding.W) != 0 || in.data < 0) {
            return "";
        }
        in.use(in.data);
        return in.mode == 16 ? "l" : "w";
    }

    private MachineRegister general(int number, char size) {
        switch (size) {
            case 'b' -> {
                in.useRex(0);
                return (in.rex != 0 ? BYTES : OLD_BYTES)[number & (in.rex != 0 ? 15 : 7)];
            }
            case 'w' -> {
                return G16[number];
            }
            case 'd' -> {
                return G32[number];
            }
            case 'q' -> {
                return G64[number];
            }
            default -> {
                int bits = bits(size);
                return (bits == 16 ? G16 : bits == 32 ? G32 : G64)[number];
            }
        }
    }

    /** Width of a size that depends on prefixes and mode. */
    private int bits(char size) {
        return switch (size) {
            case 'b' -> 8;
            case 'w' -> 16;
            case 'd' -> 32;
            case 'q' -> 64;
            case 'r' -> in.mode == 64 ? 64 : 32;
            case 'y' -> {
                in.useRex(X86Encoding.W);
                yield in.mode == 64 && (in.rex & X86Encoding.W) != 0 ? 64 : 32;
            }
            case 's' -> {
                if (in.mode == 64 && in.data < 0) {
                    yield 64;
                }
                if (in.mode == 64 && (in.rex & X86Encoding.W) != 0) {
                    yield 64;
                }
                in.use(in.data);
                yield in.mode == 16 == in.data >= 0 ? 32 : 16;
            }
            case 'z' -> {
                in.useOperandSize();
                yield Math.min(32, in.operandSize());
            }
            default -> {
                in.useOperandSize();
                yield in.operandSize();
            }
        };
    }

    private MachineOperand vector(int number, char size) {
        return switch (size) {
            case 'o', 'f', 'e' -> XMM[number];
            case 'p' -> YMM[number];
            case 'Z' -> ZMM[number];
            case 'x' -> (in.length == 0 ? XMM : in.length == 1 ? YMM : ZMM)[number];
            case 'h' -> (in.length == 2 ? YMM : XMM)[number];
            case 'm' -> new MachineRegister("mm" + (number & 7), 64);
            case 'k' -> limited("k", number, 8, 64);
            case 'B' -> limited("bnd", number, 4, 128);
            case 't' -> limited("tmm", number, 8, 8192);
            default -> general(number & 15, size);
        };
    }

    private static MachineRegister limited(String name, int number, int count, int bits) {
        if (number >= count) {
            throw new X86Decoder.InvalidEncodingException();
        }
        return new MachineRegister(name + number, bits);
    }

    private static boolean isVector(char size) {
        return "opZxhfe".indexOf(size) >= 0;
    }

    private @Nullable MachineOperand operand(X86Slot slot) {
        char size = slot.size();
        switch (slot.field()) {
            case 'E', 'W', 'M', 'R' -> {
                if (in.modrm < 0xc0 && slot.field() != 'R') {
                    return memory(slot);
                }
                in.useRex(X86Encoding.B);
                int number = in.modrm & 7 | (in.rex & X86Encoding.B) << 3;
                if (size == 'm') {
                    return vector(number & 7, size);
                }
                if (in.encoding == X86Forms.EVEX && isVector(size)) {
                    number |= (in.rex & X86Encoding.X) << 3;
                }
                return vector(number, size);
            }
            case 'G', 'V' -> {
                in.useRex(X86Encoding.R);
                int number = in.modrm >> 3 & 7 | (in.rex & X86Encoding.R) << 1;
                return vector(in.highR ? number | 16 : number, size);
            }
            case 'H' -> {
                return vector(in.vvvv, size);
            }
            case 'L' -> {
                return vector(in.next() >> 4 & (in.mode == 64 ? 15 : 7), size);
            }
            case 'Z' -> {
                in.useRex(X86Encoding.B);
                return general(in.op & 7 | (in.rex & X86Encoding.B) << 3, size);
            }
            case 'a' -> {
                return general(0, size);
            }
            case 'S' -> {
                int number = in.modrm >> 3 & 7;
                return new MachineRegister(SEGMENTS[number], 16);
            }
            case 'C', 'D' -> {
                in.useRex(X86Encoding.R);
                int number = in.modrm >> 3 & 7 | (in.rex & X86Encoding.R) << 1;
                String debug = syntax == MachineSyntax.ATT ? "db" : "dr";
                return new MachineRegister((slot.field() == 'C' ? "cr" : debug) + number, 0);
            }
            case 'F' -> {
                return fixed(slot.name());
            }
            default -> {
                return other(slot);
            }
        }
    }

    private @Nullable MachineOperand fixed(String name) {
        return switch (name) {
            case "al" -> BYTES[0];
            case "cl" -> BYTES[1];
            case "av" -> general(0, 'v');
            case "aw" -> general(0, 'z');
            case "ax" -> G16[0];
            case "sax" -> {
                in.use(in.addr);
                int bits = in.addressSize();
                yield (bits == 64 ? G64 : bits == 32 ? G32 : G16)[0];
            }
            case "eax", "ecx", "edx", "ebx" -> new MachineRegister(name, 32);
            case "dxm" ->
                    new MachineMemory("", "dx", "", 0, 0, false, 0, MachineAccess.ADDRESS, "");
            case "sti" -> new MachineRegister("st(" + (in.modrm & 7) + ")", 80);
            case "st" -> new MachineRegister("st", 80);
            case "1i" -> syntax == MachineSyntax.ATT ? null : new MachineModifier("1");
            case "xmm0" -> XMM[0];
            default -> new MachineRegister(name, 16);
        };
    }

    private long number(int bytes) {
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            value |= (long) in.next() << 8 * i;
        }
        int unused = 64 - 8 * bytes;
        return bytes == 0 ? 0 : value << unused >> unused;
    }

    private MachineOperand other(X86Slot slot) {
        char size = slot.size();
        switch (slot.field()) {
            case 'I' -> {
                return switch (size) {
                    case 'b', 'u' -> new MachineImmediate(number(1), 8);
                    case 'w' -> new MachineImmediate(number(2), 16);
                    case 's' -> new MachineImmediate(number(1), immediateBits());
                    case 'z' -> {
                        int bits = immediateBits();
                        boolean half =
                                !form.has(X86Trait.S64) ? in.operandSize() == 16 : bits == 16;
                        yield new MachineImmediate(number(half ? 2 : 4), bits);
                    }
                    default -> {
                        int bits = bits('v');
                        yield new MachineImmediate(number(bits / 8), bits);
                    }
                };
            }
            case 'J' -> {
                return target(size);
            }
            case 'X', 'Y' -> {
                return string(slot);
            }
            case 'O' -> {
                in.use(in.addr);
                long offset = number(in.addressSize() / 8);
                int bytes = size == 'b' ? 1 : bits('v') / 8;
                return new MachineMemory(
                        segment(""), "", "", 0, masked(offset), true, bytes, slot.access(), "");
            }
            default -> {
                int bits = bits('z');
                long offset = number(bits / 8) & (1L << bits) - 1;
                return new MachineModifier(
                        syntax == MachineSyntax.ATT
                                ? "$0x%x,$0x%x".formatted(number(2) & 0xffff, offset)
                                : "0x%x:0x%x".formatted(number(2) & 0xffff, offset));
            }
        }
    }

    private int immediateBits() {
        return form.has(X86Trait.S64) ? bits('s') : bits('v');
    }

    private MachineTarget target(char size) {
        boolean half = false;
        long offset;
        if (size == 'b') {
            offset = number(1);
            half = in.mode != 64 && in.operandSize() == 16;
            if (half && in.mode == 32) {
                in.use(in.data);
            }
        } else {
            half = (in.rex & X86Encoding.W) == 0 && in.operandSize() == 16;
            if (in.mode == 64 && (in.rex & X86Encoding.W) != 0) {
                offset = number(4);
            } else {
                in.use(in.data);
                offset = number(half ? 2 : 4);
            }
        }
        if (in.op >> 2 == 0xe0 >> 2 && in.map == 0) {
            in.use(in.addr);
        }
        long next = address + in.at - in.start;
        long to = next + offset;
        if (half) {
            to = in.mode == 64 ? to & 0xffff : next & ~0xffffL | to & 0xffff;
        }
        return new MachineTarget(in.mode == 64 ? to : to & 0xffff_ffffL);
    }

    private long masked(long value) {
        return in.addressSize() == 64 ? value : value & (1L << in.addressSize()) - 1;
    }

    private MachineMemory string(X86Slot slot) {
        in.use(in.addr);
        int number = slot.size() == 'x' ? 3 : slot.field() == 'X' ? 6 : 7;
        MachineRegister[] names = in.addressSize() == 64 ? G64 : in.addressSize() == 32 ? G32 : G16;
        int bytes = slot.size() == 'b' || slot.size() == 'x' ? 1 : bits(slot.size()) / 8;
        return new MachineMemory(
                slot.field() == 'Y' ? "es" : segment("ds"),
                names[number].name(),
                "",
                0,
                0,
                false,
                bytes,
                slot.access(),
                "");
    }

    /** The segment that a prefix names; CS, DS, ES and SS mean nothing in 64-bit mode. */
    private String segment(String fallback) {
        if (!fallback.isEmpty()) {
            in.use(in.segment);
        }
        if (in.override < 0) {
            return fallback;
        }
        in.use(in.override);
        int b = in.code[in.start + in.override] & 0xff;
        return SEGMENTS[b < 0x60 ? b >> 3 & 3 : b - 0x60];
    }

    private void readMemory() {
        memoryOperand = true;
        int mod = in.modrm >> 6;
        int rm = in.modrm & 7;
        int bits = in.addressSize();
        in.use(in.addr);
        if (bits == 16) {
            base = mod == 0 && rm == 6 ? "" : BASES_16[rm];
            base = rm == 4 || rm == 5 ? rm == 4 ? "si" : "di" : base;
            displacementBytes = mod == 0 ? rm == 6 ? 2 : 0 : mod;
            displacement = number(displacementBytes);
            return;
        }
        in.useRex(X86Encoding.B);
        MachineRegister[] names = bits == 64 ? G64 : G32;
        int high = (in.rex & X86Encoding.B) << 3;
        displacementBytes = mod == 0 ? 0 : mod == 1 ? 1 : 4;
        if (rm == 4) {
            int sib = in.next();
            in.useRex(X86Encoding.X);
            index = sib >> 3 & 7 | (in.rex & X86Encoding.X) << 2;
            scale = 1 << (sib >> 6);
            rm = sib & 7;
            base = names[rm | high].name();
            if (rm == 5 && mod == 0) {
                base = "";
                displacementBytes = 4;
            }
        } else if (rm == 5 && mod == 0) {
            base = in.mode == 64 ? bits == 64 ? "rip" : "eip" : "";
            displacementBytes = 4;
        } else {
            base = names[rm | high].name();
        }
        displacement = number(displacementBytes);
    }

    private MachineMemory memory(X86Slot slot) {
        int bytes = bytes(slot);
        int element = bytes;
        String decoration = "";
        if (in.encoding == X86Forms.EVEX && in.broadcast) {
            element = form.broadcast();
            if (element == 0) {
                throw new X86Decoder.InvalidEncodingException();
            }
            decoration = "{1to" + bytes / element + "}";
        }
        long offset = displacement;
        if (in.encoding == X86Forms.EVEX && displacementBytes == 1) {
            offset *= Math.max(1, element);
        }
        suffixBits = bytes * 8;
        boolean alone = base.isEmpty() && index < 0;
        String indexName = indexName(slot);
        int shown = scale;
        if (in.addressSize() == 16) {
            indexName = base.isEmpty() ? "" : INDEXES_16[in.modrm & 7];
            shown = 0;
        }
        if (alone || base.isEmpty() && indexName.isEmpty()) {
            offset = masked(offset);
        }
        return new MachineMemory(
                segment(""),
                base,
                indexName,
                shown,
                offset,
                displacementBytes > 0,
                decoration.isEmpty() ? bytes : element,
                slot.access(),
                decoration);
    }

    private String indexName(X86Slot slot) {
        boolean vector = slot.field() == 'M' && slot.size() != ' ' && "rz".indexOf(slot.size()) < 0;
        if (index < 0) {
            if (vector) {
                throw new X86Decoder.InvalidEncodingException();
            }
            return "";
        }
        if (vector) {
            int number = index | (in.encoding == X86Forms.EVEX ? in.vvvv & 16 : 0);
            return ((MachineRegister) vector(number, slot.size())).name();
        }
        if (index == 4) {
            boolean plain = base.equals("rsp") || base.equals("esp") || base.startsWith("r12");
            boolean none = scale == 1 && (plain || base.isEmpty() && in.mode == 64);
            return none ? "" : in.addressSize() == 64 ? "riz" : "eiz";
        }
        return (in.addressSize() == 64 ? G64 : G32)[index].name();
    }

    private int bytes(X86Slot slot) {
        int vectorBytes = 16 << in.length;
        return switch (slot.memoryClass()) {
            case 'x' -> vectorBytes;
            case 'h' -> vectorBytes / 2;
            case 'f' -> vectorBytes / 4;
            case 'e' -> vectorBytes / 8;
            case 'y' -> bits('y') / 8;
            case 'p' -> {
                int bits = bits('v');
                yield bits / 8 + 2;
            }
            default -> {
                if (slot.memoryBytes() > 0 || slot.field() == 'M' || isVector(slot.size())) {
                    yield slot.memoryBytes();
                }
                yield switch (slot.size()) {
                    case 'B' -> 0;
                    case ' ' -> 0;
                    default -> bits(slot.size()) / 8;
                };
            }
        };
    }
}
