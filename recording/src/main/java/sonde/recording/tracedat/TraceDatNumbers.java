package sonde.recording.tracedat;

/**
 * Numbers of trace.dat v7; an option has the number of the section it points to. The same numbers
 * stand in v6's option list (trace-cmd.dat.v7.5, "OPTIONS SECTION").
 */
final class TraceDatNumbers {
    static final int DONE = 0;
    static final int DATE = 1;
    static final int CPUSTAT = 2;
    static final int BUFFER = 3;
    static final int TRACECLOCK = 4;
    static final int UNAME = 5;
    static final int HOOK = 6;
    static final int OFFSET = 7;
    static final int CPUCOUNT = 8;
    static final int VERSION = 9;
    static final int PROCMAPS = 10;
    static final int TRACEID = 11;
    static final int TIME_SHIFT = 12;
    static final int GUEST = 13;
    static final int TSC2NSEC = 14;
    static final int STRINGS = 15;
    static final int HEADER_INFO = 16;
    static final int FTRACE_EVENTS = 17;
    static final int EVENT_FORMATS = 18;
    static final int KALLSYMS = 19;
    static final int PRINTK = 20;
    static final int CMDLINES = 21;
    static final int BUFFER_TEXT = 22;
    static final int BTF_FILE = 23;
    static final int LAST_BOOT_INFO = 24;
    static final int MODULES_FILE = 25;

    /** Flag of a section header: the content is compressed. */
    static final int COMPRESSED = 1;

    /** Whether an option of that number points to a section of its own. */
    static boolean isPointer(int id) {
        return id >= HEADER_INFO && id <= CMDLINES || id == BTF_FILE || id == MODULES_FILE;
    }

    private TraceDatNumbers() {}
}
