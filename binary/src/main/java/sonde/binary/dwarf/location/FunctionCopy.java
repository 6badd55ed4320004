package sonde.binary.dwarf.location;

import java.util.List;

/**
 * Code of a function: its own, or a place where it was inlined.
 *
 * @param entry of the copy
 * @param entryAddress where it is entered, as stated in the ELF
 */
public record FunctionCopy(DebugEntry entry, long entryAddress, List<AddressRange> ranges) {
    /** Whether it is inside another function. */
    public boolean isInlined() {
        return entry.tag() == DwarfTag.INLINED_SUBROUTINE;
    }
}
