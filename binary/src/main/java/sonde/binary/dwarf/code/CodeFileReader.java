package sonde.binary.dwarf.code;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.AbbreviationTable;
import sonde.binary.dwarf.section.AttributeForms;
import sonde.binary.dwarf.section.LineTexts;
import sonde.binary.dwarf.section.SectionCursor;
import sonde.binary.dwarf.section.UnitHeader;

/** What one thread reads a file with: a cursor for each section. */
final class CodeFileReader implements LineTexts {
    private static final int SMALL = 1 << 9;
    private static final int MIDDLE = 1 << 13;
    private static final int LARGE = 1 << 16;

    final DwarfFile file;

    /** Entries one after the other. */
    final SectionCursor entries;

    /** An entry here and there. */
    final SectionCursor peek;

    final SectionCursor lines;
    final SectionCursor lineNames;
    final SectionCursor abbreviations;
    final SectionCursor strings;
    final SectionCursor lineStrings;
    final SectionCursor stringOffsets;
    final SectionCursor addresses;
    final SectionCursor oldRanges;
    final SectionCursor rangeLists;
    private @Nullable CodeFileReader supplement;
    private @Nullable UnitHeader lastHeader;

    CodeFileReader(DwarfFile file) {
        this.file = file;
        DwarfSections all = file.sections;
        entries = cursor(all.units(), LARGE);
        peek = cursor(all.units(), SMALL);
        lines = cursor(all.lines(), LARGE);
        lineNames = cursor(all.lines(), SMALL);
        abbreviations = cursor(all.abbreviations(), MIDDLE);
        strings = cursor(all.strings(), SMALL / 2);
        lineStrings = cursor(all.lineStrings(), SMALL);
        stringOffsets = cursor(all.stringOffsets(), MIDDLE);
        addresses = cursor(all.addresses(), MIDDLE);
        oldRanges = cursor(all.oldRanges(), MIDDLE);
        rangeLists = cursor(all.rangeLists(), MIDDLE);
    }

    private SectionCursor cursor(MemorySegment section, int windowBytes) {
        return new SectionCursor(section, file.sections.big(), windowBytes);
    }

    /** The reader of the file that dwz made for several; null when there is none. */
    @Nullable CodeFileReader supplement() {
        if (supplement == null && file.supplement != null) {
            supplement = new CodeFileReader(file.supplement);
        }
        return supplement;
    }

    AbbreviationTable table(UnitHeader unit) throws MalformedInputException {
        return file.tables.of(abbreviations, unit);
    }

    /** The head of the unit that an offset of an entry lies in; null for none. */
    @Nullable UnitHeader headerAt(long offset) throws MalformedInputException {
        UnitHeader last = lastHeader;
        if (last != null && offset >= last.first() && offset < last.end()) {
            return last;
        }
        int unit = file.unitAt(offset);
        if (unit < 0) {
            return null;
        }
        UnitHeader header = UnitHeader.read(peek, file.unitOffsets()[unit]);
        lastHeader = header;
        return offset >= header.first() && offset < header.end() ? header : null;
    }

    @Override
    public String text(int form, long value, long offsetsBase, int offsetBytes)
            throws MalformedInputException {
        return text(form, value, offsetsBase, offsetBytes, lineNames);
    }

    /**
     * A text of an attribute.
     *
     * @param offsetsBase DW_AT_str_offsets_base of its unit
     * @param inline section that texts in place stand in
     */
    String text(int form, long value, long offsetsBase, int offsetBytes, SectionCursor inline)
            throws MalformedInputException {
        switch (form) {
            case AttributeForms.STRP -> {
                return strings.text(value);
            }
            case AttributeForms.LINE_STRP -> {
                return lineStrings.text(value);
            }
            case AttributeForms.STRING -> {
                return inline.text(value);
            }
            case AttributeForms.GNU_STRP_ALT, AttributeForms.STRP_SUP -> {
                CodeFileReader other = supplement();
                return other == null ? "" : other.strings.text(value);
            }
            default -> {}
        }
        if (!AttributeForms.isStringIndex(form)) {
            return "";
        }
        long most = (stringOffsets.size() - offsetsBase) / offsetBytes;
        if (value < 0 || offsetsBase < 0 || value >= most) {
            return "";
        }
        stringOffsets.seek(offsetsBase + value * offsetBytes);
        return strings.text(stringOffsets.unsigned(offsetBytes));
    }
}
