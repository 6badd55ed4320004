package sonde.binary.dwarf.code;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.AbbreviationTable;
import sonde.binary.dwarf.section.AttributeForms;
import sonde.binary.dwarf.section.SectionCursor;

/**
 * Goes through the entries of a unit for functions and inlined calls (DWARF 5, 3.3). Where only
 * some addresses are wanted, what does not hold one is passed over.
 */
final class UnitDecoder {
    private static final int MOST_DEPTH = 1 << 16;

    private final CodeUnit unit;
    private final CodeLayout layout;
    private final UnitCode code;
    private final long @Nullable [] wanted;
    private final boolean thorough;
    private final SectionCursor cursor;
    private final AbbreviationTable table;
    private final CodeRanges ranges = new CodeRanges();

    /** The node that holds the entries of a depth. */
    private int[] owners = new int[64];

    /** Entries deeper than this lie in a function without a wanted address; 0 for none. */
    private int muted;

    private long low;
    private int lowForm;
    private long high;
    private int highForm;
    private long list;
    private int listForm;
    private long origin;
    private long sibling;
    private int callFile;
    private int callLine;
    private int callColumn;

    /**
     * @param wanted ascending; null for all
     * @param thorough whether to look into what can hold code only in theory
     */
    UnitDecoder(
            CodeUnit unit,
            CodeLayout layout,
            UnitCode code,
            long @Nullable [] wanted,
            boolean thorough) {
        this.unit = unit;
        this.layout = layout;
        this.code = code;
        this.wanted = wanted;
        this.thorough = thorough;
        cursor = unit.reader.entries;
        table = unit.table;
    }

    void decode() throws MalformedInputException {
        if (!unit.hasChildren) {
            return;
        }
        long end = unit.header.end();
        cursor.seek(unit.children);
        int depth = 1;
        owners[1] = UnitCode.NONE;
        while (depth > 0 && cursor.position() < end) {
            long entry = cursor.position();
            long number = cursor.uleb();
            if (number == 0) {
                depth--;
                if (depth < muted) {
                    muted = 0;
                }
                continue;
            }
            int made = table.find(cursor, number);
            int owner = owners[depth];
            int kind = table.kind(made);
            boolean into;
            if (kind == AbbreviationTable.FUNCTION || kind == AbbreviationTable.INLINED) {
                attributes(made);
                int node =
                        kind == AbbreviationTable.FUNCTION
                                ? function(entry)
                                : muted > 0 ? UnitCode.NONE : inlined(entry, owner);
                into = node != UnitCode.NONE;
                owner = into ? node : owner;
            } else {
                sibling = table.skip(cursor, made);
                into = kind == AbbreviationTable.SCOPE && muted == 0;
            }
            if (table.hasChildren(made) && !passOver(into)) {
                depth = deeper(depth, owner, into || kind != AbbreviationTable.FUNCTION);
            }
        }
    }

    private int deeper(int depth, int owner, boolean heard) throws MalformedInputException {
        int below = depth + 1;
        if (below >= MOST_DEPTH) {
            throw cursor.malformed("entries too deep in each other");
        }
        if (below == owners.length) {
            owners = Arrays.copyOf(owners, 2 * below);
        }
        owners[below] = owner;
        if (!heard && muted == 0) {
            muted = below;
        }
        return below;
    }

    /** Goes behind the children when they are not needed and it is known where they end. */
    private boolean passOver(boolean needed) throws MalformedInputException {
        if (needed || thorough || sibling == 0) {
            return false;
        }
        long behind = unit.header.offset() + sibling;
        if (behind <= cursor.position() || behind > unit.header.end()) {
            return false;
        }
        cursor.seek(behind);
        return true;
    }

    private void attributes(int made) throws MalformedInputException {
        lowForm = 0;
        highForm = 0;
        listForm = 0;
        origin = CodeUnit.NONE;
        sibling = 0;
        callFile = UnitCode.NONE;
        callLine = 0;
        callColumn = 0;
        for (int at = AbbreviationTable.first(made); table.attribute(at) != 0; at++) {
            int form = table.attribute(at) & 0xffff;
            int attribute = table.attribute(at) >>> 16;
            long value;
            if (form == AttributeForms.IMPLICIT_CONST) {
                value = table.constant(at++);
            } else {
                form = AttributeForms.direct(cursor, form);
                value = AttributeForms.value(cursor, form, 0, unit.header);
            }
            switch (attribute) {
                case 0x01 -> sibling = AttributeForms.isLocal(form) ? value : 0;
                case 0x11 -> {
                    lowForm = form;
                    low = value;
                }
                case 0x12 -> {
                    highForm = form;
                    high = value;
                }
                case 0x31 -> origin = NameReader.target(form, value, unit.header.offset());
                case 0x55 -> {
                    listForm = form;
                    list = value;
                }
                case 0x57 -> callColumn = number(value);
                case 0x58 -> callFile = number(value);
                case 0x59 -> callLine = number(value);
                default -> {}
            }
        }
    }

    private static int number(long value) {
        return value < 0 || value > Integer.MAX_VALUE ? 0 : (int) value;
    }

    /** Reads the ranges of the entry; one that is malformed has none. */
    private void ranges() {
        ranges.clear();
        try {
            long start = lowForm == 0 ? CodeUnit.NONE : unit.address(lowForm, low);
            RangeReader.read(unit, start, highForm, high, listForm, list, ranges);
        } catch (MalformedInputException e) {
            ranges.clear();
        }
    }

    private boolean isWanted(long start, long end) {
        if (wanted == null) {
            return true;
        }
        int at = Arrays.binarySearch(wanted, start);
        at = at < 0 ? -at - 1 : at;
        return at < wanted.length && Long.compareUnsigned(wanted[at], end) < 0;
    }

    private int function(long entry) throws MalformedInputException {
        if (lowForm == 0 && listForm == 0) {
            return UnitCode.NONE;
        }
        ranges();
        boolean held = false;
        for (int i = 0; i < ranges.count() && !held; i++) {
            held = layout.isCode(ranges.start(i)) && isWanted(ranges.start(i), ranges.end(i));
        }
        if (!held) {
            return UnitCode.NONE;
        }
        muted = 0;
        int node = code.node(UnitCode.NONE, entry);
        for (int i = 0; i < ranges.count(); i++) {
            if (layout.isCode(ranges.start(i))) {
                code.intervals.add(ranges.start(i), ranges.end(i), node);
            }
        }
        return node;
    }

    private int inlined(long entry, int owner) throws MalformedInputException {
        ranges();
        boolean held = false;
        for (int i = 0; i < ranges.count() && !held; i++) {
            held = isWanted(ranges.start(i), ranges.end(i));
        }
        if (!held || owner == UnitCode.NONE) {
            return UnitCode.NONE;
        }
        int node = code.node(owner, origin == CodeUnit.NONE ? entry : origin);
        code.call(node, callFile, callLine, callColumn);
        for (int i = 0; i < ranges.count(); i++) {
            code.intervals.add(ranges.start(i), ranges.end(i), node);
        }
        return node;
    }
}
