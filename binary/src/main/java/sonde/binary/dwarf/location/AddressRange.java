package sonde.binary.dwarf.location;

import java.util.List;

/**
 * Addresses as stated in the ELF.
 *
 * @param end behind the last one
 */
public record AddressRange(long start, long end) {
    /** Whether an address is one of them. */
    public boolean contains(long address) {
        return Long.compareUnsigned(address, start) >= 0 && Long.compareUnsigned(address, end) < 0;
    }

    /** Whether an address is in one of many. */
    public static boolean anyContains(List<AddressRange> ranges, long address) {
        for (AddressRange range : ranges) {
            if (range.contains(address)) {
                return true;
            }
        }
        return false;
    }
}
