package sonde.sys;

import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.stream.IntStream;

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

    /** What strsignal(3) says of each, by number; the last is SIGSYS. */
    public static final List<String> MEANINGS =
            List.of(
                    "Unknown signal 0",
                    "Hangup",
                    "Interrupt",
                    "Quit",
                    "Illegal instruction",
                    "Trace/breakpoint trap",
                    "Aborted",
                    "Bus error",
                    "Floating point exception",
                    "Killed",
                    "User defined signal 1",
                    "Segmentation fault",
                    "User defined signal 2",
                    "Broken pipe",
                    "Alarm clock",
                    "Terminated",
                    "Stack fault",
                    "Child exited",
                    "Continued",
                    "Stopped (signal)",
                    "Stopped",
                    "Stopped (tty input)",
                    "Stopped (tty output)",
                    "Urgent I/O condition",
                    "CPU time limit exceeded",
                    "File size limit exceeded",
                    "Virtual timer expired",
                    "Profiling timer expired",
                    "Window changed",
                    "I/O possible",
                    "Power failure",
                    "Bad system call");

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

    /** The number of {@code SIGKILL}, spelled so; 0 for none, and for those without a name. */
    public static int numbered(String name) {
        for (int number = 1; number <= NAMES.length; number++) {
            if (of(number).equals(name)) {
                return number;
            }
        }
        return 0;
    }

    /** The number of {@code KILL}, {@code sigkill}, {@code RTMIN+3} or {@code 9}. */
    public static OptionalInt number(String word) {
        if (word.matches("[0-9]{1,2}")) {
            int number = Integer.parseInt(word);
            return number <= SIGRTMAX ? OptionalInt.of(number) : OptionalInt.empty();
        }
        String upper = word.toUpperCase(Locale.ROOT);
        String name = upper.startsWith("SIG") ? upper : "SIG" + upper;
        return IntStream.rangeClosed(1, SIGRTMAX)
                .filter(number -> of(number).equals(name))
                .findFirst();
    }
}
