package sonde.recording.perfdata;

/**
 * Numbers of the perf interface, spelled as in the kernel: include/uapi/linux/perf_event.h (6.18)
 * and, for records that only tools write, tools/lib/perf/include/perf/event.h.
 */
public final class PerfAbi {
    // attr.type
    public static final int PERF_TYPE_HARDWARE = 0;
    public static final int PERF_TYPE_SOFTWARE = 1;
    public static final int PERF_TYPE_TRACEPOINT = 2;
    public static final int PERF_TYPE_HW_CACHE = 3;
    public static final int PERF_TYPE_RAW = 4;
    public static final int PERF_TYPE_BREAKPOINT = 5;

    // attr.config of PERF_TYPE_HARDWARE
    public static final int PERF_COUNT_HW_CPU_CYCLES = 0;

    // attr.config of PERF_TYPE_SOFTWARE
    public static final int PERF_COUNT_SW_CPU_CLOCK = 0;
    public static final int PERF_COUNT_SW_TASK_CLOCK = 1;
    public static final int PERF_COUNT_SW_PAGE_FAULTS = 2;
    public static final int PERF_COUNT_SW_PAGE_FAULTS_MIN = 5;
    public static final int PERF_COUNT_SW_PAGE_FAULTS_MAJ = 6;
    public static final int PERF_COUNT_SW_DUMMY = 9;
    public static final int PERF_COUNT_SW_BPF_OUTPUT = 10;

    // attr.sample_type
    public static final long PERF_SAMPLE_IP = 1L << 0;
    public static final long PERF_SAMPLE_TID = 1L << 1;
    public static final long PERF_SAMPLE_TIME = 1L << 2;
    public static final long PERF_SAMPLE_ADDR = 1L << 3;
    public static final long PERF_SAMPLE_READ = 1L << 4;
    public static final long PERF_SAMPLE_CALLCHAIN = 1L << 5;
    public static final long PERF_SAMPLE_ID = 1L << 6;
    public static final long PERF_SAMPLE_CPU = 1L << 7;
    public static final long PERF_SAMPLE_PERIOD = 1L << 8;
    public static final long PERF_SAMPLE_STREAM_ID = 1L << 9;
    public static final long PERF_SAMPLE_RAW = 1L << 10;
    public static final long PERF_SAMPLE_BRANCH_STACK = 1L << 11;
    public static final long PERF_SAMPLE_REGS_USER = 1L << 12;
    public static final long PERF_SAMPLE_STACK_USER = 1L << 13;
    public static final long PERF_SAMPLE_WEIGHT = 1L << 14;
    public static final long PERF_SAMPLE_DATA_SRC = 1L << 15;
    public static final long PERF_SAMPLE_IDENTIFIER = 1L << 16;
    public static final long PERF_SAMPLE_TRANSACTION = 1L << 17;
    public static final long PERF_SAMPLE_REGS_INTR = 1L << 18;
    public static final long PERF_SAMPLE_PHYS_ADDR = 1L << 19;
    public static final long PERF_SAMPLE_AUX = 1L << 20;
    public static final long PERF_SAMPLE_CGROUP = 1L << 21;
    public static final long PERF_SAMPLE_DATA_PAGE_SIZE = 1L << 22;
    public static final long PERF_SAMPLE_CODE_PAGE_SIZE = 1L << 23;
    public static final long PERF_SAMPLE_WEIGHT_STRUCT = 1L << 24;

    // attr.read_format
    public static final long PERF_FORMAT_TOTAL_TIME_ENABLED = 1L << 0;
    public static final long PERF_FORMAT_TOTAL_TIME_RUNNING = 1L << 1;
    public static final long PERF_FORMAT_ID = 1L << 2;
    public static final long PERF_FORMAT_GROUP = 1L << 3;
    public static final long PERF_FORMAT_LOST = 1L << 4;

