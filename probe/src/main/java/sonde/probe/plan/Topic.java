package sonde.probe.plan;

import java.util.Locale;

/** A part of the default recording that {@code --no-NAME} leaves out. */
public enum Topic {
    /** Samples of what runs on the CPUs, with call chains. */
    CPU,
    /** Scheduler switches with the stack at switch-out, and wake-ups. */
    SCHED,
    /** Every system call's entry and exit. */
    SYSCALLS,
    /** Block requests: inserted, issued, completed. */
    BLOCK,
    /** Page faults, sampled, with call chains. */
    FAULTS,
    /** Signals: generated, delivered. */
    SIGNALS,
    /** File names and socket addresses, through BPF. */
    NAMES;

    /** The word after {@code --no-}. */
    public String option() {
        return name().toLowerCase(Locale.ROOT);
    }
}
