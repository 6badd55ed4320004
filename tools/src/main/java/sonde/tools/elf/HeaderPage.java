package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteOrder;
import java.util.List;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.DynamicEntry;
import sonde.binary.elf.DynamicTable;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfHeader;
import sonde.binary.elf.ElfNames;
import sonde.event.result.ValueOutput;

/** The file header. */
public final class HeaderPage implements ElfPage {
    private static final int EM_SPARC32PLUS = 18;
    private static final int EM_PPC64 = 21;
    private static final int EM_IA_64 = 50;
    private static final int XINDEX = 0xffff;

    private final ElfFile elf;

    public HeaderPage(ElfFile elf) {
        this.elf = elf;
    }

    @Override
    public String key() {
        return "header";
    }

    /** As readelf says it: an ET_DYN that says PIE is a program. */
    static String type(ElfFile elf) {
        if (elf.type() == ElfFile.ET_DYN && isPie(elf)) {
            return "DYN (Position-Independent Executable file)";
        }
        int type = elf.type();
        String name = ElfNames.type(type);
        return type >= 0xff00
                ? "Processor Specific: (%x)".formatted(type)
                : type >= 0xfe00 ? "OS Specific: (%x)".formatted(type) : name;
    }

    static boolean isPie(ElfFile elf) {
        try {
            DynamicTable table = elf.dynamic().orElse(null);
            return table != null
                    && (table.value(DynamicEntry.DT_FLAGS_1).orElse(0) & DynamicEntry.DF_1_PIE)
                            != 0;
        } catch (MalformedInputException e) {
            return false;
        }
    }

    @Override
    public void text(PrintWriter out) {
        ElfHeader h = elf.header();
        boolean big = elf.order() == ByteOrder.BIG_ENDIAN;
        out.println("ELF Header:");
        out.printf(
                "  Magic:   7f 45 4c 46 %02x %02x %02x %02x %02x 00 00 00 00 00 00 00 %n",
                elf.is64() ? 2 : 1, big ? 2 : 1, h.identVersion(), h.osAbi(), h.abiVersion());
        line(out, "Class:", elf.is64() ? "ELF64" : "ELF32");
        line(out, "Data:", "2's complement, " + (big ? "big" : "little") + " endian");
        line(out, "Version:", h.identVersion() + (h.identVersion() == 1 ? " (current)" : ""));
        line(out, "OS/ABI:", ElfNames.abi(h.osAbi()));
        line(out, "ABI Version:", "" + h.abiVersion());
        line(out, "Type:", type(elf));
        line(out, "Machine:", ElfNames.machine(h.machine()));
        line(out, "Version:", ElfWording.hex(h.version()));
        line(out, "Entry point address:", ElfWording.hex(h.entry()));
        line(out, "Start of program headers:", at(h.segmentOffset()));
        line(out, "Start of section headers:", at(h.sectionOffset()));
        line(out, "Flags:", "0x" + Integer.toHexString(h.flags()) + flags(h));
        line(out, "Size of this header:", h.headerBytes() + " (bytes)");
        line(out, "Size of program headers:", h.segmentBytes() + " (bytes)");
        line(
                out,
                "Number of program headers:",
                extended(h.segmentCount(), XINDEX, elf.segments().size()));
        line(out, "Size of section headers:", h.sectionBytes() + " (bytes)");
        line(
                out,
                "Number of section headers:",
                extended(h.sectionCount(), 0, elf.sections().size()));
        long names = elf.sections().isEmpty() ? 0 : elf.sections().getFirst().link();
        line(out, "Section header string table index:", extended(h.nameSection(), XINDEX, names));
    }

    private static void line(PrintWriter out, String what, String value) {
        out.printf("  %-34s %s%n", what, value);
    }

    private static String at(long offset) {
        return Long.toUnsignedString(offset) + " (bytes into file)";
    }

    /** A number that stands in section 0 is shown in parentheses. */
    private static String extended(int stated, int escape, long found) {
        return stated == escape && found != 0 ? stated + " (" + found + ")" : "" + stated;
    }

