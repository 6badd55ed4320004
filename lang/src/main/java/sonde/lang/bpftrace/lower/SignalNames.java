package sonde.lang.bpftrace.lower;

import java.util.List;
import java.util.stream.IntStream;

/** Signals as scripts name them, and as signal_name() does. */
final class SignalNames {
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
        String full = name.startsWith("SIG") ? name : "SIG" + name;
        return IntStream.range(1, WORDS.size())
                .filter(number -> sonde.sys.SignalNames.of(number).equals(full))
                .findFirst()
                .orElse(0);
    }
}
