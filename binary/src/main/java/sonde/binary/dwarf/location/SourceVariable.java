package sonde.binary.dwarf.location;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A variable as seen from an address.
 *
 * @param entry of the copy that is seen
 * @param type null for void, and where the debugging information does not say it
 * @param isParameter whether it is a parameter of the function
 * @param location where it is at that address
 * @param ranges where it is somewhere at all; empty for everywhere in its block
 */
public record SourceVariable(
        String name,
        DebugEntry entry,
        @Nullable DebugEntry type,
        boolean isParameter,
        ObjectLocation location,
        List<AddressRange> ranges) {}
