package sonde.bpf.usdt;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.sys.Arch;

/**
 * Names of registers as assemblers write them, and where struct pt_regs has them
 * (arch/x86/include/asm/ptrace.h, arch/arm64/include/asm/ptrace.h).
 */
final class UsdtRegisters {
    private static final Map<String, RegisterPart> X86 = x86();
    private static final Map<String, RegisterPart> ARM = arm();

    private UsdtRegisters() {}

    /**
     * A register or a part of one.
     *
     * @param whole name of all of it
     * @param offset in struct pt_regs
     * @param sizeBytes of the part
     * @param shift bits below the part
     */
    record RegisterPart(String whole, int offset, int sizeBytes, int shift) {}

    /** The register of a name without {@code %}; null for one that programs do not see. */
    static @Nullable RegisterPart find(Arch arch, String name) {
        return (arch == Arch.X86_64 ? X86 : ARM).get(name);
    }

    private static Map<String, RegisterPart> x86() {
        Map<String, RegisterPart> map = new HashMap<>();
        String[] order = {
            "r15", "r14", "r13", "r12", "bp", "bx", "r11", "r10", "r9", "r8", "ax", "cx", "dx",
            "si", "di",
        };
        for (int i = 0; i < order.length; i++) {
            if (order[i].startsWith("r")) {
                numbered(map, order[i], 8 * i);
            } else {
                named(map, order[i], 8 * i);
            }
        }
        map.put("rip", new RegisterPart("rip", 128, 8, 0));
        named(map, "sp", 152);
        return Map.copyOf(map);
    }

    private static void numbered(Map<String, RegisterPart> map, String name, int offset) {
        map.put(name, new RegisterPart(name, offset, 8, 0));
        map.put(name + "d", new RegisterPart(name, offset, 4, 0));
        map.put(name + "w", new RegisterPart(name, offset, 2, 0));
        map.put(name + "b", new RegisterPart(name, offset, 1, 0));
    }

    private static void named(Map<String, RegisterPart> map, String name, int offset) {
        String whole = "r" + name;
        map.put(whole, new RegisterPart(whole, offset, 8, 0));
        map.put("e" + name, new RegisterPart(whole, offset, 4, 0));
        map.put(name, new RegisterPart(whole, offset, 2, 0));
        if (name.endsWith("x")) {
            String letter = name.substring(0, 1);
            map.put(letter + "l", new RegisterPart(whole, offset, 1, 0));
            map.put(letter + "h", new RegisterPart(whole, offset, 1, 8));
        } else {
            map.put(name + "l", new RegisterPart(whole, offset, 1, 0));
        }
    }

    private static Map<String, RegisterPart> arm() {
        Map<String, RegisterPart> map = new HashMap<>();
        for (int i = 0; i <= 30; i++) {
            map.put("x" + i, new RegisterPart("x" + i, 8 * i, 8, 0));
            map.put("w" + i, new RegisterPart("x" + i, 8 * i, 4, 0));
        }
        map.put("sp", new RegisterPart("sp", 248, 8, 0));
        map.put("wsp", new RegisterPart("sp", 248, 4, 0));
        map.put("lr", new RegisterPart("x30", 240, 8, 0));
        map.put("fp", new RegisterPart("x29", 232, 8, 0));
        map.put("pc", new RegisterPart("pc", 256, 8, 0));
        return Map.copyOf(map);
    }
}
