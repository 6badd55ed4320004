package sonde.format.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;

/** A debugging information entry with all its attributes (DWARF 5, 2.1 and 2.2). */
public final class Entry {
    static final long[] NO_LENGTHS = {};
    private static final int MOST_CHILDREN = 1 << 20;
    private static final int MOST_HOPS = 8;

    final EntryUnit unit;
    final EntryShape shape;
    private final long offset;
    private final int[] forms;
    private final long[] values;
    private final long[] lengths;
    private final long next;

    Entry(
            EntryUnit unit,
            long offset,
            EntryShape shape,
            int[] forms,
            long[] values,
            long[] lengths,
            long next) {
        this.unit = unit;
        this.offset = offset;
        this.shape = shape;
        this.forms = forms;
        this.values = values;
        this.lengths = lengths;
        this.next = next;
    }

    /** DW_TAG_*, see {@link Tag}. */
    public int tag() {
        return shape.tag();
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
        return shape.index(attribute) >= 0;
    }

    int form(int attribute) {
        int index = shape.index(attribute);
        return index < 0 ? 0 : forms[index];
    }

    /** The number as it is written. */
    long raw(int attribute) {
        return values[shape.index(attribute)];
    }

    /** A number; sdata is signed, data1 to data8 are not. */
    public long constant(int attribute, long otherwise) {
        int index = shape.index(attribute);
        return index < 0 || Form.isBlock(forms[index]) ? otherwise : values[index];
    }

    /** Whether a flag is set. */
    public boolean flag(int attribute) {
        int index = shape.index(attribute);
        return index >= 0 && values[index] != 0;
    }

    /** The bytes of a block or expression, where they lie; null for none and for other forms. */
    public @Nullable MemorySegment block(int attribute) {
        int index = shape.index(attribute);
        return index < 0 || !Form.isBlock(forms[index])
                ? null
                : unit.section.asSlice(values[index], lengths[index]);
    }

    /** A text; empty for none. */
    public String text(int attribute) throws MalformedInputException {
        int index = shape.index(attribute);
        return index < 0 ? "" : unit.file.text(this, forms[index], values[index]);
    }

    /** The name, or that of the entry that this one completes; empty for none. */
    public String name() throws MalformedInputException {
        Entry named = withOwn(Attribute.NAME);
        return named == null ? "" : named.text(Attribute.NAME);
    }

    /** The symbol, where the language has one that differs from the name; empty for none. */
    public String linkageName() throws MalformedInputException {
        for (int attribute : new int[] {Attribute.LINKAGE_NAME, Attribute.MIPS_LINKAGE_NAME}) {
            Entry named = withOwn(attribute);
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
    public @Nullable Entry withOwn(int attribute) throws MalformedInputException {
        Entry at = this;
        for (int hops = 0; at != null && hops < MOST_HOPS; hops++) {
            if (at.has(attribute)) {
                return at;
            }
            at = at.completed();
        }
        return null;
    }

    /** What this one completes; null for nothing. */
    @Nullable Entry completed() throws MalformedInputException {
        Entry origin = reference(Attribute.ABSTRACT_ORIGIN);
        return origin == null ? reference(Attribute.SPECIFICATION) : origin;
    }

    /** The last of the chain of entries that this one completes: itself for most. */
    public Entry original() throws MalformedInputException {
        Entry at = this;
        for (int hops = 0; hops < MOST_HOPS; hops++) {
            Entry origin = at.completed();
            if (origin == null) {
                return at;
            }
            at = origin;
        }
        return at;
    }

    /** Another entry; null for none, and where the file that has it is not there. */
    public @Nullable Entry reference(int attribute) throws MalformedInputException {
        int index = shape.index(attribute);
        return index < 0 ? null : unit.file.refer(unit, forms[index], values[index]);
    }

    /** What it is of, DW_AT_type; null for void. */
    public @Nullable Entry type() throws MalformedInputException {
        Entry typed = withOwn(Attribute.TYPE);
        Entry type = typed == null ? null : typed.reference(Attribute.TYPE);
        Entry whole = type == null ? null : type.reference(Attribute.SIGNATURE);
        return whole == null ? type : whole;
    }

    /** An address as stated in the ELF; empty for none, and for an index without its table. */
    public OptionalLong address(int attribute) throws MalformedInputException {
        int index = shape.index(attribute);
        return index < 0
                ? OptionalLong.empty()
                : unit.file.address(unit, forms[index], values[index]);
    }

    /** The code it stands for: DW_AT_ranges, or DW_AT_low_pc and DW_AT_high_pc. */
    public List<AddressRange> ranges() throws MalformedInputException {
        if (has(Attribute.RANGES)) {
            return unit.file.ranges().of(this);
        }
        OptionalLong low = address(Attribute.LOW_PC);
        int high = shape.index(Attribute.HIGH_PC);
        if (low.isEmpty() || high < 0) {
            return List.of();
        }
        long start = low.getAsLong();
        OptionalLong end = OptionalLong.of(start + values[high]);
        if (!Form.isConstant(forms[high])) {
            end = unit.file.address(unit, forms[high], values[high]);
        }
        return end.isEmpty() || Long.compareUnsigned(end.getAsLong(), start) <= 0
                ? List.of()
                : List.of(new AddressRange(start, end.getAsLong()));
    }

    /** What it contains, one level deep; empty for a list that is damaged from its start. */
    public List<Entry> children() throws MalformedInputException {
        List<Entry> children = new ArrayList<>();
        if (!shape.hasChildren()) {
            return children;
        }
        EntryCursor cursor = unit.cursor(next);
        while (cursor.hasMore()) {
            Entry child = unit.read(cursor);
            if (child == null) {
                break;
            }
            if (children.size() >= MOST_CHILDREN) {
                throw cursor.malformed("too many children");
            }
            children.add(child);
            cursor.seek(child.behind());
        }
        return children;
    }

    boolean hasChildren() {
        return shape.hasChildren();
    }

    long next() {
        return next;
    }

    /** Offset behind this entry and all it contains. */
    long behind() throws MalformedInputException {
        if (!shape.hasChildren()) {
            return next;
        }
        if (shape.sibling() >= 0) {
            long sibling = unit.offset + values[shape.sibling()];
            if (sibling > next && sibling <= unit.end()) {
                return sibling;
            }
        }
        EntryCursor cursor = unit.cursor(next);
        int depth = 1;
        while (depth > 0 && cursor.hasMore()) {
            Entry one = unit.read(cursor);
            if (one == null) {
                depth--;
            } else if (one.shape.hasChildren()) {
                long sibling =
                        one.shape.sibling() < 0 ? 0 : unit.offset + one.values[one.shape.sibling()];
                if (sibling > one.next && sibling <= unit.end()) {
                    cursor.seek(sibling);
                } else {
                    depth++;
                }
            }
        }
        return cursor.position();
    }

    /** Whether both are the same entry of one file. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Entry that
                && offset == that.offset
                && unit.section.equals(that.unit.section);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(offset);
    }

    @Override
    public String toString() {
        return "entry 0x%x of tag 0x%x".formatted(offset, shape.tag());
    }
}
