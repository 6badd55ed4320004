package sonde.analysis;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;

/** Rows written by hand, as one recording with an ftrace source and a perf source. */
public final class Script {
    public static final long KERNEL = -128;
    public static final long USER = -512;

    public final Source ftrace = new Source("trace.dat", Clock.MONO, ftraceTypes());
    public final Source perf = new Source("perf.data", Clock.MONO, perfTypes(true));

    /** The same without sched_switch, as of a user without rights. */
    public final Source plainPerf = new Source("perf.data", Clock.MONO, perfTypes(false));

    public final Source lttng = new Source("kernel", Clock.MONO, lttngTypes());

    private final List<Row> rows = new ArrayList<>();

    /** A row; {@code number} is its place in the script. */
    public record Row(
            int number,
            Source source,
            int type,
            long time,
            int cpu,
            int tid,
            int pid,
            long weight,
            byte[] payload,
            long[] chain) {}

    private static EventType type(List<EventType> into, String system, String name, Field... f) {
        EventType type = new EventType(into.size(), system, name, List.of(f), "");
        into.add(type);
        return type;
    }

    private static Field i(String name, int offset, int size) {
        return Field.integer(name, offset, size, true);
    }

    private static Field chars(String name, int offset, int size) {
        return new Field(name, "char " + name, Field.Kind.CHARS, offset, size, 1, false);
    }

    private static void schedSwitch(List<EventType> types) {
        type(
                types,
                "sched",
                "sched_switch",
                chars("prev_comm", 8, 16),
                i("prev_pid", 24, 4),
                i("prev_prio", 28, 4),
                i("prev_state", 32, 8),
                chars("next_comm", 40, 16),
                i("next_pid", 56, 4),
                i("next_prio", 60, 4));
    }

    private static List<EventType> ftraceTypes() {
        List<EventType> types = new ArrayList<>();
        schedSwitch(types);
        type(types, "sched", "sched_wakeup", chars("comm", 8, 16), i("pid", 24, 4));
        type(types, "sched", "sched_wakeup_new", chars("comm", 8, 16), i("pid", 24, 4));
        Field args = new Field("args", "unsigned long args[6]", Field.Kind.ARRAY, 16, 48, 8, false);
        type(types, "raw_syscalls", "sys_enter", i("id", 8, 8), args);
        type(types, "raw_syscalls", "sys_exit", i("id", 8, 8), i("ret", 16, 8));
        type(
                types,
                "sched",
                "sched_process_fork",
                chars("child_comm", 8, 16),
                i("parent_pid", 24, 4),
                i("child_pid", 28, 4));
        type(
                types,
                "sched",
                "sched_process_exec",
                chars("filename", 8, 16),
                i("pid", 24, 4),
                i("old_pid", 28, 4));
        type(types, "sched", "sched_process_exit", i("pid", 8, 4));
        type(types, EventType.NOTICE, "lost");
        block(types);
        type(types, "task", "task_newtask", i("pid", 8, 4), chars("comm", 12, 16));
        for (String name : List.of("read", "openat")) {
            Field number = i("__syscall_nr", 8, 4);
            Field first = i("first", 16, 8);
            type(types, "syscalls", "sys_enter_" + name, number, first, i("second", 24, 8));
            type(types, "syscalls", "sys_exit_" + name, number, i("ret", 16, 8));
        }
        type(
                types,
                "signal",
                "signal_deliver",
                i("sig", 8, 4),
                i("code", 12, 4),
                i("sa_handler", 24, 8));
        type(
                types,
                "signal",
                "signal_generate",
                i("sig", 8, 4),
                i("code", 12, 4),
                i("pid", 16, 4),
                i("result", 20, 4));
        type(types, "printk", "console", chars("msg", 8, 56));
        type(types, "ftrace", "funcgraph_entry", i("func", 8, 8), i("depth", 16, 4));
        type(
                types,
                "ftrace",
                "funcgraph_exit",
                i("func", 8, 8),
                i("depth", 16, 4),
                i("calltime", 24, 8),
                i("rettime", 32, 8));
        type(types, "ftrace", "function", i("ip", 8, 8), i("parent_ip", 16, 8));
        return types;
    }

