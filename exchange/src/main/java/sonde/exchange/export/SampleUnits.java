package sonde.exchange.export;

import java.util.Set;

/** What the weights of samples count, by the names of their types. */
public final class SampleUnits {
    /** Times. */
    public static final String NANOSECONDS = "nanoseconds";

    /** Sizes. */
    public static final String BYTES = "bytes";

    /** Anything else. */
    public static final String COUNT = "count";

    private static final Set<String> CLOCKS = Set.of("cpu-clock", "task-clock");

    /** Types of profiles of threads that ran. */
    private static final Set<String> RUNNING = Set.of("cpu", "wall", "ExecutionSample");

    private SampleUnits() {}

    /** Without perf's modifiers: {@code cpu-clock:HG}. */
    private static String plain(String type) {
        return type.replaceFirst(":[A-Za-z]+$", "");
    }

    /** Whether perf's clock of a CPU or a task. */
    static boolean isClock(String type) {
        return CLOCKS.contains(plain(type));
    }

    /** Whether samples say where time goes: what is looked at first. */
    static boolean isOfTime(String type) {
        return isClock(type) || RUNNING.contains(type) || type.contains("cycles");
    }

    /** The unit of the weights of a type, by its name. */
    public static String unit(String type) {
        return switch (plain(type)) {
            case "cpu-clock", "task-clock", "cpu", "wall" -> NANOSECONDS;
            case "heap", "bytes" -> BYTES;
            default -> COUNT;
        };
    }
}
