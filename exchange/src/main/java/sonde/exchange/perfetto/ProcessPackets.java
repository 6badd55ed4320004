package sonde.exchange.perfetto;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import sonde.binary.MalformedInputException;
import sonde.exchange.ProtoReader;
import sonde.recording.LongList;
import sonde.recording.TraceRows;
import sonde.recording.TraceRows.RowOrigin;

/** Rows of what was polled from /proc, and of Android's log. */
final class ProcessPackets {
    /** Names by field number of ProcessStats.Process (process_stats.proto), kilobytes. */
    private static final String[] MEMORY = {
        "",
        "",
        "vm_size",
        "vm_rss",
        "rss_anon",
        "rss_file",
        "rss_shmem",
        "vm_swap",
        "vm_locked",
        "vm_hwm",
        "oom_score_adj"
    };

    /** Names by field number of SysStats.CpuTimes (sys_stats.proto), nanoseconds. */
    private static final String[] CPU_TIMES = {
        "", "", "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"
    };

    private final TraceRows rows;

    ProcessPackets(TraceRows rows) {
        this.rows = rows;
    }

    /** ProcessTree (process_tree.proto): rows that need a time. */
    List<LongConsumer> tree(ProtoReader message) throws MalformedInputException {
        List<LongConsumer> found = new ArrayList<>();
        while (message.next()) {
            if (message.field() == 1) {
                process(message.message(), found);
            } else if (message.field() == 2) {
                thread(message.message(), found);
            }
        }
        return found;
    }

    private void process(ProtoReader process, List<LongConsumer> into)
            throws MalformedInputException {
        int pid = -1;
        int parent = -1;
        StringBuilder name = new StringBuilder();
        while (process.next()) {
            switch (process.field()) {
                case 1 -> pid = (int) process.value();
                case 2 -> parent = (int) process.value();
                case 3 -> name.append(name.isEmpty() ? "" : " ").append(process.text());
                default -> {}
            }
        }
        int of = pid;
        int ppid = parent;
        into.add(time -> rows.process(new RowOrigin(time, -1, of, of), ppid, name.toString()));
    }

    private void thread(ProtoReader thread, List<LongConsumer> into)
            throws MalformedInputException {
        int tid = -1;
        int pid = -1;
        String name = "";
        while (thread.next()) {
            switch (thread.field()) {
                case 1 -> tid = (int) thread.value();
                case 2 -> name = thread.text();
                case 3 -> pid = (int) thread.value();
                default -> {}
            }
        }
        int of = tid;
        int process = pid;
        String comm = name;
        into.add(time -> rows.thread(new RowOrigin(time, -1, process, of), comm));
    }

    /** ProcessDescriptor as a packet: the process of a sequence. */
    int pid(ProtoReader message) throws MalformedInputException {
        int pid = -1;
        while (message.next()) {
            if (message.field() == 1) {
                pid = (int) message.value();
            }
        }
        return pid;
    }

    /** ProcessStats. */
    void stats(ProtoReader message, long time) throws MalformedInputException {
        while (message.next()) {
            if (message.field() != 1) {
                continue;
            }
            ProtoReader process = message.message();
            int pid = -1;
            long[] values = new long[MEMORY.length];
            boolean[] has = new boolean[MEMORY.length];
            while (process.next()) {
                if (process.field() == 1) {
                    pid = (int) process.value();
                } else if (process.field() < MEMORY.length) {
                    values[process.field()] = process.value();
                    has[process.field()] = true;
                }
            }
            for (int i = 2; i < values.length; i++) {
                if (has[i]) {
                    boolean score = i == MEMORY.length - 1;
                    RowOrigin place = new RowOrigin(Math.max(0, time), -1, pid, pid);
                    long value = score ? values[i] : values[i] * 1024;
                    rows.counter(place, pid, MEMORY[i], score ? "" : "bytes", value);
                }
            }
        }
    }

    /** SysStats. */
    void system(ProtoReader message, long time) throws MalformedInputException {
        long when = Math.max(0, time);
        LongList frequencies = new LongList();
        while (message.next()) {
            switch (message.field()) {
                case 1 -> keyed(message.message(), when, "meminfo.");
                case 2 -> keyed(message.message(), when, "vmstat.");
                case 3 -> cpuTimes(message.message(), when);
                case 4 -> counter(when, -1, "forks", message.value());
                case 5 -> counter(when, -1, "irqs", message.value());
                case 7 -> counter(when, -1, "softirqs", message.value());
                case 11 -> message.integers(frequencies);
                default -> {}
            }
        }
        for (int i = 0; i < frequencies.size(); i++) {
            counter(when, i, "cpufreq_khz", frequencies.at(i));
        }
    }

    private void counter(long time, int cpu, String name, double value) {
        int on = cpu > Short.MAX_VALUE ? -1 : cpu;
        rows.counter(new RowOrigin(time, on, -1, -1), Math.max(0, on), name, "", value);
    }

    private void keyed(ProtoReader entry, long time, String prefix) throws MalformedInputException {
        long key = 0;
        long value = 0;
        while (entry.next()) {
            if (entry.field() == 1) {
                key = entry.value();
            } else if (entry.field() == 2) {
                value = entry.value();
            }
        }
        counter(time, -1, prefix + key, value);
    }

    private void cpuTimes(ProtoReader entry, long time) throws MalformedInputException {
        int cpu = 0;
        while (entry.next()) {
            if (entry.field() == 1) {
                cpu = (int) entry.value();
            } else if (entry.field() < CPU_TIMES.length) {
                counter(time, cpu, "cpu." + CPU_TIMES[entry.field()], entry.value());
            }
        }
    }

    /** AndroidLogPacket (android_log.proto); its times are CLOCK_REALTIME. */
    void log(ProtoReader message, TraceClocks clocks) throws MalformedInputException {
        while (message.next()) {
            if (message.field() != 1) {
                continue;
            }
            ProtoReader event = message.message();
            long time = 0;
            int pid = -1;
            int tid = -1;
            int priority = 0;
            String tag = "";
            String text = "";
            while (event.next()) {
                switch (event.field()) {
                    case 2 -> pid = (int) event.value();
                    case 3 -> tid = (int) event.value();
                    case 5 -> time = clocks.convert(TraceClocks.REALTIME, event.value());
                    case 6 -> tag = event.text();
                    case 7 -> priority = (int) event.value();
                    case 8 -> text = event.text();
                    default -> {}
                }
            }
            rows.log(new RowOrigin(time, -1, pid, tid), priority, tag, text);
        }
    }
}
