package sonde.testkit;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A trace.dat of scheduler, system call and block events, told row by row: layouts of
 * include/trace/events/{sched,syscalls,block}.h, Linux 6.1, x86-64. All times in nanoseconds.
 */
public final class SchedTrace {
    private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;

    /** Most bytes in a page; its head and the number of lost events take the rest. */
    private static final int MOST_BYTES = TraceDatBytes.PAGE - 64;

    private static final int SWITCH = 301;
    private static final int WAKEUP = 302;
    private static final int WAKEUP_NEW = 303;
    private static final int FORK = 304;
    private static final int ENTER = 305;
    private static final int EXIT = 306;
    private static final int ISSUE = 307;
    private static final int COMPLETE = 308;
    private static final int ENTER_READ = 309;
    private static final int EXIT_READ = 310;

    private final TreeMap<Integer, List<Event>> cpus = new TreeMap<>();

    /**
     * @param payload null where events were lost, of number {@code time}
     */
    private record Event(long time, byte @Nullable [] payload) {}

    /** No rows yet. */
    public SchedTrace() {}

    private SchedTrace add(long time, int cpu, Bytes payload) {
        Event event = new Event(time, payload.toBytes());
        cpus.computeIfAbsent(cpu, ignored -> new ArrayList<>()).add(event);
        return this;
    }

    /** common_type, common_flags, common_preempt_count, common_pid. */
    private static Bytes common(int id, int tid) {
        return new Bytes(ORDER).u16(id).u8(0).u8(0).u32(tid);
    }

    /** sched_switch; {@code state} as TASK_* bits. */
    public SchedTrace switched(
            long time, int cpu, String from, int previous, long state, String to, int next) {
        return add(
                time,
                cpu,
                common(SWITCH, previous)
                        .chars(from, 16)
                        .u32(previous)
                        .u32(120)
                        .u64(state)
                        .chars(to, 16)
                        .u32(next)
                        .u32(120));
    }

    /** sched_wakeup. */
    public SchedTrace wake(long time, int cpu, int waker, String comm, int woken) {
        return add(time, cpu, woken(WAKEUP, waker, comm, woken, cpu));
    }

    /** sched_process_fork and sched_wakeup_new. */
    public SchedTrace forked(long time, int cpu, String comm, int parent, int child) {
        add(time, cpu, common(FORK, parent).chars(comm, 16).u32(parent).chars(comm, 16).u32(child));
        return add(time, cpu, woken(WAKEUP_NEW, parent, comm, child, cpu));
    }

    private static Bytes woken(int id, int waker, String comm, int woken, int cpu) {
        return common(id, waker).chars(comm, 16).u32(woken).u32(120).u32(cpu);
    }

    /** Events of a CPU were lost before its next row; a negative count is not told. */
    public SchedTrace lost(int cpu, long count) {
        cpus.computeIfAbsent(cpu, ignored -> new ArrayList<>()).add(new Event(count, null));
        return this;
    }

    /** sys_enter. */
    public SchedTrace enter(long time, int cpu, int tid, long number) {
        Bytes payload = common(ENTER, tid).u64(number);
        for (int i = 0; i < 6; i++) {
            payload.u64(0);
        }
        return add(time, cpu, payload);
    }

    /** sys_exit. */
    public SchedTrace exit(long time, int cpu, int tid, long number, long result) {
        return add(time, cpu, common(EXIT, tid).u64(number).u64(result));
    }

    /** syscalls:sys_enter_read and sys_exit_read of x86-64. */
    public SchedTrace read(long from, long to, int cpu, int tid) {
        add(from, cpu, common(ENTER_READ, tid).u32(0).u32(0).u64(3).u64(0).u64(1));
        return add(to, cpu, common(EXIT_READ, tid).u32(0).u32(0).u64(1));
    }

    /** block_rq_issue. */
    public SchedTrace issue(long time, int cpu, int tid, long sector, int sectors, String rwbs) {
        return add(time, cpu, block(ISSUE, tid, sector, sectors, rwbs));
    }

    /** block_rq_complete. */
    public SchedTrace complete(long time, int cpu, int tid, long sector, int sectors, String rwbs) {
        return add(time, cpu, block(COMPLETE, tid, sector, sectors, rwbs));
    }

