package sonde.binary.unwind;

import org.jspecify.annotations.Nullable;
import sonde.binary.unwind.UnwindTable.RowTaker;

/** One kind of tables that a file has. */
interface FrameSource {
    /** The rule at an address as stated in the ELF; null when it has none for it. */
    @Nullable FrameRule find(long address);

    /** Tells all rules, function by function; kinds without a list of functions tell nothing. */
    default void each(RowTaker taker) {}

    /** As {@link #each}, as compact rules of x86-64. */
    default void compact(CompactCfi.RuleRows taker) {}

    /** Functions it knows. */
    int functions();
}
