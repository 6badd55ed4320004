package sonde.format.dwarf.location;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;

/**
 * A unit of {@code .debug_info} or {@code .debug_types} (DWARF 5, 7.5.1) and what its first entry
 * says for all others. Not safe for several threads.
 */
public final class EntryUnit {
    static final int COMPILE = 1;
    static final int TYPE = 2;
    static final int SKELETON = 4;
    static final int SPLIT_COMPILE = 5;
    static final int SPLIT_TYPE = 6;

    final Entries file;
    final MemorySegment section;
    final long offset;
    final int offsetBytes;
    final int type;
    final long typeOffset;
    final long signature;
    private final long first;
    private final long end;
    private final int version;
    private final int addressBytes;
    private final long abbreviations;
    private EntryShape.@Nullable Table shapes;
    private @Nullable Entry root;

    /** Reads the header at an offset. */
    EntryUnit(Entries file, MemorySegment section, long offset, boolean types)
            throws MalformedInputException {
        this.file = file;
        this.section = section;
        this.offset = offset;
        EntryCursor cursor = new EntryCursor(section, file.order(), offset, Long.MAX_VALUE);
        long length = cursor.u32();
        boolean wide = length == 0xffff_ffffL;
        offsetBytes = wide ? 8 : 4;
        length = wide ? cursor.u64() : length;
        if (length < 0 || length > cursor.end() - cursor.position()) {
            throw cursor.malformed("a unit of " + length + " bytes");
        }
        end = cursor.position() + length;
        version = cursor.u16();
        if (version < 2 || version > 5) {
            throw cursor.malformed("version " + version);
        }
        if (version >= 5) {
            type = cursor.u8();
            addressBytes = cursor.u8();
            abbreviations = cursor.unsigned(offsetBytes);
        } else {
            type = types ? TYPE : COMPILE;
            abbreviations = cursor.unsigned(offsetBytes);
            addressBytes = cursor.u8();
        }
        if (addressBytes != 2 && addressBytes != 4 && addressBytes != 8) {
            throw cursor.malformed("addresses of " + addressBytes + " bytes");
        }
        switch (type) {
            case TYPE, SPLIT_TYPE -> {
                signature = cursor.u64();
                typeOffset = cursor.unsigned(offsetBytes);
            }
            case SKELETON, SPLIT_COMPILE -> {
                signature = cursor.u64(); // dwo_id
                typeOffset = 0;
            }
            default -> {
                signature = 0;
                typeOffset = 0;
            }
        }
        first = cursor.position();
    }

    /** 2 to 5. */
    public int version() {
        return version;
    }

    /** Bytes of an address: 2, 4 or 8. */
    public int addressBytes() {
        return addressBytes;
    }

    /** DW_LANG_*, 0 when it is not said. */
    public int language() throws MalformedInputException {
        return (int) root().constant(Attribute.LANGUAGE, 0);
    }

    /** The source file that was compiled. */
    public String name() throws MalformedInputException {
        return root().text(Attribute.NAME);
    }

    /** The folder in which the compiler ran. */
    public String folder() throws MalformedInputException {
        return base().text(Attribute.COMP_DIR);
    }

    long first() {
        return first;
    }

    long end() {
        return end;
    }

    int offsetBytes() {
        return offsetBytes;
    }

    boolean isType() {
        return type == TYPE || type == SPLIT_TYPE;
    }

    EntryShape.Table shapes() throws MalformedInputException {
        EntryShape.Table known = shapes;
        if (known == null) {
            known = file.shapes(abbreviations);
            shapes = known;
        }
        return known;
    }

    /** The entry that all others are in. */
    public Entry root() throws MalformedInputException {
        Entry known = root;
        if (known == null) {
            known = entry(first);
            if (known == null) {
                throw new MalformedInputException("DWARF", "unit", offset, "it has no entries");
            }
            root = known;
        }
        return known;
    }

    /** The entry that tells of addresses and lines: for a split unit that of its skeleton. */
    Entry base() throws MalformedInputException {
        Entry skeleton = file.skeleton(this);
        return skeleton == null ? root() : skeleton;
    }

    /** The entry at an offset of the section; null for the mark that ends a list. */
    @Nullable Entry entry(long at) throws MalformedInputException {
        if (at < first) {
            throw new MalformedInputException("DWARF", "entry", at, "outside its unit");
        }
        return read(new EntryCursor(section, file.order(), at, end));
    }

    /** A cursor over this unit's entries. */
    EntryCursor cursor(long at) throws MalformedInputException {
        return new EntryCursor(section, file.order(), at, end);
    }

    /** The entry where a cursor stands, which then is behind it. */
    @Nullable Entry read(EntryCursor cursor) throws MalformedInputException {
        long at = cursor.position();
        long code = cursor.uleb();
        if (code == 0) {
            return null;
        }
        EntryShape shape = shapes().find(code);
        if (shape == null) {
            throw cursor.malformed("there is no abbreviation " + code);
        }
        int count = shape.forms().length;
        long[] values = new long[count];
        int[] forms = shape.forms();
        long[] lengths = shape.hasBlocks() ? new long[count] : Entry.NO_LENGTHS;
        for (int i = 0; i < count; i++) {
            int form = forms[i];
            if (form == Form.INDIRECT) {
                form = Form.direct(cursor);
                forms = forms.clone();
                forms[i] = form;
            }
            if (form == Form.IMPLICIT_CONST) {
                values[i] = shape.values()[i];
            } else if (Form.isBlock(form)) {
                lengths[i] = Form.blockBytes(cursor, form);
                values[i] = cursor.position();
                cursor.skip(lengths[i]);
            } else {
                values[i] = Form.value(cursor, form, this);
            }
        }
        return new Entry(this, at, shape, forms, values, lengths, cursor.position());
    }
}
