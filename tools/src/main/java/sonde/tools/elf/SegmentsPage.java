package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfNames;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSegment;
import sonde.event.result.ValueOutput;

/** The program headers, and which sections each holds. */
public final class SegmentsPage implements ElfPage {
    private static final long SHF_TLS = 0x400;
    private static final int PT_GNU_EH_FRAME = 0x6474e550;
    private static final int PT_GNU_SFRAME = 0x6474e554;

    private final ElfFile elf;

    public SegmentsPage(ElfFile elf) {
        this.elf = elf;
    }

    @Override
    public String key() {
        return "segments";
    }

    @Override
    public void text(PrintWriter out) {
        List<ElfSegment> segments = elf.segments();
        if (segments.isEmpty()) {
            out.println("There are no program headers in this file.");
            return;
        }
        out.println("Elf file type is " + HeaderPage.type(elf));
        out.println("Entry point " + ElfWording.hex(elf.entry()));
        out.printf(
                "There %s %d program header%s, starting at offset %d%n",
                segments.size() == 1 ? "is" : "are",
                segments.size(),
                segments.size() == 1 ? "" : "s",
                elf.header().segmentOffset());
        out.println();
        out.println("Program Headers:");
        String blanks = elf.is64() ? "        " : "";
        out.println(
                "  Type           Offset   VirtAddr   "
                        + blanks
                        + "PhysAddr   "
                        + blanks
                        + (elf.is64()
                                ? "FileSiz  MemSiz   Flg Align"
                                : "FileSiz MemSiz  Flg Align"));
        for (ElfSegment s : segments) {
            out.printf(
                    elf.is64()
                            ? "  %-14.14s 0x%06x 0x%s 0x%s 0x%06x 0x%06x %s %s%n"
                            : "  %-14.14s 0x%06x 0x%s 0x%s 0x%05x 0x%05x %s %s%n",
                    ElfNames.segment(elf.machine(), s.type()),
                    s.offset(),
                    ElfWording.address(elf, s.address()),
                    ElfWording.address(elf, s.physicalAddress()),
                    s.fileBytes(),
                    s.memoryBytes(),
                    rights(s),
                    s.alignment() == 0 ? "0" : ElfWording.hex(s.alignment()));
            if (s.type() == ElfFile.PT_INTERP) {
                String interpreter = elf.interpreter().orElse("");
                out.println(
                        "      [Requesting program interpreter: "
                                + ElfWording.name(interpreter)
                                + "]");
            }
        }
        if (elf.sections().size() > 1) {
            mapping(out, segments);
        }
    }

    private void mapping(PrintWriter out, List<ElfSegment> segments) {
        out.println();
        out.println(" Section to Segment mapping:");
        out.println("  Segment Sections...");
        for (int i = 0; i < segments.size(); i++) {
            out.printf("   %02d     ", i);
            for (ElfSection section : elf.sections()) {
                if (holds(segments.get(i), section)) {
                    out.print(ElfWording.name(section.name()) + " ");
                }
            }
            out.println();
        }
    }

    private static String rights(ElfSegment s) {
        return ((s.flags() & 4) != 0 ? "R" : " ")
                + ((s.flags() & 2) != 0 ? "W" : " ")
                + ((s.flags() & 1) != 0 ? "E" : " ");
    }

    /** Whether a section belongs to a segment: by kind, by place in the file, by address. */
    static boolean holds(ElfSegment p, ElfSection s) {
        boolean tls = (s.flags() & SHF_TLS) != 0;
        boolean loaded = (s.flags() & ElfFile.SHF_ALLOC) != 0;
        boolean empty = s.type() == ElfFile.SHT_NOBITS;
        boolean kind =
                tls
                        ? p.type() == ElfFile.PT_TLS
                                || p.type() == ElfFile.PT_GNU_RELRO
                                || p.type() == ElfFile.PT_LOAD
                        : p.type() != ElfFile.PT_TLS && p.type() != ElfFile.PT_PHDR;
        boolean needsLoaded =
                p.type() == ElfFile.PT_LOAD
                        || p.type() == ElfFile.PT_DYNAMIC
                        || p.type() == PT_GNU_EH_FRAME
                        || p.type() == ElfFile.PT_GNU_STACK
                        || p.type() == ElfFile.PT_GNU_RELRO
                        || p.type() == PT_GNU_SFRAME;
        if (s.type() == 0 || !kind || !loaded && needsLoaded) {
            return false;
        }
        boolean tbss = tls && empty && p.type() != ElfFile.PT_TLS;
        long size = s.sizeBytes();
        if (tbss || !empty && !within(s.offset(), size, p.offset(), p.fileBytes())) {
            return false;
        }
        if (loaded && !within(s.address(), size, p.address(), p.memoryBytes())) {
            return false;
        }
        boolean edges = p.type() == ElfFile.PT_DYNAMIC || p.type() == ElfFile.PT_NOTE;
        return !edges
                || size != 0
                || p.memoryBytes() == 0
                || (empty || inside(s.offset(), p.offset(), p.fileBytes()))
                        && (!loaded || inside(s.address(), p.address(), p.memoryBytes()));
    }

    /** A range in a range; an empty one may not stand at the very end. */
    private static boolean within(long at, long size, long start, long length) {
        long into = at - start;
        return Long.compareUnsigned(at, start) >= 0
                && Long.compareUnsigned(into, length - 1) <= 0
                && Long.compareUnsigned(into + size, length) <= 0;
    }

    private static boolean inside(long at, long start, long length) {
        return Long.compareUnsigned(at, start) > 0 && Long.compareUnsigned(at - start, length) < 0;
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        out.beginArray();
        for (ElfSegment s : elf.segments()) {
            out.beginObject();
            out.field("type", ElfNames.segment(elf.machine(), s.type()));
            out.field("flags", rights(s).replace(" ", ""));
            out.field("offset", s.offset());
            out.field("address", ElfWording.hex(s.address()));
            out.field("physical_address", ElfWording.hex(s.physicalAddress()));
            out.field("file_bytes", s.fileBytes());
            out.field("memory_bytes", s.memoryBytes());
            out.field("alignment", s.alignment());
            out.beginArray("sections");
            for (ElfSection section : elf.sections()) {
                if (holds(s, section)) {
                    out.value(ElfWording.name(section.name()));
                }
            }
            out.endArray();
            out.endObject();
        }
        out.endArray();
    }
}
