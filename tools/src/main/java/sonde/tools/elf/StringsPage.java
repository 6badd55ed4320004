package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.SectionBytes;
import sonde.event.result.ValueOutput;

/** The texts in string tables and in sections of mergeable strings, or in those that were named. */
public final class StringsPage implements ElfPage {
    private static final long SHF_STRINGS = 0x20;
    private static final int LENGTH_LIMIT = 1 << 16;

    private final ElfFile elf;
    private final List<String> wanted;

    /**
     * @param sections names of sections; empty for all that hold strings
     */
    public StringsPage(ElfFile elf, List<String> sections) {
        this.elf = elf;
        this.wanted = List.copyOf(sections);
    }

    @Override
    public String key() {
        return "strings";
    }

    private List<ElfSection> sections() {
        return elf.sections().stream()
                .filter(s ->
                        wanted.isEmpty()
                                ? s.type() == ElfFile.SHT_STRTAB || (s.flags() & SHF_STRINGS) != 0
                                : wanted.contains(s.name()))
                .toList();
    }

    /** Takes a text and the offset in the section where it begins. */
    private interface StringTaker {
        void take(long offset, String text) throws IOException;
    }

    /** Runs of printable bytes, at least one long. */
    private static void each(SectionBytes bytes, StringTaker taker) throws IOException {
        StringBuilder text = new StringBuilder();
        long start = 0;
        for (long at = 0; at < bytes.sizeBytes(); at++) {
            byte b = bytes.at(at);
            boolean printable = b == '\t' || b >= 0x20 && b != 0x7f || b < 0;
            if (printable && text.length() < LENGTH_LIMIT) {
                start = text.isEmpty() ? at : start;
                text.append((char) (b & 0xff));
            } else if (!text.isEmpty()) {
                taker.take(start, utf8(text));
                text.setLength(0);
            }
        }
        if (!text.isEmpty()) {
            taker.take(start, utf8(text));
        }
    }

    private static String utf8(StringBuilder bytes) {
        byte[] raw = bytes.toString().getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
        return ElfWording.name(new String(raw, java.nio.charset.StandardCharsets.UTF_8));
    }

    @Override
    public void text(PrintWriter out) throws IOException {
        String line = "";
        for (ElfSection section : sections()) {
            out.print(line);
            out.println("String dump of section '" + ElfWording.name(section.name()) + "':");
            each(elf.bytes(section), (offset, text) -> out.printf("  [%6x]  %s%n", offset, text));
            line = System.lineSeparator();
        }
        if (line.isEmpty()) {
            out.println("There is no such section in this file.");
        }
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        out.beginObject();
        for (ElfSection section : sections()) {
            out.beginArray(ElfWording.name(section.name()));
            each(
                    elf.bytes(section),
                    (offset, text) -> {
                        out.beginObject();
                        out.field("offset", offset);
                        out.field("text", text);
                        out.endObject();
                    });
            out.endArray();
        }
        out.endObject();
    }
}
