package sonde.bpf.usdt;

import java.util.List;

/**
 * Where a marker stands.
 *
 * @param fileOffset of the instruction
 * @param semaphore offset in the file of the u16 that says whether anybody listens; 0 for none
 */
public record UsdtLocation(long fileOffset, long semaphore, List<UsdtArgument> arguments) {
    /** Keeps a copy of the list. */
    public UsdtLocation {
        arguments = List.copyOf(arguments);
    }
}