    private static List<EventType> lttngTypes() {
        List<EventType> types = new ArrayList<>();
        type(
                types,
                "kernel",
                "sched_switch",
                chars("prev_comm", 0, 16),
                i("prev_tid", 16, 4),
                i("prev_state", 20, 8),
                chars("next_comm", 28, 16),
                i("next_tid", 44, 4));
        type(types, "kernel", "sched_wakeup", chars("comm", 0, 16), i("tid", 16, 4));
        type(types, "kernel", "syscall_entry_read", i("fd", 0, 4), i("count", 4, 8));
        type(types, "kernel", "syscall_exit_read", i("ret", 0, 8));
        type(
                types,
                "kernel",
                "block_rq_issue",
                i("dev", 0, 4),
                i("sector", 4, 8),
                i("nr_sector", 12, 4),
                i("rwbs", 16, 4));
        type(
                types,
                "kernel",
                "block_rq_complete",
                i("dev", 0, 4),
                i("sector", 4, 8),
                i("nr_sector", 12, 4),
                i("rwbs", 16, 4));
        return types;
    }

    private static void block(List<EventType> types) {
        for (String name : List.of("block_rq_insert", "block_rq_issue", "block_rq_complete")) {
            type(
                    types,
                    "block",
                    name,
                    i("dev", 8, 4),
                    i("sector", 16, 8),
                    i("nr_sector", 24, 4),
                    i("error", 28, 4),
                    chars("rwbs", 32, 8));
        }
    }

    private static List<EventType> perfTypes(boolean switches) {
        List<EventType> types = new ArrayList<>();
        if (switches) {
            schedSwitch(types);
        }
        type(types, "perf", "cpu-clock");
        type(types, "perf", "page-faults");
        type(types, "perf", "bpf-output");
        type(types, EventType.NOTICE, "lost");
        type(
                types,
                EventType.PERF_RECORD,
                "comm",
                i("pid", 0, 4),
                i("tid", 4, 4),
                Field.tailString("comm", 8));
        type(
                types,
                EventType.PERF_RECORD,
                "fork",
                i("pid", 0, 4),
                i("ppid", 4, 4),
                i("tid", 8, 4),
                i("ptid", 12, 4),
                i("time", 16, 8));
        type(
                types,
                EventType.PERF_RECORD,
                "mmap2",
                i("pid", 0, 4),
                i("addr", 8, 8),
                i("len", 16, 8),
                i("pgoff", 24, 8),
                i("misc", 64, 2),
                Field.tailString("filename", 72));
        type(types, EventType.PERF_RECORD, "switch", i("misc", 4, 2));
        type(types, EventType.PERF_RECORD, "switch_cpu_wide", i("misc", 4, 2));
        type(
                types,
                "sonde",
                "thread_now",
                i("since", 8, 8),
                i("pid", 16, 4),
                i("holder", 20, 4),
                i("syscall", 24, 4),
                i("at_end", 28, 4),
                chars("state", 32, 4),
                chars("call", 36, 32),
                chars("object", 68, 32));
        return types;
    }

