package sonde.format.unwind;

import org.jspecify.annotations.Nullable;

/** One kind of tables that a file has. */
interface FrameSource {
    /** The rule at an address as stated in the ELF; null when it has none for it. */
    @Nullable FrameRule find(long address);

    /** Functions it knows. */
    int functions();
}
