package sonde.binary.dwarf.code;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.AbbreviationTable;
import sonde.binary.dwarf.section.AttributeForms;
import sonde.binary.dwarf.section.SectionCursor;
import sonde.binary.dwarf.section.UnitHeader;

/** Names of functions: an entry often only says which other one it completes (DWARF 5, 2.13). */
final class NameReader {
    /** Entries that lead from one to the next. */
    private static final int MOST_HOPS = 16;

    /** Characters of the names that are kept: many entries may have one long name. */
    private static final int MOST_KEPT = 1 << 24;

    private final CodeFileReader reader;
    private final Map<Long, String> known = new HashMap<>();
    private int kept;

    private @Nullable UnitHeader lastUnit;
    private long lastBase;

    private int form;
    private long value;
    private long next;

    NameReader(CodeFileReader reader) {
        this.reader = reader;
    }

    /** The linkage name, or else the name, of the entry at a place; empty for none. */
    String name(long place) throws MalformedInputException {
        if (place == CodeUnit.NONE) {
            return "";
        }
        String name = known.get(place);
        if (name == null) {
            name = find(place);
            if (kept > MOST_KEPT) {
                known.clear();
                kept = 0;
            }
            known.put(place, name);
            kept += name.length() + 1;
        }
        return name;
    }

    private String find(long place) throws MalformedInputException {
        CodeFileReader at = reader;
        long entry = place;
        String plain = "";
        for (int hops = 0; hops < MOST_HOPS && entry != CodeUnit.NONE; hops++) {
            if ((entry & UnitCode.IN_SUPPLEMENT) != 0) {
                at = at.supplement();
                entry &= ~UnitCode.IN_SUPPLEMENT;
            }
            UnitHeader unit = at == null ? null : at.headerAt(entry);
            if (at == null || unit == null) {
                break;
            }
            boolean linked = read(at, unit, entry);
            if (form != 0 && (linked || plain.isEmpty())) {
                long base = AttributeForms.isStringIndex(form) ? stringsBase(at, unit) : 0;
                plain = at.text(form, value, base, unit.offsetBytes(), at.peek);
                if (linked) {
                    return plain;
                }
            }
            entry = next;
        }
        return plain;
    }

    /** Reads an entry; whether the name it has is that of linking. */
    private boolean read(CodeFileReader at, UnitHeader unit, long entry)
            throws MalformedInputException {
        form = 0;
        next = CodeUnit.NONE;
        boolean linked = false;
        AbbreviationTable table = at.table(unit);
        SectionCursor cursor = at.peek;
        cursor.seek(entry);
        long code = cursor.uleb();
        if (code == 0) {
            return false;
        }
        int made = table.find(cursor, code);
        for (int i = AbbreviationTable.first(made); table.attribute(i) != 0; i++) {
            int one = table.attribute(i) & 0xffff;
            int attribute = table.attribute(i) >>> 16;
            long number;
            if (one == AttributeForms.IMPLICIT_CONST) {
                number = table.constant(i++);
            } else {
                one = AttributeForms.direct(cursor, one);
                number = AttributeForms.value(cursor, one, 0, unit);
            }
            switch (attribute) {
                case 0x03 -> {
                    if (!linked) {
                        form = one;
                        value = number;
                    }
                }
                case 0x6e, 0x2007 -> { // linkage_name, MIPS_linkage_name
                    linked = true;
                    form = one;
                    value = number;
                }
                case 0x31, 0x47 -> next = target(one, number, unit.offset());
                default -> {}
            }
        }
        return linked;
    }

    private long stringsBase(CodeFileReader at, UnitHeader unit) throws MalformedInputException {
        UnitHeader last = lastUnit;
        if (last == null || last.offset() != unit.offset()) {
            lastBase = CodeUnit.read(at, unit).stringsBase;
            lastUnit = unit;
        }
        return lastBase;
    }

    /** Where a reference leads, as a name of {@link UnitCode} says it. */
    static long target(int form, long value, long unitOffset) {
        if (AttributeForms.isLocal(form)) {
            return unitOffset + value;
        }
        if (form == AttributeForms.REF_ADDR) {
            return value;
        }
        return AttributeForms.isSupplement(form) && value >= 0
                ? value | UnitCode.IN_SUPPLEMENT
                : CodeUnit.NONE;
    }
}
