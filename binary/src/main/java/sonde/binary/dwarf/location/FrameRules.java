package sonde.binary.dwarf.location;

import java.util.Optional;

/** Where the frame of a function is at an address: its call frame information (DWARF 5, 6.4). */
public interface FrameRules {
    /** Nothing is known of frames. */
    FrameRules NONE = _ -> Optional.empty();

    /**
     * The canonical frame address, in registers of the function that is running.
     *
     * @param address as stated in the ELF
     * @return empty when there is no rule for this address
     */
    Optional<SymbolicValue> frameAddress(long address);
}