    // attr.branch_sample_type
    public static final long PERF_SAMPLE_BRANCH_USER = 1L << 0;
    public static final long PERF_SAMPLE_BRANCH_KERNEL = 1L << 1;
    public static final long PERF_SAMPLE_BRANCH_HV = 1L << 2;
    public static final long PERF_SAMPLE_BRANCH_ANY = 1L << 3;
    public static final long PERF_SAMPLE_BRANCH_ANY_CALL = 1L << 4;
    public static final long PERF_SAMPLE_BRANCH_ANY_RETURN = 1L << 5;
    public static final long PERF_SAMPLE_BRANCH_IND_CALL = 1L << 6;
    public static final long PERF_SAMPLE_BRANCH_ABORT_TX = 1L << 7;
    public static final long PERF_SAMPLE_BRANCH_IN_TX = 1L << 8;
    public static final long PERF_SAMPLE_BRANCH_NO_TX = 1L << 9;
    public static final long PERF_SAMPLE_BRANCH_COND = 1L << 10;
    public static final long PERF_SAMPLE_BRANCH_CALL_STACK = 1L << 11;
    public static final long PERF_SAMPLE_BRANCH_IND_JUMP = 1L << 12;
    public static final long PERF_SAMPLE_BRANCH_CALL = 1L << 13;
    public static final long PERF_SAMPLE_BRANCH_NO_FLAGS = 1L << 14;
    public static final long PERF_SAMPLE_BRANCH_NO_CYCLES = 1L << 15;
    public static final long PERF_SAMPLE_BRANCH_TYPE_SAVE = 1L << 16;
    public static final long PERF_SAMPLE_BRANCH_HW_INDEX = 1L << 17;
    public static final long PERF_SAMPLE_BRANCH_PRIV_SAVE = 1L << 18;
    public static final long PERF_SAMPLE_BRANCH_COUNTERS = 1L << 19;

    // flag bits of attr, counted from the first bit field
    public static final long FLAG_DISABLED = 1L << 0;
    public static final long FLAG_INHERIT = 1L << 1;
    public static final long FLAG_PINNED = 1L << 2;
    public static final long FLAG_EXCLUSIVE = 1L << 3;
    public static final long FLAG_EXCLUDE_USER = 1L << 4;
    public static final long FLAG_EXCLUDE_KERNEL = 1L << 5;
    public static final long FLAG_EXCLUDE_HV = 1L << 6;
    public static final long FLAG_EXCLUDE_IDLE = 1L << 7;
    public static final long FLAG_MMAP = 1L << 8;
    public static final long FLAG_COMM = 1L << 9;
    public static final long FLAG_FREQ = 1L << 10;
    public static final long FLAG_INHERIT_STAT = 1L << 11;
    public static final long FLAG_ENABLE_ON_EXEC = 1L << 12;
    public static final long FLAG_TASK = 1L << 13;
    public static final long FLAG_WATERMARK = 1L << 14;
    public static final long FLAG_PRECISE_IP = 3L << 15;
    public static final long FLAG_MMAP_DATA = 1L << 17;
    public static final long FLAG_SAMPLE_ID_ALL = 1L << 18;
    public static final long FLAG_EXCLUDE_HOST = 1L << 19;
    public static final long FLAG_EXCLUDE_GUEST = 1L << 20;
    public static final long FLAG_EXCLUDE_CALLCHAIN_KERNEL = 1L << 21;
    public static final long FLAG_EXCLUDE_CALLCHAIN_USER = 1L << 22;
    public static final long FLAG_MMAP2 = 1L << 23;
    public static final long FLAG_COMM_EXEC = 1L << 24;
    public static final long FLAG_USE_CLOCKID = 1L << 25;
    public static final long FLAG_CONTEXT_SWITCH = 1L << 26;
    public static final long FLAG_WRITE_BACKWARD = 1L << 27;
    public static final long FLAG_NAMESPACES = 1L << 28;
    public static final long FLAG_KSYMBOL = 1L << 29;
    public static final long FLAG_BPF_EVENT = 1L << 30;
    public static final long FLAG_AUX_OUTPUT = 1L << 31;
    public static final long FLAG_CGROUP = 1L << 32;
    public static final long FLAG_TEXT_POKE = 1L << 33;
    public static final long FLAG_BUILD_ID = 1L << 34;
    public static final long FLAG_INHERIT_THREAD = 1L << 35;
    public static final long FLAG_REMOVE_ON_EXEC = 1L << 36;
    public static final long FLAG_SIGTRAP = 1L << 37;
    public static final long FLAG_DEFER_CALLCHAIN = 1L << 38;
    public static final long FLAG_DEFER_OUTPUT = 1L << 39;

