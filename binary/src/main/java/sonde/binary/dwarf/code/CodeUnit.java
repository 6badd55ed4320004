package sonde.binary.dwarf.code;

import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.AbbreviationTable;
import sonde.binary.dwarf.section.AttributeForms;
import sonde.binary.dwarf.section.SectionCursor;
import sonde.binary.dwarf.section.UnitHeader;

/** A unit of code: its first entry, read, and what the entries below count from. */
final class CodeUnit {
    /** A number that is not there. */
    static final long NONE = Long.MIN_VALUE;

    private static final int DWARF_5_HEADER = 8;

    final CodeFileReader reader;

    /** Where addresses and the older ranges stand: of a split unit not where its entries do. */
    final CodeFileReader owner;

    final UnitHeader header;
    final AbbreviationTable table;
    long lowPc = NONE;
    long addressBase;
    long rangesBase;
    long rangeListsBase;
    long stringsBase;
    long lines = NONE;
    long splitId;
    int tag;
    boolean hasChildren;

    /** Where the entries below the first begin. */
    long children;

    private int lowForm;
    private int highForm;
    private long high;
    private int rangesForm;
    private long ranges;
    private int folderForm;
    private long folder;
    private int nameForm;
    private long name;
    private int splitForm;
    private long split;

    private CodeUnit(CodeFileReader reader, CodeFileReader owner, UnitHeader header)
            throws MalformedInputException {
        this.reader = reader;
        this.owner = owner;
        this.header = header;
        splitId = header.id();
        table = reader.table(header);
        boolean five = header.version() >= 5;
        int wide = header.offsetBytes() == 8 ? 2 : 1;
        // Behind the heads of those sections where nothing says otherwise (DWARF 5, 7.26 to 7.28).
        stringsBase = five ? DWARF_5_HEADER * wide : 0;
        addressBase = five ? DWARF_5_HEADER * wide : 0;
        rangeListsBase = wide == 2 ? 20 : 12;
    }

    /** Reads the first entry. */
    static CodeUnit read(CodeFileReader reader, UnitHeader header) throws MalformedInputException {
        CodeUnit unit = new CodeUnit(reader, reader, header);
        unit.root();
        return unit;
    }

    /** Reads the first entry of what a skeleton unit left out. */
    static CodeUnit readSplit(CodeFileReader reader, UnitHeader header, CodeUnit skeleton)
            throws MalformedInputException {
        CodeUnit unit = new CodeUnit(reader, skeleton.owner, header);
        unit.root();
        unit.addressBase = skeleton.addressBase;
        unit.rangesBase = skeleton.rangesBase;
        unit.lines = skeleton.lines;
        unit.lowPc = skeleton.lowPc;
        unit.folderForm = 0;
        return unit;
    }

    private void root() throws MalformedInputException {
        SectionCursor cursor = reader.peek;
        cursor.seek(header.first());
        if (header.first() == header.end()) {
            return;
        }
        long code = cursor.uleb();
        if (code == 0) {
            return;
        }
        int entry = table.find(cursor, code);
        tag = table.tag(entry);
        hasChildren = table.hasChildren(entry);
        for (int at = AbbreviationTable.first(entry); table.attribute(at) != 0; at++) {
            int form = table.attribute(at) & 0xffff;
            int attribute = table.attribute(at) >>> 16;
            long value;
            if (form == AttributeForms.IMPLICIT_CONST) {
                value = table.constant(at++);
            } else {
                form = AttributeForms.direct(cursor, form);
                value = AttributeForms.value(cursor, form, 0, header);
            }
            set(attribute, form, value);
        }
        children = cursor.position();
        if (lowForm != 0) {
            lowPc = address(lowForm, lowPc);
        }
    }

    private void set(int attribute, int form, long value) {
        switch (attribute) {
            case 0x03 -> {
                nameForm = form;
                name = value;
            }
            case 0x10 -> lines = value; // stmt_list
            case 0x11 -> {
                lowForm = form;
                lowPc = value;
            }
            case 0x12 -> {
                highForm = form;
                high = value;
            }
            case 0x1b -> {
                folderForm = form;
                folder = value;
            }
            case 0x55 -> {
                rangesForm = form;
                ranges = value;
            }
            case 0x72 -> stringsBase = value; // str_offsets_base
            case 0x73, 0x2133 -> addressBase = value; // addr_base, GNU_addr_base
            case 0x74 -> rangeListsBase = value; // rnglists_base
            case 0x2132 -> rangesBase = value; // GNU_ranges_base
            case 0x76, 0x2130 -> { // dwo_name, GNU_dwo_name
                splitForm = form;
                split = value;
            }
            case 0x2131 -> splitId = value; // GNU_dwo_id
            default -> {}
        }
    }

    /** The address that a form and a value stand for. */
    long address(int form, long value) throws MalformedInputException {
        if (!AttributeForms.isAddressIndex(form)) {
            return value;
        }
        SectionCursor addresses = owner.addresses;
        int bytes = header.addressBytes();
        long most = (addresses.size() - addressBase) / bytes;
        if (value < 0 || addressBase < 0 || value >= most) {
            return 0;
        }
        addresses.seek(addressBase + value * bytes);
        return addresses.unsigned(bytes);
    }

    /** The ranges of the unit itself, none where it does not say. */
    void ranges(CodeRanges into) throws MalformedInputException {
        into.clear();
        RangeReader.read(
                this, lowForm == 0 ? NONE : lowPc, highForm, high, rangesForm, ranges, into);
    }

    /**
     * Where a list of {@code .debug_ranges} begins: split units count from their skeleton's base.
     */
    long rangesBase(long value) {
        return reader.equals(owner) ? value : rangesBase + value;
    }

    /** The compiler's working folder. */
    String folder() throws MalformedInputException {
        return folderForm == 0 ? "" : text(folderForm, folder);
    }

    /** The source file that was compiled, without its folder. */
    String name() throws MalformedInputException {
        return nameForm == 0 ? "" : text(nameForm, name);
    }

    /** Whether what it consists of stands in another file. */
    boolean isSkeleton() {
        return splitForm != 0;
    }

    /** The file that has what this skeleton left out. */
    String splitName() throws MalformedInputException {
        return text(splitForm, split);
    }

    /** The text of an attribute of an entry of this unit. */
    String text(int form, long value) throws MalformedInputException {
        return reader.text(form, value, stringsBase, header.offsetBytes(), reader.peek);
    }
}
