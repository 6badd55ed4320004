package sonde.sys;

/**
 * What wait4(2) says of a child.
 *
 * @param pid the child
 * @param status the raw status word
 * @param rusage what it used
 */
public record WaitStatus(int pid, int status, Rusage rusage) {
    /** True when it returned from main or called exit. */
    public boolean exited() {
        return (status & 0x7f) == 0;
    }

    /** The exit code, 0 to 255, when {@link #exited}. */
    public int exitCode() {
        return (status >> 8) & 0xff;
    }

    /** True when a signal ended it. */
    public boolean signaled() {
        return (status & 0x7f) != 0 && (status & 0x7f) != 0x7f;
    }

    /** The signal that ended it, when {@link #signaled}. */
    public int signal() {
        return status & 0x7f;
    }

    /** True when a core file was written. */
    public boolean dumpedCore() {
        return signaled() && (status & 0x80) != 0;
    }

    /** True when it only stopped (asked for with WUNTRACED). */
    public boolean stopped() {
        return (status & 0xff) == 0x7f;
    }

    /** What a shell's {@code $?} shows: the code, or 128 + signal. */
    public int shellCode() {
        return signaled() ? 128 + signal() : exitCode();
    }
}
