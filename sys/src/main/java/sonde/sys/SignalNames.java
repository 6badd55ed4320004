package sonde.sys;

/**
 * Names of signals by their numbers on x86 and arm: include/uapi/asm-generic/signal.h of Linux
 * 6.12.
 */
public final class SignalNames {
    private static final String[] NAMES = {
        "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
        "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
        "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
    };

    /** The first of those for programs; glibc keeps the two before it, the kernel's 32 and 33. */
    private static final int SIGRTMIN = 34;

    private static final int SIGRTMAX = 64;

    private SignalNames() {}

    /** {@code SIGCHLD}, {@code SIGRTMIN+3}; the number itself where it has no name. */
    public static String of(long number) {
        if (number >= 1 && number <= NAMES.length) {
            return "SIG" + NAMES[(int) number - 1];
        } else if (number >= SIGRTMIN && number <= SIGRTMAX) {
            return number == SIGRTMIN ? "SIGRTMIN" : "SIGRTMIN+" + (number - SIGRTMIN);
        }
        return Long.toString(number);
    }
}