    // header.misc
    public static final int PERF_RECORD_MISC_CPUMODE_MASK = 7;
    public static final int PERF_RECORD_MISC_KERNEL = 1;
    public static final int PERF_RECORD_MISC_USER = 2;
    public static final int PERF_RECORD_MISC_HYPERVISOR = 3;
    public static final int PERF_RECORD_MISC_GUEST_KERNEL = 4;
    public static final int PERF_RECORD_MISC_GUEST_USER = 5;
    public static final int PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT = 1 << 12;
    public static final int PERF_RECORD_MISC_MMAP_DATA = 1 << 13;
    public static final int PERF_RECORD_MISC_COMM_EXEC = 1 << 13;
    public static final int PERF_RECORD_MISC_SWITCH_OUT = 1 << 13;
    public static final int PERF_RECORD_MISC_EXACT_IP = 1 << 14;
    public static final int PERF_RECORD_MISC_SWITCH_OUT_PREEMPT = 1 << 14;
    public static final int PERF_RECORD_MISC_MMAP_BUILD_ID = 1 << 14;
    public static final int PERF_RECORD_MISC_EXT_RESERVED = 1 << 15;

    // header.type, made by the kernel
    public static final int PERF_RECORD_MMAP = 1;
    public static final int PERF_RECORD_LOST = 2;
    public static final int PERF_RECORD_COMM = 3;
    public static final int PERF_RECORD_EXIT = 4;
    public static final int PERF_RECORD_THROTTLE = 5;
    public static final int PERF_RECORD_UNTHROTTLE = 6;
    public static final int PERF_RECORD_FORK = 7;
    public static final int PERF_RECORD_READ = 8;
    public static final int PERF_RECORD_SAMPLE = 9;
    public static final int PERF_RECORD_MMAP2 = 10;
    public static final int PERF_RECORD_AUX = 11;
    public static final int PERF_RECORD_ITRACE_START = 12;
    public static final int PERF_RECORD_LOST_SAMPLES = 13;
    public static final int PERF_RECORD_SWITCH = 14;
    public static final int PERF_RECORD_SWITCH_CPU_WIDE = 15;
    public static final int PERF_RECORD_NAMESPACES = 16;
    public static final int PERF_RECORD_KSYMBOL = 17;
    public static final int PERF_RECORD_BPF_EVENT = 18;
    public static final int PERF_RECORD_CGROUP = 19;
    public static final int PERF_RECORD_TEXT_POKE = 20;
    public static final int PERF_RECORD_AUX_OUTPUT_HW_ID = 21;
    public static final int PERF_RECORD_CALLCHAIN_DEFERRED = 22;

    // header.type, made by perf
    public static final int PERF_RECORD_HEADER_ATTR = 64;
    public static final int PERF_RECORD_HEADER_EVENT_TYPE = 65;
    public static final int PERF_RECORD_HEADER_TRACING_DATA = 66;
    public static final int PERF_RECORD_HEADER_BUILD_ID = 67;
    public static final int PERF_RECORD_FINISHED_ROUND = 68;
    public static final int PERF_RECORD_ID_INDEX = 69;
    public static final int PERF_RECORD_AUXTRACE_INFO = 70;
    public static final int PERF_RECORD_AUXTRACE = 71;
    public static final int PERF_RECORD_AUXTRACE_ERROR = 72;
    public static final int PERF_RECORD_THREAD_MAP = 73;
    public static final int PERF_RECORD_CPU_MAP = 74;
    public static final int PERF_RECORD_STAT_CONFIG = 75;
    public static final int PERF_RECORD_STAT = 76;
    public static final int PERF_RECORD_STAT_ROUND = 77;
    public static final int PERF_RECORD_EVENT_UPDATE = 78;
    public static final int PERF_RECORD_TIME_CONV = 79;
    public static final int PERF_RECORD_HEADER_FEATURE = 80;
    public static final int PERF_RECORD_COMPRESSED = 81;
    public static final int PERF_RECORD_FINISHED_INIT = 82;
    public static final int PERF_RECORD_COMPRESSED2 = 83;

    // markers in call chains
    public static final long PERF_CONTEXT_HV = -32;
    public static final long PERF_CONTEXT_KERNEL = -128;
    public static final long PERF_CONTEXT_USER = -512;
    public static final long PERF_CONTEXT_USER_DEFERRED = -640;
    public static final long PERF_CONTEXT_GUEST = -2048;
    public static final long PERF_CONTEXT_GUEST_KERNEL = -2176;
    public static final long PERF_CONTEXT_GUEST_USER = -2560;
    public static final long PERF_CONTEXT_MAX = -4095;

    // sizes of struct perf_event_attr
    public static final int PERF_ATTR_SIZE_VER0 = 64;
    public static final int PERF_ATTR_SIZE_VER7 = 128;
    public static final int PERF_ATTR_SIZE_VER8 = 136;

    /** sizeof(struct perf_event_header): u32 type, u16 misc, u16 size. */
    public static final int HEADER_BYTES = 8;

    private PerfAbi() {}
}
