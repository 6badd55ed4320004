package sonde.lang.probes;

import java.util.List;
import sonde.bpf.usdt.UsdtLocation;
import sonde.lang.probes.AttachPoint.Kind;

/**
 * One place that a program is attached to, found on this machine.
 *
 * <p>{@link #name} is what the builtin {@code probe} shows, {@link #function} what {@code func}
 * shows where that is known before anything runs, else empty.
 */
public sealed interface Probe {
    /** What kind it is. */
    Kind kind();

    /** {@code "tracepoint:sched:sched_switch"}, or the name that the script gives it. */
    String name();

    /** {@code "vfs_read"}; empty where it has none. */
    default String function() {
        return "";
    }

    /**
     * Run by the tracer: begin, end, self, test, bench.
     *
     * @param word the signal, or the name of the test or bench; empty for begin and end
     */
    record TracerProbe(Kind kind, String name, String word) implements Probe {}

    /**
     * A clock: {@link Kind#INTERVAL} on one CPU, {@link Kind#PROFILE} on each.
     *
     * @param nanos from one run to the next; 0 where it has a rate
     * @param hertz runs a second; 0 where it has a period
     */
    record TimerProbe(Kind kind, String name, long nanos, long hertz) implements Probe {}

    /**
     * A counter that overflows.
     *
     * @param type PERF_TYPE_*
     * @param config of that type
     * @param count events from one run to the next
     */
    record PerfEventProbe(Kind kind, String name, int type, long config, long count)
            implements Probe {}

    /** A tracepoint, with the arguments of its format file. */
    record TracepointProbe(String name, String subsystem, String event) implements Probe {
        @Override
        public Kind kind() {
            return Kind.TRACEPOINT;
        }
    }

    /**
     * A tracepoint, with the arguments of the kernel's code.
     *
     * @param module {@code "vmlinux"} for the kernel itself
     * @param btfId of its typedef {@code btf_trace_EVENT} in the module's types; 0 where unknown
     */
    record RawTracepoint(String name, String module, String event, int btfId) implements Probe {
        @Override
        public Kind kind() {
            return Kind.RAWTRACEPOINT;
        }
    }

    /**
     * An instruction of the kernel, or the return of a function.
     *
     * @param module as the script states it, empty for none
     * @param function empty where there is an address
     */
    record KernelProbe(
            Kind kind, String name, String module, String function, long offset, long address)
            implements Probe {}

    /**
     * The begin or end of a function, with types.
     *
     * @param module {@code "vmlinux"} for the kernel itself; empty in a program
     * @param btfId of the function in the types of the module or program
     * @param program number of the BPF program it is in; 0 for the kernel
     */
    record FentryProbe(
            Kind kind, String name, String module, String function, int btfId, int program)
            implements Probe {}

    /**
     * An instruction of a file, or the return of a function.
     *
     * @param path for opening it
     * @param function its symbol, empty where there is none
     * @param offset from the symbol
     * @param fileOffset where the instruction lies in the file
     */
    record UserProbe(
            Kind kind, String name, String path, String function, long offset, long fileOffset)
            implements Probe {}

    /**
     * A marker; one of a name may stand at several locations.
     *
     * @param marker its name without the provider
     */
    record UsdtProbe(
            String name, String path, String provider, String marker, List<UsdtLocation> locations)
            implements Probe {
        public UsdtProbe {
            locations = List.copyOf(locations);
        }

        @Override
        public Kind kind() {
            return Kind.USDT;
        }

        @Override
        public String function() {
            return marker;
        }

        /** Whether the arguments are found the same way at all locations. */
        public boolean isUniform() {
            return locations.stream().map(UsdtLocation::arguments).distinct().count() <= 1;
        }
    }

    /**
     * Memory that is accessed.
     *
     * @param mode letters of {@code rwx}, sorted
     */
    record WatchpointProbe(String name, long address, int length, String mode) implements Probe {
        @Override
        public Kind kind() {
            return Kind.WATCHPOINT;
        }
    }

    /**
     * Objects of the kernel.
     *
     * @param iterator {@code "task_file"}
     * @param pin path below a bpffs, empty for none
     * @param btfId of the function {@code bpf_iter_NAME} in the kernel's types
     */
    record IteratorProbe(String name, String iterator, String pin, int btfId) implements Probe {
        @Override
        public Kind kind() {
            return Kind.ITER;
        }
    }
}
