package sonde.analysis.sched;

/** What a thread is doing, as far as the scheduler's events tell. */
public enum ThreadState {
    /** On a CPU. */
    RUNNING("running"),
    /** Woken, or just born, and waiting for a CPU. */
    WAITING("waiting for CPU"),
    /** Taken off the CPU while it could have gone on, and waiting for one again. */
    PREEMPTED("preempted"),
    /** Off the CPU until something happens: TASK_INTERRUPTIBLE, also idle and parked kthreads. */
    SLEEPING("sleeping"),
    /** The same without being open to signals: TASK_UNINTERRUPTIBLE, disk and locks mostly. */
    BLOCKED("blocked"),
    /** By SIGSTOP or a debugger. */
    STOPPED("stopped"),
    /** Events were lost, or the recording does not say. */
    UNKNOWN("unknown");

    private static final ThreadState[] VALUES = values();

    private final String label;

    ThreadState(String label) {
        this.label = label;
    }

    /** How it is shown. */
    public String label() {
        return label;
    }

    /** The state of that {@link #ordinal()}. */
    public static ThreadState of(int ordinal) {
        return VALUES[ordinal];
    }
}
