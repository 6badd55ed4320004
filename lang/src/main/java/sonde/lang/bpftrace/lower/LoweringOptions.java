package sonde.lang.bpftrace.lower;

import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.lang.type.StructType;

/**
 * How scripts are lowered.
 *
 * @param stackLimit objects up to so many bytes lie on the stack
 * @param mapEntries keys of a map that does not say
 * @param cpus CPUs that there can be
 * @param helperErrors whether failures of helpers are told
 * @param startNanos the boot clock when tracing began
 * @param taiOffsetNanos from the boot clock to the international atomic time
 * @param child the process that was started; 0 for none
 * @param pidSpaceDevice of the tracer's name space of processes
 * @param pidSpaceInode its inode; 0 when it is the first one
 * @param clockMap a map without keys that time series take their time from; empty for the clock
 * @param portable which structures are the kernel's, where programs are to run on other kernels:
 *     then what differs is put in when they are loaded; null for programs of this run
 * @param copiedStacks processes whose stacks are copied; empty for all
 * @param process the only one that is looked at, where the kernel does not choose; 0 for all
 */
public record LoweringOptions(
        int stackLimit,
        int mapEntries,
        int cpus,
        boolean helperErrors,
        long startNanos,
        long taiOffsetNanos,
        int child,
        long pidSpaceDevice,
        long pidSpaceInode,
        int process,
        Set<Integer> copiedStacks,
        String clockMap,
        @Nullable Predicate<StructType> portable) {
    /** For any machine; which structures are the kernel's. */
    public LoweringOptions portable(Predicate<StructType> kernel) {
        return new LoweringOptions(
                stackLimit,
                mapEntries,
                cpus,
                helperErrors,
                startNanos,
                taiOffsetNanos,
                child,
                pidSpaceDevice,
                pidSpaceInode,
                process,
                Set.of(), // who runs it says
                clockMap,
                kernel);
    }
}
