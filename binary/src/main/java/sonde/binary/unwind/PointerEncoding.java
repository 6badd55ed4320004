package sonde.binary.unwind;

import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.SectionCursor;

/** DW_EH_PE_*: how a pointer lies in {@code .eh_frame} (LSB Core 5.0, 10.5). */
record PointerEncoding(int wordBytes, long sectionAddress, long textAddress, long dataAddress) {
    static final int ABSOLUTE = 0;
    static final int OMIT = 0xff;
    private static final int ALIGNED = 0x50;
    private static final int INDIRECT = 0x80;
    private static final int FORM = 0x0f;
    private static final int PLACE = 0x70;

    /**
     * Reads a pointer.
     *
     * @param encoding as the CIE states it
     * @param function start of the function, of which DW_EH_PE_funcrel counts
     * @throws MalformedInputException for unknown forms, and for pointers that lie elsewhere
     */
    long pointer(SectionCursor in, int encoding, long function) throws MalformedInputException {
        if ((encoding & INDIRECT) != 0) {
            throw in.malformed("an indirect address");
        }
        if (encoding == ALIGNED) {
            align(in);
            return in.unsigned(wordBytes);
        }
        long place = sectionAddress + in.position();
        long value = value(in, encoding);
        long base =
                switch (encoding & PLACE) {
                    case 0 -> 0;
                    case 0x10 -> place;
                    case 0x20 -> textAddress;
                    case 0x30 -> dataAddress;
                    case 0x40 -> function;
                    default -> throw in.malformed("pointer encoding " + encoding);
                };
        return narrow(value + base);
    }

    /** The number as it lies, without what it counts from: sizes of functions. */
    long value(SectionCursor in, int encoding) throws MalformedInputException {
        return switch (encoding & FORM) {
            case 0 -> in.unsigned(wordBytes);
            case 1 -> in.uleb();
            case 2 -> in.u16();
            case 3 -> in.u32();
            case 4, 0xc -> in.u64();
            case 8 -> wordBytes == 8 ? in.u64() : in.signed(4);
            case 9 -> in.sleb();
            case 0xa -> in.signed(2);
            case 0xb -> in.signed(4);
            default -> throw in.malformed("pointer encoding " + encoding);
        };
    }

    /** Goes behind a pointer that nobody needs. */
    void skip(SectionCursor in, int encoding) throws MalformedInputException {
        if (encoding == OMIT) {
            return;
        }
        if (encoding == ALIGNED) {
            align(in);
            in.unsigned(wordBytes);
        } else {
            value(in, encoding);
        }
    }

    private void align(SectionCursor in) throws MalformedInputException {
        in.skip(-(sectionAddress + in.position()) & wordBytes - 1L);
    }

    private long narrow(long address) {
        return wordBytes == 4 ? address & 0xffff_ffffL : address;
    }
}
