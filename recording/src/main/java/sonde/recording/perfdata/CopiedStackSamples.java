package sonde.recording.perfdata;

import java.util.function.Supplier;

/**
 * Samples that may have registers and a piece of the stack of user mode. What is set here holds for
 * lanes that are made from then on.
 */
public interface CopiedStackSamples {
    /** Whether any sample has them. */
    boolean hasUserStacks();

    /**
     * Has the call chains of such samples completed.
     *
     * @param maker is asked once for each lane
     */
    void userStacks(Supplier<CopiedStackUnwinder> maker);

    /** Leaves call chains as they were recorded. */
    void recordedStacks();

    /**
     * Whether samples have the fields that must be put together: copying a piece of stack takes
     * longer than unwinding it. Without them such samples have an empty payload; tracepoints have
     * theirs. They are there until somebody says otherwise.
     */
    void sampleFields(boolean wanted);
}
