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

    private SignalNames() {}

    /** 9 for "SIGKILL" or "KILL"; 0 for none. */
    static int number(String name) {
        return Math.max(0, NAMES.indexOf(name.startsWith("SIG") ? name : "SIG" + name));
    }
}
