package sonde.event;

/** What the times of a source count. Names are those of tracefs {@code trace_clock}. */
public enum Clock {
    /** CLOCK_MONOTONIC in nanoseconds. */
    MONO("mono"),
    /** CLOCK_MONOTONIC_RAW in nanoseconds. */
    MONO_RAW("mono_raw"),
    /** CLOCK_BOOTTIME in nanoseconds. */
    BOOT("boot"),
    /** CLOCK_TAI in nanoseconds. */
    TAI("tai"),
    /** CLOCK_REALTIME in nanoseconds. */
    REALTIME("realtime"),
    /** sched_clock of each CPU, nanoseconds; CPUs may differ. */
    LOCAL("local"),
    /** sched_clock made monotonic over CPUs, nanoseconds. */
    GLOBAL("global"),
    /** perf's clock (local_clock), nanoseconds. */
    PERF("perf"),
    /** jiffies since boot turned to nanoseconds. */
    UPTIME("uptime"),
    /** A plain count, one per event. */
    COUNTER("counter"),
    /** Cycles of the x86 time stamp counter. */
    X86_TSC("x86-tsc"),
    /** Anything else. */
    UNKNOWN("unknown");

    private final String kernelName;

    Clock(String kernelName) {
        this.kernelName = kernelName;
    }

    /** The name in {@code trace_clock}. */
    public String kernelName() {
        return kernelName;
    }

    /** The clock of that {@code trace_clock} name; {@link #UNKNOWN} when none has it. */
    public static Clock named(String kernelName) {
        for (Clock clock : values()) {
            if (clock.kernelName.equals(kernelName)) {
                return clock;
            }
        }
        return UNKNOWN;
    }

    /** Whether times are nanoseconds. */
    public boolean isNanos() {
        return this != COUNTER && this != X86_TSC && this != UNKNOWN;
    }
}
