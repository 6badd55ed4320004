package sonde.lang.bpftrace.lower;

import java.util.List;
import sonde.lang.ir.LoadTimeConstant;

/** What a portable program wants to know of the kernel and the run that it is loaded for. */
public sealed interface PortableReference extends LoadTimeConstant {
    /** What is asked of a member. */
    enum MemberAspect {
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
    record MemberReference(
            String structure, boolean union, List<String> path, MemberAspect aspect, int leastBytes)
            implements PortableReference {
        public MemberReference {
            path = List.copyOf(path);
        }
    }

    /** Bytes of a structure of the kernel. */
    record SizeReference(String structure, boolean union) implements PortableReference {}

    /**
     * A field of a tracepoint's record.
     *
     * @param leastBytes it must have; 0 where it may be smaller
     */
    record EventField(
            String subsystem, String event, String field, MemberAspect aspect, int leastBytes)
            implements PortableReference {}

    /** Where the context keeps an argument of a function, or {@code "$retval"}. */
    record ArgumentReference(String module, String function, String name)
            implements PortableReference {}

    /** Where the context keeps an argument of a raw tracepoint. */
    record EventArgument(String event, String name) implements PortableReference {}

    /** The address of a symbol of the kernel. */
    record SymbolReference(String name) implements PortableReference {}

    /** A variable of the kernel: its address is put in by the kernel itself. */
    record VariableReference(String name) implements PortableReference {}

    /** The number of a control group. */
    record ControlGroup(String path) implements PortableReference {}

    /** The value of an option of the script, of 64 bits. */
    record OptionReference(String name) implements PortableReference {}

    /** A fact of the run. */
    record RunReference(RunFact fact) implements PortableReference {}

    /** What a run is like. */
    enum RunFact {
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
