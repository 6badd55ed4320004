package sonde.lang.bpftrace.lower;

import java.util.List;
import sonde.lang.ir.Wanted;

/** What a portable program wants to know of the kernel and the run that it is loaded for. */
public sealed interface Reference extends Wanted {
    /** What is asked of a member. */
    enum Aspect {
        /** Bytes from the start of the structure. */
        OFFSET,
        /** Bytes that are read for it. */
        SIZE,
        /** How far its 64 bits are shifted up, so that its highest bit is the highest. */
        LEFT,
        /** How far they are shifted down afterwards. */
        RIGHT
    }

    /**
     * A member of a structure of the kernel.
     *
     * @param path names from the structure on; behind the first those of structures without a name
     * @param leastBytes it must have; 0 where it may be smaller
     */
    record Member(String structure, boolean union, List<String> path, Aspect aspect, int leastBytes)
            implements Reference {
        public Member {
            path = List.copyOf(path);
        }
    }

    /** Bytes of a structure of the kernel. */
    record Size(String structure, boolean union) implements Reference {}

    /**
     * A field of a tracepoint's record.
     *
     * @param leastBytes it must have; 0 where it may be smaller
     */
    record EventField(String subsystem, String event, String field, Aspect aspect, int leastBytes)
            implements Reference {}

    /** Where the context keeps an argument of a function, or {@code "$retval"}. */
    record Argument(String module, String function, String name) implements Reference {}

    /** Where the context keeps an argument of a raw tracepoint. */
    record EventArgument(String event, String name) implements Reference {}

    /** The address of a symbol of the kernel. */
    record Symbol(String name) implements Reference {}

    /** A variable of the kernel: its address is put in by the kernel itself. */
    record Variable(String name) implements Reference {}

    /** The number of a control group. */
    record ControlGroup(String path) implements Reference {}

    /** The value of an option of the script, of 64 bits. */
    record Option(String name) implements Reference {}

    /** A fact of the run. */
    record Run(Fact fact) implements Reference {}

    /** What a run is like. */
    enum Fact {
        /** CPUs that there can be. */
        CPUS,
        /** The power of two above the highest CPU, less one. */
        CPU_MASK,
        /** Bytes of the memory of all programs together, for one CPU. */
        FRAME_BYTES,
        /** The boot clock when tracing began. */
        START_NANOS,
        /** From the boot clock to the international atomic time. */
        TAI_OFFSET_NANOS,
        /** The process of {@code -c}; 0 for none. */
        CHILD,
        /** The process of {@code -p}; 0 for all. */
        PROCESS,
        /** Device of the tracer's name space of processes. */
        PID_SPACE_DEVICE,
        /** Its inode; 0 when it is the first one. */
        PID_SPACE_INODE
    }
}
