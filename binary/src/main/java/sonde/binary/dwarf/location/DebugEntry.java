package sonde.binary.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.AbbreviationTable;
import sonde.binary.dwarf.section.AttributeForms;
import sonde.binary.dwarf.section.SectionCursor;

/** A debugging information entry with all its attributes (DWARF 5, 2.1 and 2.2). */
public final class DebugEntry {
    static final long[] NO_LENGTHS = {};

    /** Stands for the forms of an entry without DW_FORM_indirect. */
    static final int[] AS_STATED = {};

    private static final int[] SYMBOLS = {
        DwarfAttribute.LINKAGE_NAME, DwarfAttribute.MIPS_LINKAGE_NAME
    };
    private static final int[] NAMES = {
        DwarfAttribute.NAME, DwarfAttribute.LINKAGE_NAME, DwarfAttribute.MIPS_LINKAGE_NAME
    };
    private static final int MOST_CHILDREN = 1 << 20;
    private static final int MOST_HOPS = 8;

    final EntryUnit unit;
    private final int abbreviation;
    private final long offset;
    private final int[] forms;
    private final long[] values;
    private final long[] lengths;
    private final long next;

    /**
     * @param abbreviation its abbreviation in the table of the unit
     * @param forms for DW_FORM_indirect, by index of the attribute; else empty
     * @param values by index; of a block where it begins in the section
     * @param lengths of blocks, by index; empty for an entry without
     */
    DebugEntry(
            EntryUnit unit,
            long offset,
            int abbreviation,
            int[] forms,
            long[] values,
            long[] lengths,
            long next) {
        this.unit = unit;
        this.offset = offset;
        this.abbreviation = abbreviation;
        this.forms = forms;
        this.values = values;
        this.lengths = lengths;
        this.next = next;
    }

    private AbbreviationTable table() {
        return unit.knownAbbreviations();
    }

    private int index(int attribute) {
        return table().index(abbreviation, attribute);
    }

    private int formAt(int index) {
        int stated = table().attribute(AbbreviationTable.first(abbreviation) + index) & 0xffff;
        return stated == AttributeForms.INDIRECT ? forms[index] : stated;
    }

    /** DW_TAG_*, see {@link DwarfTag}. */
    public int tag() {
        return table().tag(abbreviation);
    }

    /** From the start of its section. */
    public long offset() {
        return offset;
    }

    /** The unit that it is in. */
    public EntryUnit unit() {
        return unit;
    }

    /** Whether an attribute is there, on this very entry. */
    public boolean has(int attribute) {
        return index(attribute) >= 0;
    }

    int form(int attribute) {
        int index = index(attribute);
        return index < 0 ? 0 : formAt(index);
    }

    /** The number as it is written. */
    long raw(int attribute) {
        return values[index(attribute)];
    }

    /** A number; sdata is signed, data1 to data8 are not. */
    public long constant(int attribute, long otherwise) {
        int index = index(attribute);
        return index < 0 || AttributeForms.isBlock(formAt(index)) ? otherwise : values[index];
    }

    /** Whether a flag is set. */
    public boolean flag(int attribute) {
        int index = index(attribute);
        return index >= 0 && values[index] != 0;
    }

    /** The bytes of a block or expression, where they lie; null for none and for other forms. */
    public @Nullable MemorySegment block(int attribute) {
        int index = index(attribute);
        return index < 0 || !AttributeForms.isBlock(formAt(index))
                ? null
                : unit.section.asSlice(values[index], lengths[index]);
    }

    /** A text; empty for none. */
    public String text(int attribute) throws MalformedInputException {
        int index = index(attribute);
        return index < 0 ? "" : unit.file.text(unit, formAt(index), values[index]);
    }

    /** The name, or that of the entry that this one completes; empty for none. */
    public String name() throws MalformedInputException {
        DebugEntry named = withOwn(DwarfAttribute.NAME);
        return named == null ? "" : named.text(DwarfAttribute.NAME);
    }

    /** The file that a skeleton unit left its entries to; empty for what is none. */
    public String splitName() throws MalformedInputException {
        return text(
                has(DwarfAttribute.GNU_DWO_NAME)
                        ? DwarfAttribute.GNU_DWO_NAME
                        : DwarfAttribute.DWO_NAME);
    }

    /** The symbol, where the language has one that differs from the name; empty for none. */
    public String linkageName() throws MalformedInputException {
        for (int attribute : SYMBOLS) {
            DebugEntry named = withOwn(attribute);
            if (named != null) {
                return named.text(attribute);
            }
        }
        return "";
    }

    /**
     * This entry, or the first of those that it completes (DW_AT_abstract_origin,
     * DW_AT_specification) that has an attribute.
     */
    public @Nullable DebugEntry withOwn(int attribute) throws MalformedInputException {
        DebugEntry at = this;
        for (int hops = 0; at != null && hops < MOST_HOPS; hops++) {
            if (at.has(attribute)) {
                return at;
            }
            at = at.completed();
        }
        return null;
    }

    /** What this one completes; null for nothing. */
    @Nullable DebugEntry completed() throws MalformedInputException {
        DebugEntry origin = reference(DwarfAttribute.ABSTRACT_ORIGIN);
        return origin == null ? reference(DwarfAttribute.SPECIFICATION) : origin;
    }