    private static Bytes block(int id, int tid, long sector, int sectors, String rwbs) {
        return common(id, tid)
                .u32(8 << 20 | 1) // dev_t 8:1
                .u32(0)
                .u64(sector)
                .u32(sectors)
                .u32(0) // error
                .chars(rwbs, 8);
    }

    /** The file, version 7. */
    public byte[] toBytes() {
        return toBytes("mono");
    }

    /** The file with another trace_clock. */
    public byte[] toBytes(String clock) {
        TraceDatBytes file = new TraceDatBytes(ORDER, 8).clock(clock);
        file.event("sched", "sched_switch", SWITCH, switchFields());
        file.event("sched", "sched_wakeup", WAKEUP, wakeFields());
        file.event("sched", "sched_wakeup_new", WAKEUP_NEW, wakeFields());
        file.event(
                "sched",
                "sched_process_fork",
                FORK,
                text("parent_comm", 8, 16)
                        + field("pid_t parent_pid", 24, 4)
                        + text("child_comm", 28, 16)
                        + field("pid_t child_pid", 44, 4));
        file.event(
                "raw_syscalls",
                "sys_enter",
                ENTER,
                field("long id", 8, 8) + field("unsigned long args[6]", 16, 48));
        file.event(
                "raw_syscalls",
                "sys_exit",
                EXIT,
                field("long id", 8, 8) + field("long ret", 16, 8));
        String number = field("int __syscall_nr", 8, 4);
        file.event(
                "syscalls",
                "sys_enter_read",
                ENTER_READ,
                number
                        + field("unsigned int fd", 16, 8)
                        + field("char * buf", 24, 8)
                        + field("size_t count", 32, 8));
        file.event("syscalls", "sys_exit_read", EXIT_READ, number + field("long ret", 16, 8));
        file.event("block", "block_rq_issue", ISSUE, blockFields());
        file.event("block", "block_rq_complete", COMPLETE, blockFields());
        for (int cpu = 0; cpu <= cpus.lastKey(); cpu++) {
            file.cpu(pages(cpus.getOrDefault(cpu, List.of())));
        }
        return file.version7(false);
    }

    private static byte[][] pages(List<Event> events) {
        List<byte[]> pages = new ArrayList<>();
        RingPage page = null;
        int used = 0;
        long last = 0;
        long lost = 0;
        for (Event event : events) {
            byte[] payload = event.payload;
            if (payload == null) {
                lost = lost < 0 ? lost : event.time < 0 ? -1 : lost + event.time;
            }
            if (page != null && (payload == null || used + payload.length > MOST_BYTES)) {
                pages.add(page.toBytes());
                page = null;
            }
            if (payload == null) {
                continue;
            }
            if (page == null) {
                page = new RingPage(ORDER, 8, TraceDatBytes.PAGE, event.time);
                page = lost == 0 ? page : page.lost(lost);
                last = event.time;
                used = 0;
                lost = 0;
            }
            page.extend(event.time - last).event(0, payload);
            last = event.time;
            used += payload.length + 12;
        }
        if (page != null || pages.isEmpty()) {
            pages.add(
                    page != null
                            ? page.toBytes()
                            : new RingPage(ORDER, 8, TraceDatBytes.PAGE, 0).toBytes());
        }
        return pages.toArray(byte[][]::new);
    }

    private static String switchFields() {
        return text("prev_comm", 8, 16)
                + field("pid_t prev_pid", 24, 4)
                + field("int prev_prio", 28, 4)
                + field("long prev_state", 32, 8)
                + text("next_comm", 40, 16)
                + field("pid_t next_pid", 56, 4)
                + field("int next_prio", 60, 4);
    }

    private static String wakeFields() {
        return text("comm", 8, 16)
                + field("pid_t pid", 24, 4)
                + field("int prio", 28, 4)
                + field("int target_cpu", 32, 4);
    }

    private static String blockFields() {
        return field("dev_t dev", 8, 4)
                + field("sector_t sector", 16, 8)
                + field("unsigned int nr_sector", 24, 4)
                + field("int error", 28, 4)
                + text("rwbs", 32, 8);
    }

    private static String text(String name, int offset, int size) {
        return field("char " + name + "[" + size + "]", offset, size);
    }

    private static String field(String declaration, int offset, int size) {
        return "\tfield:"
                + declaration
                + ";\toffset:"
                + offset
                + ";\tsize:"
                + size
                + ";\tsigned:1;\n";
    }
}
