package sonde.format.dwarf;

import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.Abbreviations.Abbreviation;

/** Reads entries: attributes (DWARF 5, 7.5.4) by their forms (7.5.5 and 7.5.6). */
final class DieReader {
    static final int STRP = 0x0e;
    static final int STRING = 0x08;
    static final int LINE_STRP = 0x1f;
    static final int REF_ADDR = 0x10;
    static final int REF_SIG8 = 0x20;
    private static final int INDIRECT = 0x16;

    private final Unit unit;
    private final Abbreviations abbreviations;
    private final ByteOrder order;
    private final Widths widths;

    DieReader(Unit unit, Abbreviations abbreviations, ByteOrder order) {
        this.unit = unit;
        this.abbreviations = abbreviations;
        this.order = order;
        widths = new Widths(unit.offsetBytes(), unit.addressBytes(), unit.version());
    }

    /** Whether a form is an index of {@code .debug_str_offsets}. */
    static boolean isIndex(int form) {
        return form == 0x1a || form >= 0x25 && form <= 0x28 || form == 0x1f02;
    }

    private static boolean isBlock(int form) {
        return form == 0x03 || form == 0x04 || form == 0x09 || form == 0x0a || form == 0x18;
    }

    /** The entry at an offset of the section; null for the one that ends a list of children. */
    @Nullable Die read(long offset) throws MalformedInputException {
        if (offset < unit.first()) {
            throw new MalformedInputException("DWARF", "entry", offset, "outside its unit");
        }
        DwarfCursor cursor = new DwarfCursor(unit.section(), order, offset, unit.end());
        long code = cursor.uleb();
        if (code == 0) {
            return null;
        }
        Abbreviation made = abbreviations.find(cursor, code);
        Die die = new Die(unit, offset, made.tag(), made.hasChildren());
        for (int i = 0; i < made.forms().length; i++) {
            int form = made.forms()[i];
            for (int hops = 0; form == INDIRECT; hops++) {
                form = (int) cursor.uleb();
                if (hops > 4) {
                    throw cursor.malformed("forms that lead nowhere");
                }
            }
            long start = cursor.position();
            long value = value(cursor, form, made.values()[i], widths);
            int attribute = made.attributes()[i];
            if (isBlock(form)) {
                // Where a member lies may be a program; C's is one addition.
                if (attribute == 0x38) {
                    die.location = addition(cursor, form, start);
                }
            } else {
                set(die, attribute, form, value);
            }
        }
        die.next = cursor.position();
        return die;
    }

    private static void set(Die die, int attribute, int form, long value) {
        switch (attribute) {
            case 0x01 -> die.sibling = die.unit.offset() + value;
            case 0x03 -> {
                die.nameForm = form;
                die.name = value;
            }
            case 0x6e, 0x2007 -> {
                die.linkageForm = form;
                die.linkageName = value;
            }
            case 0x76, 0x2130 -> {
                die.dwoForm = form;
                die.dwoName = value;
            }
            case 0x1b -> {
                die.folderForm = form;
                die.folder = value;
            }
            case 0x49 -> {
                die.typeForm = form;
                die.type = value;
            }
            case 0x31, 0x47 -> {
                die.originForm = form;
                die.origin = value;
            }
            case 0x69 -> {
                die.signatureForm = form;
                die.signature = value;
            }
            case 0x3c -> die.declaration = value != 0;
            case 0x0b -> die.sizeBytes = value;
            case 0x0d -> die.bits = value;
            case 0x0c -> die.bitOffset = value;
            case 0x6b -> die.dataBitOffset = value;
            case 0x38 -> die.location = value;
            case 0x3e -> die.encoding = value;
            case 0x2f -> die.upperBound = value;
            case 0x37 -> die.count = value;
            case 0x1c -> die.constant = value;
            case 0x72 -> die.stringOffsets = value;
            case 0x10 -> die.lines = value;
            default -> {}
        }
    }

    /** How wide the numbers of a unit or table are. */
    record Widths(int offsetBytes, int addressBytes, int version) {}

    /** A number, an offset, an index; of a text in place where it begins. */
    static long value(DwarfCursor cursor, int form, long implicit, Widths widths)
            throws MalformedInputException {
        switch (form) {
            case 0x01 -> {
                return cursor.unsigned(widths.addressBytes()); // addr
            }
            case 0x03 -> cursor.skip(cursor.u16()); // block2
            case 0x04 -> cursor.skip(cursor.u32()); // block4
            case 0x0a -> cursor.skip(cursor.u8()); // block1
            case 0x09, 0x18 -> cursor.skip(cursor.uleb()); // block, exprloc
            case STRING -> {
                long from = cursor.position();
                cursor.skipText();
                return from;
            }
            // Of fixed size without a sign: compilers write negative ones as sdata.
            case 0x0b -> {
                return cursor.u8(); // data1
            }
            case 0x05 -> {
                return cursor.u16(); // data2
            }
            case 0x06 -> {
                return cursor.u32(); // data4
            }
            case 0x07, 0x20, 0x14, 0x24 -> {
                return cursor.u64(); // data8, ref_sig8, ref8, ref_sup8
            }
            case 0x1e -> cursor.skip(16); // data16
            case 0x0c, 0x11, 0x25, 0x29 -> {
                return cursor.u8(); // flag, ref1, strx1, addrx1
            }
            case 0x12, 0x26, 0x2a -> {
                return cursor.u16(); // ref2, strx2, addrx2
            }
            case 0x27, 0x2b -> {
                return cursor.u24(); // strx3, addrx3
            }
            case 0x13, 0x1c, 0x28, 0x2c -> {
                return cursor.u32(); // ref4, ref_sup4, strx4, addrx4
            }
            case 0x0d -> {
                return cursor.sleb(); // sdata
            }
            case 0x0f, 0x15, 0x1a, 0x1b, 0x22, 0x23, 0x1f01, 0x1f02 -> {
                // udata, ref_udata, strx, addrx, loclistx, rnglistx, GNU_addr_index, GNU_str_index
                return cursor.uleb();
            }
            case STRP, LINE_STRP, 0x17, 0x1d, 0x1f20, 0x1f21 -> {
                // also sec_offset, strp_sup, GNU_ref_alt, GNU_strp_alt
                return cursor.offset(widths.offsetBytes());
            }
            case REF_ADDR -> {
                boolean old = widths.version() == 2;
                return cursor.unsigned(old ? widths.addressBytes() : widths.offsetBytes());
            }
            case 0x19 -> {
                return 1; // flag_present
            }
            case 0x21 -> {
                return implicit; // implicit_const
            }
            default -> throw cursor.malformed("form 0x" + Integer.toHexString(form));
        }
        return 0;
    }

    /** The operand of a lone DW_OP_plus_uconst or DW_OP_constu. */
    private long addition(DwarfCursor cursor, int form, long start) throws MalformedInputException {
        long end = cursor.position();
        cursor.seek(start);
        switch (form) {
            case 0x03 -> cursor.u16();
            case 0x04 -> cursor.u32();
            case 0x0a -> cursor.u8();
            default -> cursor.uleb();
        }
        int operation = cursor.position() < end ? cursor.u8() : 0;
        long value = operation == 0x23 || operation == 0x10 ? cursor.uleb() : Die.NONE;
        cursor.seek(end);
        return value;
    }
}