    /** A payload in the machine's order. */
    public static ByteBuffer bytes(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.nativeOrder());
    }

    private static void put(ByteBuffer into, int offset, String text) {
        into.put(offset, text.getBytes(StandardCharsets.UTF_8));
    }

    private Script add(
            Source source, String system, String name, long time, int cpu, int tid, ByteBuffer b) {
        return add(source, system, name, time, cpu, tid, -1, 1, b, new long[0]);
    }

    private Script add(
            Source source,
            String system,
            String name,
            long time,
            int cpu,
            int tid,
            int pid,
            long weight,
            ByteBuffer payload,
            long[] chain) {
        int id = source.type(system, name).orElseThrow().id();
        rows.add(
                new Row(
                        rows.size(),
                        source,
                        id,
                        time,
                        cpu,
                        tid,
                        pid,
                        weight,
                        payload.array(),
                        chain));
        return this;
    }

    /** sched_switch in the perf source, with the chain of {@code previous}. */
    public Script switched(long time, int cpu, int previous, long state, int next, long... chain) {
        return switchIn(perf, time, cpu, previous, state, next, chain);
    }

    /** sched_switch in a source of choice. */
    public Script switchIn(
            Source in, long time, int cpu, int previous, long state, int next, long... chain) {
        ByteBuffer b = bytes(64).putInt(24, previous).putLong(32, state).putInt(56, next);
        put(b, 8, "t" + previous);
        put(b, 40, "t" + next);
        return add(in, "sched", "sched_switch", time, cpu, previous, -1, 1, b, chain);
    }

    /** perf's own record of a switch, {@code misc} as in perf_event.h. */
    public Script switchRecord(String name, long time, int cpu, int tid, int misc) {
        ByteBuffer b = bytes(16).putShort(4, (short) misc);
        return add(plainPerf, EventType.PERF_RECORD, name, time, cpu, tid, b);
    }

    public Script wake(long time, int cpu, int waker, int woken) {
        ByteBuffer b = bytes(36).putInt(24, woken);
        return add(ftrace, "sched", "sched_wakeup", time, cpu, waker, b);
    }

    public Script wakeNew(long time, int cpu, int waker, int woken) {
        ByteBuffer b = bytes(36).putInt(24, woken);
        return add(ftrace, "sched", "sched_wakeup_new", time, cpu, waker, b);
    }

    public Script newTask(long time, int cpu, int parent, int child) {
        return add(ftrace, "task", "task_newtask", time, cpu, parent, bytes(28).putInt(8, child));
    }

    /** {@code syscalls:sys_enter_NAME} and its return 10 ns later. */
    public Script namedCall(String name, long time, int tid, int number, long result, long... two) {
        ByteBuffer b = bytes(32).putInt(8, number).putLong(16, two[0]).putLong(24, two[1]);
        add(ftrace, "syscalls", "sys_enter_" + name, time, 0, tid, b);
        ByteBuffer end = bytes(24).putInt(8, number).putLong(16, result);
        return add(ftrace, "syscalls", "sys_exit_" + name, time + 10, 0, tid, end);
    }

    /** An event of LTTng's kernel tracer. */
    public Script lttng(String name, long time, int cpu, int tid, ByteBuffer payload) {
        return add(lttng, "kernel", name, time, cpu, tid, payload.order(ByteOrder.nativeOrder()));
    }

    /** A function of the function graph begins. */
    public Script calls(long time, int tid, long function, int depth) {
        ByteBuffer b = bytes(24).putLong(8, function).putInt(16, depth);
        return add(ftrace, "ftrace", "funcgraph_entry", time, 0, tid, b);
    }

    /** A function of the function graph returns. */
    public Script returns(long began, long time, int tid, long function, int depth) {
        return returns(began, time, time, tid, function, depth);
    }

    /** The same where another clock measured the call than that of the rows. */
    public Script returns(long began, long ended, long time, int tid, long function, int depth) {
        ByteBuffer b = bytes(40).putLong(8, function).putInt(16, depth);
        b.putLong(24, began).putLong(32, ended);
        return add(ftrace, "ftrace", "funcgraph_exit", time, 0, tid, b);
    }

    /** A call that the function tracer saw. */
    public Script traced(long time, int tid, long function, long caller) {
        ByteBuffer b = bytes(24).putLong(8, function).putLong(16, caller);
        return add(ftrace, "ftrace", "function", time, 0, tid, b);
    }

    /** With the first arguments; the rest is 0. */
    public Script enter(long time, int cpu, int tid, long number, long... arguments) {
        ByteBuffer b = bytes(64).putLong(8, number);
        for (int i = 0; i < arguments.length; i++) {
            b.putLong(16 + 8 * i, arguments[i]);
        }
        return add(ftrace, "raw_syscalls", "sys_enter", time, cpu, tid, b);
    }

    /**
     * What the recorder saw a thread in.
     *
     * @param words state, call and object
     * @param numbers process, holder, number of the call, when it left the CPU
     */
    public Script looked(
            long time, boolean atEnd, int tid, String[] words, long[] numbers, long... chain) {
        ByteBuffer b = bytes(104).putLong(8, numbers[3]).putInt(16, (int) numbers[0]);
        b.putInt(20, (int) numbers[1]).putInt(24, (int) numbers[2]).putInt(28, atEnd ? 1 : 0);
        put(b, 32, words[0]);
        put(b, 36, words[1]);
        put(b, 68, words[2]);
        return add(perf, "sonde", "thread_now", time, 0, tid, (int) numbers[0], 1, b, chain);
    }

    /** With the first arguments; the rest is 0. */
    public Script call(long time, int tid, long number, long result, long... arguments) {
        enter(time, 0, tid, number, arguments);
        return exit(time + 10, 0, tid, number, result);
    }

    /** A record of the names program. */
    public Script name(long time, int tid, ByteBuffer record) {
        return add(perf, "perf", "bpf-output", time, 0, tid, record);
    }

    public Script exit(long time, int cpu, int tid, long number, long result) {
        ByteBuffer b = bytes(24).putLong(8, number).putLong(16, result);
        return add(ftrace, "raw_syscalls", "sys_exit", time, cpu, tid, b);
    }

    public Script fork(long time, int cpu, int parent, int child) {
        ByteBuffer b = bytes(32).putInt(24, parent).putInt(28, child);
        return add(ftrace, "sched", "sched_process_fork", time, cpu, parent, b);
    }

    public Script perfFork(long time, int cpu, int parent, int child, int pid) {
        return perfFork(time, cpu, parent, child, pid, time);
    }

    /** As the recorder makes it up for a thread it finds, placed at the time of the row before. */
    public Script madeUpFork(long rowTime, int cpu, int parent, int child, int pid) {
        return perfFork(rowTime, cpu, parent, child, pid, 0);
    }

    private Script perfFork(long rowTime, int cpu, int parent, int child, int pid, long time) {
        ByteBuffer b =
                bytes(24)
                        .putInt(0, pid)
                        .putInt(4, parent)
                        .putInt(8, child)
                        .putInt(12, parent)
                        .putLong(16, time);
        return add(perf, EventType.PERF_RECORD, "fork", rowTime, cpu, parent, b);
    }

    /** PERF_RECORD_MMAP2. */
    public Script mapped(
            long time, int pid, long start, long length, long offset, String path, int misc) {
        ByteBuffer b =
                bytes(72 + path.length() + 1)
                        .putInt(0, pid)
                        .putLong(8, start)
                        .putLong(16, length)
                        .putLong(24, offset)
                        .putShort(64, (short) misc);
        put(b, 72, path);
        return add(perf, EventType.PERF_RECORD, "mmap2", time, 0, pid, b);
    }

    public Script exec(long time, int cpu, int tid, String file) {
        ByteBuffer b = bytes(32).putInt(24, tid).putInt(28, tid);
        put(b, 8, file);
        return add(ftrace, "sched", "sched_process_exec", time, cpu, tid, b);
    }

    public Script exited(long time, int cpu, int tid) {
        return add(ftrace, "sched", "sched_process_exit", time, cpu, tid, bytes(12).putInt(8, tid));
    }

    public Script lost(Source in, long time, int cpu, long count) {
        ByteBuffer b = bytes(0);
        return add(in, EventType.NOTICE, "lost", time, cpu, -1, -1, count, b, new long[0]);
    }

    public Script sample(
            String name, long time, int cpu, int pid, int tid, long weight, long... chain) {
        return add(perf, "perf", name, time, cpu, tid, pid, weight, bytes(0), chain);
    }

    public Script block(
            String name,
            long time,
            int cpu,
            int tid,
            int dev,
            long sector,
            int sectors,
            String rwbs) {
        ByteBuffer b = bytes(40).putInt(8, dev).putLong(16, sector).putInt(24, sectors);
        put(b, 32, rwbs);
        return add(ftrace, "block", name, time, cpu, tid, b);
    }

    public Script signal(String name, long time, int cpu, int tid, int signal, int target) {
        ByteBuffer b = bytes(32).putInt(8, signal).putInt(16, target);
        return add(ftrace, "signal", name, time, cpu, tid, b);
    }

    public Script printed(long time, int cpu, int tid, String line) {
        ByteBuffer b = bytes(64);
        put(b, 8, line);
        return add(ftrace, "printk", "console", time, cpu, tid, b);
    }

    public Script sent(long time, int tid, int signal, int code, int target, int result) {
        ByteBuffer b = bytes(32).putInt(8, signal).putInt(12, code).putInt(16, target);
        return add(ftrace, "signal", "signal_generate", time, 0, tid, b.putInt(20, result));
    }

    public Script delivered(long time, int tid, int signal, long handler) {
        ByteBuffer b = bytes(32).putInt(8, signal).putLong(24, handler);
        return add(ftrace, "signal", "signal_deliver", time, 0, tid, b);
    }

    public List<Row> rows() {
        return List.copyOf(rows);
    }

    /** One lane per CPU and source, as recordings have. */
    public Recording recording() {
        return recording(Row::cpu);
    }

    /** Lanes by source and the given number; a lane's rows are sorted by time. */
    public Recording recording(ToIntFunction<Row> lane) {
        TreeMap<Integer, List<Row>> lanes = new TreeMap<>();
        for (Row row : rows) {
            int of = List.of(ftrace, perf, plainPerf, lttng).indexOf(row.source());
            int key = 4 * (lane.applyAsInt(row) + 1) + of;
            lanes.computeIfAbsent(key, ignored -> new ArrayList<>()).add(row);
        }
        lanes.values().forEach(list -> list.sort(Comparator.comparingLong(Row::time)));
        return new Recording() {
            @Override
            public List<Source> sources() {
                return List.of(ftrace, perf, plainPerf, lttng);
            }

            @Override
            public List<Lane> lanes() {
                return lanes.values().stream().<Lane>map(RowLane::new).toList();
            }

            @Override
            public void close() {}
        };
    }

    /** Gives its rows in batches of a few. */
    private static final class RowLane implements Lane {
        private static final int ROWS = 7;
        private final List<Row> rows;
        private int next;

        RowLane(List<Row> rows) {
            this.rows = rows;
        }

        @Override
        public Source source() {
            return rows.getFirst().source();
        }

        @Override
        public String buffer() {
            return "";
        }

        @Override
        public @Nullable Batch next() {
            if (next == rows.size()) {
                return null;
            }
            List<Row> part = rows.subList(next, Math.min(next + ROWS, rows.size()));
            next += part.size();
            ByteBuffer memory =
                    bytes(part.stream().mapToInt(r -> r.payload.length + 8 * r.chain.length).sum());
            Batch batch = new Batch(source(), ByteOrder.nativeOrder());
            batch.reset(MemorySegment.ofBuffer(memory.duplicate()));
            for (Row row : part) {
                int at = memory.position();
                memory.put(row.payload);
                int chainAt = memory.position();
                for (long address : row.chain) {
                    memory.putLong(address);
                }
                int index = batch.add(row.time, row.cpu, row.tid, row.type, at, row.payload.length);
                if (row.pid >= 0 || row.weight != 1 || row.chain.length > 0) {
                    batch.sample(index, row.pid, row.weight, chainAt, row.chain.length);
                }
            }
            return batch;
        }

        @Override
        public void close() {}
    }
}
