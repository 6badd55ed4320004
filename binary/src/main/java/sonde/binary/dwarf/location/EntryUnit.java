package sonde.binary.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.AbbreviationTable;
import sonde.binary.dwarf.section.AttributeForms;
import sonde.binary.dwarf.section.SectionCursor;
import sonde.binary.dwarf.section.UnitHeader;

/**
 * A unit of {@code .debug_info} or {@code .debug_types} (DWARF 5, 7.5.1) and what its first entry
 * says for all others. Not safe for several threads.
 */
public final class EntryUnit {
    private static final int WINDOW = 1 << 10;
    private static final int SMALL_WINDOW = 1 << 7;

    final DebugEntries file;
    final MemorySegment section;
    final UnitHeader header;
    final long offset;
    final int offsetBytes;
    private final MemorySegment entries;
    private final SectionCursor peek;
    private @Nullable AbbreviationTable abbreviations;
    private @Nullable DebugEntry root;

    EntryUnit(DebugEntries file, MemorySegment section, UnitHeader header) {
        this.file = file;
        this.section = section;
        this.header = header;
        offset = header.offset();
        offsetBytes = header.offsetBytes();
        entries = section.asSlice(0, header.end());
        peek = new SectionCursor(entries, file.isBig(), SMALL_WINDOW);
    }

    /** 2 to 5. */
    public int version() {
        return header.version();
    }

    /** Bytes of an address: 2, 4 or 8. */
    public int addressBytes() {
        return header.addressBytes();
    }

    /** Whether numbers have their most significant byte first. */
    public boolean isBig() {
        return file.isBig();
    }

    /** DW_LANG_*, 0 when it is not said. */
    public int language() throws MalformedInputException {
        return (int) root().constant(DwarfAttribute.LANGUAGE, 0);
    }

    /** The folder in which the compiler ran. */
    public String folder() throws MalformedInputException {
        return base().text(DwarfAttribute.COMP_DIR);
    }

    long first() {
        return header.first();
    }

    long end() {
        return header.end();
    }

    /** Whether it is of one type that others refer to by its signature. */
    public boolean isType() {
        return header.isType();
    }

    AbbreviationTable abbreviations() throws MalformedInputException {
        AbbreviationTable known = abbreviations;
        if (known == null) {
            known = file.abbreviations(header);
            abbreviations = known;
        }
        return known;
    }

    /** Those of a unit of which an entry has been read. */
    AbbreviationTable knownAbbreviations() {
        return Objects.requireNonNull(abbreviations);
    }

    /** The entry that all others are in. */
    public DebugEntry root() throws MalformedInputException {
        DebugEntry known = root;
        if (known == null) {
            known = entry(first());
            if (known == null) {
                throw new MalformedInputException("DWARF", "unit", offset, "it has no entries");
            }
            root = known;
        }
        return known;
    }

    /** The entry that tells of addresses and lines: for a split unit that of its skeleton. */
    DebugEntry base() throws MalformedInputException {
        DebugEntry skeleton = file.skeleton(this);
        return skeleton == null ? root() : skeleton;
    }

    /** The entry at an offset of the section; null for the mark that ends a list. */
    @Nullable DebugEntry entry(long at) throws MalformedInputException {
        if (at < first()) {
            throw new MalformedInputException("DWARF", "entry", at, "outside its unit");
        }
        peek.seek(at);
        return read(peek);
    }

    /** A cursor over this unit's entries. */
    SectionCursor cursor(long at) throws MalformedInputException {
        SectionCursor cursor = new SectionCursor(entries, file.isBig(), WINDOW);
        cursor.seek(at);
        return cursor;
    }

    /** The entry where a cursor stands, which then is behind it. */
    @Nullable DebugEntry read(SectionCursor cursor) throws MalformedInputException {
        long at = cursor.position();
        long code = cursor.uleb();
        if (code == 0) {
            return null;
        }
        AbbreviationTable table = abbreviations();
        int abbreviation = table.find(cursor, code);
        int first = AbbreviationTable.first(abbreviation);
        long[] values = new long[table.places(abbreviation)];
        int[] forms = DebugEntry.AS_STATED;
        long[] lengths = DebugEntry.NO_LENGTHS;
        for (int i = 0; i < values.length; i++) {
            int form = table.attribute(first + i) & 0xffff;
            if (form == AttributeForms.IMPLICIT_CONST) {
                values[i] = table.constant(first + i);
                i++; // a place without a form
                continue;
            }
            if (form == AttributeForms.INDIRECT) {
                form = AttributeForms.direct(cursor, form);
                forms = forms.length == 0 ? new int[values.length] : forms;
                forms[i] = form;
            }
            if (AttributeForms.isBlock(form)) {
                lengths = lengths.length == 0 ? new long[values.length] : lengths;
                lengths[i] = AttributeForms.blockBytes(cursor, form);
                values[i] = cursor.position();
                cursor.skip(lengths[i]);
            } else {
                values[i] = AttributeForms.value(cursor, form, 0, header);
            }
        }
        return new DebugEntry(this, at, abbreviation, forms, values, lengths, cursor.position());
    }
}