    /** The last of the chain of entries that this one completes: itself for most. */
    public DebugEntry original() throws MalformedInputException {
        DebugEntry at = this;
        for (int hops = 0; hops < MOST_HOPS; hops++) {
            DebugEntry origin = at.completed();
            if (origin == null) {
                return at;
            }
            at = origin;
        }
        return at;
    }

    /** Another entry; null for none, and where the file that has it is not there. */
    public @Nullable DebugEntry reference(int attribute) throws MalformedInputException {
        int index = index(attribute);
        return index < 0 ? null : unit.file.refer(unit, formAt(index), values[index]);
    }

    /** What it is of, DW_AT_type; null for void. */
    public @Nullable DebugEntry type() throws MalformedInputException {
        DebugEntry typed = withOwn(DwarfAttribute.TYPE);
        DebugEntry type = typed == null ? null : typed.reference(DwarfAttribute.TYPE);
        DebugEntry whole = type == null ? null : type.reference(DwarfAttribute.SIGNATURE);
        return whole == null ? type : whole;
    }

    /** An address as stated in the ELF; empty for none, and for an index without its table. */
    public OptionalLong address(int attribute) throws MalformedInputException {
        int index = index(attribute);
        return index < 0
                ? OptionalLong.empty()
                : unit.file.address(unit, formAt(index), values[index]);
    }

    /** The code it stands for: DW_AT_ranges, or DW_AT_low_pc and DW_AT_high_pc. */
    public List<AddressRange> ranges() throws MalformedInputException {
        if (has(DwarfAttribute.RANGES)) {
            return unit.file.ranges().of(this);
        }
        OptionalLong low = address(DwarfAttribute.LOW_PC);
        int high = index(DwarfAttribute.HIGH_PC);
        if (low.isEmpty() || high < 0) {
            return List.of();
        }
        long start = low.getAsLong();
        OptionalLong end = OptionalLong.of(start + values[high]);
        if (!AttributeForms.isConstant(formAt(high))) {
            end = unit.file.address(unit, formAt(high), values[high]);
        }
        return end.isEmpty() || Long.compareUnsigned(end.getAsLong(), start) <= 0
                ? List.of()
                : List.of(new AddressRange(start, end.getAsLong()));
    }

    /** What it contains, one level deep; empty for a list that is damaged from its start. */
    public List<DebugEntry> children() throws MalformedInputException {
        List<DebugEntry> children = new ArrayList<>();
        eachChild(child -> {
            if (children.size() >= MOST_CHILDREN) {
                throw new MalformedInputException("DWARF", "entry", offset, "too many children");
            }
            return children.add(child);
        });
        return children;
    }

    /** Takes entries one after the other. */
    public interface EntryTaker {
        /** Whether to go on. */
        boolean take(DebugEntry entry) throws MalformedInputException;
    }

    /** Gives what it contains, one level deep. */
    public void eachChild(EntryTaker taker) throws MalformedInputException {
        if (!hasChildren()) {
            return;
        }
        SectionCursor cursor = unit.cursor(next);
        while (cursor.hasMore()) {
            DebugEntry child = unit.read(cursor);
            if (child == null || !taker.take(child)) {
                return;
            }
            cursor.seek(child.behind());
        }
    }

    boolean hasChildren() {
        return table().hasChildren(abbreviation);
    }

    long next() {
        return next;
    }

    /** Offset of the next entry beside this one, as DW_AT_sibling has it; 0 where it does not. */
    private long sibling() {
        int index = index(DwarfAttribute.SIBLING);
        if (index < 0 || !AttributeForms.isLocal(formAt(index))) {
            return 0;
        }
        long sibling = unit.offset + values[index];
        return sibling > next && sibling <= unit.end() ? sibling : 0;
    }

    /** Offset behind this entry and all it contains. */
    long behind() throws MalformedInputException {
        if (!hasChildren()) {
            return next;
        }
        long stated = sibling();
        if (stated > 0) {
            return stated;
        }
        SectionCursor cursor = unit.cursor(next);
        int depth = 1;
        while (depth > 0 && cursor.hasMore()) {
            DebugEntry one = unit.read(cursor);
            if (one == null) {
                depth--;
            } else if (one.hasChildren()) {
                long sibling = one.sibling();
                if (sibling > 0) {
                    cursor.seek(sibling);
                } else {
                    depth++;
                }
            }
        }
        return cursor.position();
    }

    /** Whether a name or symbol, of this entry or one that it completes, is those bytes. */
    public boolean isNamed(byte[] wanted) throws MalformedInputException {
        DebugEntry at = this;
        for (int hops = 0; at != null && hops < MOST_HOPS; hops++) {
            for (int attribute : NAMES) {
                int index = at.index(attribute);
                if (index >= 0
                        && at.unit.file.isText(at, at.formAt(index), at.values[index], wanted)) {
                    return true;
                }
            }
            at = at.completed();
        }
        return false;
    }

    /** Whether both are the same entry of one file. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof DebugEntry that
                && offset == that.offset
                && unit.section.equals(that.unit.section);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(offset);
    }

    @Override
    public String toString() {
        return "entry 0x%x of tag 0x%x".formatted(offset, tag());
    }
}