    private String flags(ElfHeader h) {
        int flags = h.flags();
        if (flags == 0) {
            return "";
        }
        StringBuilder words = new StringBuilder();
        switch (h.machine()) {
            case ElfFile.EM_RISCV -> {
                words.append((flags & 1) != 0 ? ", RVC" : "");
                words.append((flags & 8) != 0 ? ", RVE" : "");
                words.append((flags & 16) != 0 ? ", TSO" : "");
                words.append(
                        switch (flags & 6) {
                            case 0 -> ", soft-float ABI";
                            case 2 -> ", single-float ABI";
                            case 4 -> ", double-float ABI";
                            default -> ", quad-float ABI";
                        });
            }
            case ElfFile.EM_ARM -> {
                words.append(flags >>> 24 == 0 ? "" : ", Version" + (flags >>> 24) + " EABI");
                words.append((flags & 0x200) != 0 ? ", soft-float ABI" : "");
                words.append((flags & 0x400) != 0 ? ", hard-float ABI" : "");
                words.append((flags & 0x800000) != 0 ? ", BE8" : "");
                words.append((flags & 0x400000) != 0 ? ", LE8" : "");
                words.append((flags & 0x3ff9ff) != 0 ? ", <unknown>" : "");
            }
            case EM_PPC64 -> words.append((flags & 3) != 0 ? ", abiv" + (flags & 3) : "");
            case ElfFile.EM_SPARC, EM_SPARC32PLUS, ElfFile.EM_SPARCV9 -> sparc(flags, words);
            case ElfFile.EM_MIPS -> mips(flags, words);
            case EM_IA_64 -> words.append((flags & 0x10) != 0 ? ", 64-bit" : ", 32-bit");
            default -> {}
        }
        return words.toString();
    }

    private static final List<String> MIPS_BITS =
            List.of(
                    "noreorder",
                    "pic",
                    "cpic",
                    "ugen_reserved",
                    "",
                    "abi2",
                    "",
                    "odk first",
                    "32bitmode",
                    "fp64",
                    "nan2008");

    /** From bit 28 on. */
    private static final List<String> MIPS_ARCHITECTURES =
            List.of(
                    """
                    mips1 mips2 mips3 mips4 mips5 mips32 mips64 mips32r2 mips64r2 \
                    mips32r6 mips64r6\
                    """
                            .split(" "));

    /** EF_MIPS_*; a CPU's own extensions, bits 16 to 23, are left as a number. */
    private static void mips(int flags, StringBuilder words) {
        for (int bit = 0; bit < MIPS_BITS.size(); bit++) {
            boolean set = (flags >>> bit & 1) != 0 && !MIPS_BITS.get(bit).isEmpty();
            words.append(set ? ", " + MIPS_BITS.get(bit) : "");
        }
        words.append(
                switch (flags >>> 12 & 15) {
                    case 0 -> "";
                    case 1 -> ", o32";
                    case 2 -> ", o64";
                    case 3 -> ", eabi32";
                    case 4 -> ", eabi64";
                    default -> ", unknown ABI";
                });
        words.append((flags & 0x0800_0000) != 0 ? ", mdmx" : "");
        words.append((flags & 0x0400_0000) != 0 ? ", mips16" : "");
        words.append((flags & 0x0200_0000) != 0 ? ", micromips" : "");
        int architecture = flags >>> 28;
        boolean known = architecture < MIPS_ARCHITECTURES.size();
        words.append(", ").append(known ? MIPS_ARCHITECTURES.get(architecture) : "unknown ISA");
    }

    /** EF_SPARC_* and EF_SPARCV9_* (the memory model, of V9 alone). */
    private static void sparc(int flags, StringBuilder words) {
        words.append((flags & 0x100) != 0 ? ", v8+" : "");
        words.append((flags & 0x200) != 0 ? ", ultrasparcI" : "");
        words.append((flags & 0x800) != 0 ? ", ultrasparcIII" : "");
        words.append((flags & 0x400) != 0 ? ", halr1" : "");
        words.append((flags & 0x800000) != 0 ? ", ledata" : "");
        words.append(
                switch (flags & 3) {
                    case 0 -> ", tso";
                    case 1 -> ", pso";
                    case 2 -> ", rmo";
                    default -> "";
                });
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        ElfHeader h = elf.header();
        out.beginObject();
        out.field("class", elf.is64() ? 64 : 32);
        boolean big = elf.order() == ByteOrder.BIG_ENDIAN;
        out.field("byte_order", big ? "big" : "little");
        out.field("os_abi", ElfNames.abi(h.osAbi()));
        out.field("abi_version", h.abiVersion());
        out.field("type", type(elf));
        out.field("type_number", h.type());
        out.field("machine", ElfNames.machine(h.machine()));
        out.field("machine_number", h.machine());
        out.field("entry", ElfWording.hex(h.entry()));
        out.field("flags", "0x" + Integer.toHexString(h.flags()));
        out.field("segments", elf.segments().size());
        out.field("sections", elf.sections().size());
        out.beginArray("problems");
        for (String problem : elf.problems()) {
            out.value(problem);
        }
        out.endArray();
        out.endObject();
    }
}
