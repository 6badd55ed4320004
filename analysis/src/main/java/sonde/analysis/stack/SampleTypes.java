package sonde.analysis.stack;

import java.util.List;
import java.util.Set;
import sonde.event.EventType;

/** Which event types are samples, and of what. */
public final class SampleTypes {
    /** System of samples that count, of whatever the recording's own tool sampled. */
    public static final String PROFILE = "profile";

    /** A caller and a callee of a profile without longer chains; they weigh the inclusive cost. */
    public static final String CALL = "callgrind:call";

    /** As perf spells the clocks and cycles of a CPU, modifiers behind. */
    private static final List<String> CLOCKS =
            List.of(
                    "cpu-clock",
                    "task-clock",
                    "cycles",
                    "cpu-cycles",
                    "cpu_core/cycles",
                    "cpu_atom/cycles",
                    "cpu/cycles");

    private static final List<String> FAULTS =
            List.of("page-faults", "faults", "minor-faults", "major-faults");

    /**
     * JFR's types for threads that ran. {@code NativeMethodSample} also has threads that wait in a
     * call.
     */
    private static final Set<String> JAVA_CPU =
            Set.of("jdk:ExecutionSample", "jdk:CPUTimeSample", "jdk:CPUTimeExecutionSample");

    /** Others whose rows are samples with a chain. */
    private static final Set<String> OTHERS =
            Set.of(
                    "jdk:NativeMethodSample",
                    "jdk:ObjectAllocationSample",
                    "jdk:ObjectAllocationInNewTLAB",
                    "jdk:ObjectAllocationOutsideTLAB",
                    "heap:alloc");

    private SampleTypes() {}

    /**
     * Whether samples are of running threads: clocks and cycles in every spelling, a profile's own
     * count.
     */
    public static boolean isCpu(EventType type) {
        return type.system().equals(PROFILE)
                || JAVA_CPU.contains(type.qualifiedName())
                || type.system().equals("perf")
                        && CLOCKS.stream().anyMatch(type.name()::startsWith);
    }

    /** Whether samples are page faults. */
    public static boolean isFault(EventType type) {
        return type.system().equals("perf") && FAULTS.stream().anyMatch(type.name()::startsWith);
    }

    /** Whether rows are samples of any kind. */
    public static boolean isSample(EventType type) {
        return isCpu(type) || type.system().equals("perf") || OTHERS.contains(type.qualifiedName());
    }

    /** Whether rows count as many as their weight says. */
    public static boolean isWeighed(EventType type) {
        return isSample(type) || type.qualifiedName().equals(CALL);
    }
}
