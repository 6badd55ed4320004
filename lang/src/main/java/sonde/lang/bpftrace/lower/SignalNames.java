package sonde.lang.bpftrace.lower;

import java.util.List;

/** Signals by name and number (x86-64 and arm64: arch-independent uapi/asm-generic/signal.h). */
final class SignalNames {
    static final List<String> NAMES =
            List.of(
                    "",
                    "SIGHUP",
                    "SIGINT",
                    "SIGQUIT",
                    "SIGILL",
                    "SIGTRAP",
                    "SIGABRT",
                    "SIGBUS",
                    "SIGFPE",
                    "SIGKILL",
                    "SIGUSR1",
                    "SIGSEGV",
                    "SIGUSR2",
                    "SIGPIPE",
                    "SIGALRM",
                    "SIGTERM",
                    "SIGSTKFLT",
                    "SIGCHLD",
                    "SIGCONT",
                    "SIGSTOP",
                    "SIGTSTP",
                    "SIGTTIN",
                    "SIGTTOU",
                    "SIGURG",
                    "SIGXCPU",
                    "SIGXFSZ",
                    "SIGVTALRM",
                    "SIGPROF",
                    "SIGWINCH",
                    "SIGIO",
                    "SIGPWR",
                    "SIGSYS");

    /** What strsignal(3) calls them. */
    static final List<String> WORDS =
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

    /** 9 for "SIGKILL" or "KILL"; 0 for none. */
    static int number(String name) {
        return Math.max(0, NAMES.indexOf(name.startsWith("SIG") ? name : "SIG" + name));
    }
}
