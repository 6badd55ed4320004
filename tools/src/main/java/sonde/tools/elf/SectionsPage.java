package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfNames;
import sonde.binary.elf.ElfSection;
import sonde.event.result.ValueOutput;

/** The section headers. */
public final class SectionsPage implements ElfPage {
    private static final int EM_PPC = 20;

    /** Letters of flags from the lowest bit; a dot where none is known. */
    private static final String LETTERS = "WAX.MSILOGTC";

    private static final long SHF_GNU_RETAIN = 1 << 21;
    private static final long SHF_GNU_MBIND = 1 << 24;
    private static final long SHF_X86_64_LARGE = 1 << 28;
    private static final long SHF_EXCLUDE = 1L << 31;
    private static final long SHF_MASKOS = 0x0ff00000L;
    private static final long SHF_MASKPROC = 0xf0000000L;

    private final ElfFile elf;

    public SectionsPage(ElfFile elf) {
        this.elf = elf;
    }

    @Override
    public String key() {
        return "sections";
    }

    @Override
    public void text(PrintWriter out) {
        if (elf.sections().isEmpty()) {
            out.println("There are no sections in this file.");
            return;
        }
        int count = elf.sections().size();
        out.printf(
                "There %s %d section header%s, starting at offset %s:%n%n",
                count == 1 ? "is" : "are",
                count,
                count == 1 ? "" : "s",
                ElfWording.hex(elf.header().sectionOffset()));
        out.println("Section Headers:");
        String address = elf.is64() ? "Address         " : "Addr    ";
        out.println(
                "  [Nr] Name              Type            "
                        + address
                        + " Off    Size   ES Flg Lk Inf Al");
        for (ElfSection s : elf.sections()) {
            String type = ElfNames.section(elf.machine(), s.type());
            out.printf(
                    "  [%2d] %-17s %-15s %s %06x %06x %02x %3s %2d %3d %2s%n",
                    s.index(),
                    ElfWording.name(s.name()),
                    type,
                    ElfWording.address(elf, s.address()),
                    s.offset(),
                    s.sizeBytes(),
                    s.entryBytes(),
                    flags(s.flags()),
                    s.link(),
                    s.info(),
                    Long.toUnsignedString(s.alignment()));
        }
        out.println("Key to Flags:");
        out.println("  W (write), A (alloc), X (execute), M (merge), S (strings), I (info),");
        out.println("  L (link order), O (extra OS processing required), G (group), T (TLS),");
        out.println("  C (compressed), x (unknown), o (OS specific), E (exclude),");
        out.println(
                "  "
                        + (elf.header().osAbi() == 3 ? "R (retain), " : "")
                        + "D (mbind), "
                        + (elf.machine() == ElfFile.EM_X86_64 ? "l (large), " : "")
                        + (elf.machine() == ElfFile.EM_ARM ? "y (purecode), " : "")
                        + (elf.machine() == EM_PPC ? "v (VLE), " : "")
                        + "p (processor specific)");
    }

    private String flags(long flags) {
        StringBuilder letters = new StringBuilder();
        boolean os = false;
        boolean processor = false;
        boolean unknown = false;
        for (int bit = 0; bit < 64; bit++) {
            long flag = 1L << bit;
            if ((flags & flag) == 0) {
                continue;
            }
            if (bit < LETTERS.length() && LETTERS.charAt(bit) != '.') {
                letters.append(LETTERS.charAt(bit));
            } else if (flag == SHF_EXCLUDE) {
                letters.append('E');
            } else if (flag == SHF_X86_64_LARGE && elf.machine() == ElfFile.EM_X86_64) {
                letters.append('l');
            } else if (flag == SHF_GNU_RETAIN && isGnu()) {
                letters.append('R');
            } else if (flag == SHF_GNU_MBIND && isGnu()) {
                letters.append('D');
            } else {
                os |= (flag & SHF_MASKOS) != 0;
                processor |= (flag & SHF_MASKPROC) != 0;
                unknown |= (flag & (SHF_MASKOS | SHF_MASKPROC)) == 0;
            }
        }
        return letters.append(os ? "o" : "")
                .append(processor ? "p" : "")
                .append(unknown ? "x" : "")
                .toString();
    }

    private boolean isGnu() {
        int abi = elf.header().osAbi();
        return abi == 0 || abi == 3 || abi == 9;
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        out.beginArray();
        for (ElfSection s : elf.sections()) {
            out.beginObject();
            out.field("index", s.index());
            out.field("name", ElfWording.name(s.name()));
            out.field("type", ElfNames.section(elf.machine(), s.type()));
            out.field("flags", flags(s.flags()));
            out.field("address", ElfWording.hex(s.address()));
            out.field("offset", s.offset());
            out.field("size_bytes", s.sizeBytes());
            out.field("entry_bytes", s.entryBytes());
            out.field("link", s.link());
            out.field("info", s.info());
            out.field("alignment", s.alignment());
            if (elf.isCompressed(s)) {
                out.field("content_bytes", elf.contentBytes(s));
            }
            out.endObject();
        }
        out.endArray();
    }
}
