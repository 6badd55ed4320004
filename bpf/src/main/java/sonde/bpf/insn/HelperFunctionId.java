package sonde.bpf.insn;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.sys.ResourceTable;

/**
 * Functions of the kernel: numbers of enum bpf_func_id for those that programs here call, names for
 * all of them.
 */
public final class HelperFunctionId {
    public static final int MAP_LOOKUP_ELEM = 1;
    public static final int MAP_UPDATE_ELEM = 2;
    public static final int MAP_DELETE_ELEM = 3;
    public static final int KTIME_GET_NS = 5;
    public static final int TRACE_PRINTK = 6;
    public static final int GET_PRANDOM_U32 = 7;
    public static final int GET_SMP_PROCESSOR_ID = 8;
    public static final int TAIL_CALL = 12;

    /** R0 = tgid in the upper, kernel pid in the lower half. */
    public static final int GET_CURRENT_PID_TGID = 14;

    public static final int GET_CURRENT_UID_GID = 15;
    public static final int GET_CURRENT_COMM = 16;

    public static final int PERF_EVENT_READ = 22;
    public static final int PERF_EVENT_OUTPUT = 25;
    public static final int GET_CURRENT_TASK = 35;
    public static final int PROBE_WRITE_USER = 36;
    public static final int GET_NUMA_NODE_ID = 42;
    public static final int GET_SOCKET_COOKIE = 46;
    public static final int OVERRIDE_RETURN = 58;
    public static final int GET_STACK = 67;
    public static final int GET_CURRENT_CGROUP_ID = 80;
    public static final int SEND_SIGNAL = 109;
    public static final int SKB_OUTPUT = 111;

    /** Since Linux 5.5, as the next three. */
    public static final int PROBE_READ_USER = 112;

    public static final int PROBE_READ_KERNEL = 113;

    /** R0 = bytes copied including the NUL, or a negative errno. */
    public static final int PROBE_READ_USER_STR = 114;

    public static final int PROBE_READ_KERNEL_STR = 115;
    public static final int SEND_SIGNAL_THREAD = 117;
    public static final int JIFFIES64 = 118;
    public static final int GET_NS_CURRENT_PID_TGID = 120;
    public static final int KTIME_GET_BOOT_NS = 125;
    public static final int SEQ_PRINTF = 126;

    /** Since Linux 5.8. */
    public static final int RINGBUF_OUTPUT = 130;

    public static final int RINGBUF_RESERVE = 131;
    public static final int RINGBUF_SUBMIT = 132;
    public static final int RINGBUF_QUERY = 134;
    public static final int D_PATH = 147;

    /** Since Linux 5.11: R0 = the current struct task_struct, typed. */
    public static final int TASK_STORAGE_GET = 156;

    public static final int GET_CURRENT_TASK_BTF = 158;

    public static final int FOR_EACH_MAP_ELEM = 164;
    public static final int GET_FUNC_IP = 173;

    /** Since Linux 5.15: R0 = the task's struct pt_regs of user mode, typed. */
    public static final int GET_ATTACH_COOKIE = 174;

    public static final int TASK_PT_REGS = 175;

    public static final int TRACE_VPRINTK = 177;

    public static final int LOOP = 181;
    public static final int MAP_LOOKUP_PERCPU_ELEM = 195;
    public static final int KTIME_GET_TAI_NS = 208;

    private static final List<String> NAMES = names();
    private static final Map<String, Integer> NUMBERS = numbers();

    private HelperFunctionId() {}

    /** {@code "bpf_map_lookup_elem"}; {@code "unknown"} for a number without one, as the kernel. */
    public static String name(int number) {
        return number >= 0 && number < NAMES.size() ? NAMES.get(number) : "unknown";
    }

    /** Inverse of {@link #name}; -1 when no helper is called so. */
    public static int number(String name) {
        return NUMBERS.getOrDefault(name, -1);
    }

    private static Map<String, Integer> numbers() {
        Map<String, Integer> numbers = new HashMap<>();
        for (int i = 0; i < NAMES.size(); i++) {
            numbers.put(name(i), i);
        }
        return numbers;
    }

    private static List<String> names() {
        return ResourceTable.lines(HelperFunctionId.class.getResourceAsStream("helpers.txt"))
                .stream()
                .map(line -> "bpf_" + line.substring(line.indexOf(' ') + 1))
                .toList();
    }
}
