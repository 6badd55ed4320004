package sonde.binary.machine;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.machine.X86Forms.X86Form;

/** Instructions of x86 in its three modes. */
final class X86Decoder implements MachineDecoder {
    private static final String[] REX = {
        "", ".B", ".X", ".XB", ".R", ".RB", ".RX", ".RXB", ".W", ".WB", ".WX", ".WXB", ".WR",
        ".WRB", ".WRX", ".WRXB"
    };
    private final int mode;
    private final MachineSyntax syntax;

    /**
     * @param mode 16, 32 or 64
     */
    X86Decoder(int mode, MachineSyntax syntax) {
        this.mode = mode;
        this.syntax = syntax;
    }

    @Override
    public MachineInstruction decode(byte[] code, int offset, int end, long address) {
        X86Encoding at = new X86Encoding(code, offset, end, mode);
        try {
            at.prefixes();
            if (at.alone) {
                String text = prefixText(at, null).strip();
                return plain(at.prefixCount, address, text, "");
            }
            at.opcode();
            X86Form form = at.form();
            if (form == null) {
                return bad(at, address);
            }
            return new X86Operands(at, form, syntax, address).instruction();
        } catch (IndexOutOfBoundsException e) {
            return bad(at, address);
        } catch (InvalidEncodingException e) {
            return bad(at, address);
        }
    }

    /** An operand that the encoding does not allow. */
    static final class InvalidEncodingException extends RuntimeException {
        private static final long serialVersionUID = 1;

        InvalidEncodingException() {
            super("", null, false, false);
        }
    }

    private MachineInstruction bad(X86Encoding at, long address) {
        int length = Math.min(at.prefixCount + 1, at.end - at.start);
        if (at.opcodeEnd > 0) {
            boolean x87 = at.encoding == X86Forms.LEGACY && at.map == 0 && at.op >> 3 == 0x1b;
            length = at.opcodeEnd - at.start + (x87 ? 1 : 0);
            at.selectPrefix();
        }
        return plain(Math.max(1, length), address, "(bad)", prefixText(at, null));
    }

    private MachineInstruction plain(int length, long address, String name, String prefix) {
        return new MachineInstruction(
                address, length, syntax, prefix, name, "", List.of(), MachineFlow.INVALID);
    }

    /** The prefixes that no operand used. */
    static String prefixText(X86Encoding at, @Nullable X86Form form) {
        int unused = (1 << at.prefixCount) - 1 & ~at.used;
        if (unused == 0) {
            return "";
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < at.prefixCount; i++) {
            if ((unused & 1 << i) != 0) {
                text.append(name(at, form, i)).append(' ');
            }
        }
        return text.toString();
    }

    private static String name(X86Encoding at, @Nullable X86Form form, int index) {
        int b = at.code[at.start + index] & 0xff;
        boolean last = index == Math.max(at.repz, at.repnz);
        switch (b) {
            case 0xf3 -> {
                boolean rep = form != null && form.has(X86Forms.X86Trait.REP);
                return last && rep ? "rep" : hle(at, form, last, "xrelease", "repz");
            }
            case 0xf2 -> {
                boolean bnd = form != null && form.has(X86Forms.X86Trait.BND);
                return last && bnd ? "bnd" : hle(at, form, last, "xacquire", "repnz");
            }
            case 0xf0 -> {
                return "lock";
            }
            case 0x66 -> {
                return at.mode == 16 ? "data32" : "data16";
            }
            case 0x67 -> {
                return at.mode == 32 ? "addr16" : "addr32";
            }
            case 0x9b -> {
                return "fwait";
            }
            case 0x3e -> {
                return index == at.notrack ? "notrack" : "ds";
            }
            default -> {
                return b >= 0x40 && b < 0x50
                        ? "rex" + REX[b & 15]
                        : Arrays.asList("es", "cs", "ss", "ds", "fs", "gs")
                                .get(b < 0x60 ? b >> 3 & 3 : b - 0x60);
            }
        }
    }

    private static String hle(
            X86Encoding at, @Nullable X86Form form, boolean last, String name, String plain) {
        if (form == null || !last || at.modrm >> 6 == 3) {
            return plain;
        }
        boolean store = form.has(X86Forms.X86Trait.HLE3) && name.equals("xrelease");
        boolean exchange = form.att().equals("xchg") && form.has(X86Forms.X86Trait.HLE);
        boolean locked = form.has(X86Forms.X86Trait.HLE) && at.lock >= 0;
        return store || exchange || locked ? name : plain;
    }
}
