package sonde.probe.record;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.probe.snapshot.PeerServers;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.recording.bundle.RecordingMeta.TargetReading;
import sonde.sys.Clocks;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * Reads what events do not tell, or only at a price: memory of the recorded processes, throttling
 * of their cgroups, CPU time of everybody else, who serves their sockets, and what the network
 * stack dropped. Some files of /proc at the start, twice a second, and at the end.
 */
final class TargetCounters {
    private static final int MAX_PROCESSES = 64;
    private static final int MAX_THREADS = 128;
    private static final int MAX_SUBJECTS = 512;
    private static final int MAX_OTHERS = 10;
    private static final int MAX_DEPTH = 16;
    private static final int READ = 1 << 16;

    private static final int CLOCK_THREAD_CPUTIME = 3;

    /** CPU time for all processes of a machine together. */
    private static final long LIMIT_NANOS = 50_000_000;

    /** USER_HZ is 100 on every architecture (include/asm-generic/param.h). */
    private static final long TICK_NANOS = 10_000_000;

    private static final long PAGE = 4096;
    private static final long WORTH_NANOS = 100_000_000;
    private static final Pattern STAT =
            Pattern.compile("\\d+ \\((.{0,64})\\) \\S (.*)", Pattern.DOTALL);

    /** Counters of /proc/net/netstat that say why a connection is slow. */
    private static final Set<String> NETWORK =
            Set.of("ListenOverflows", "ListenDrops", "TCPSynRetrans", "TCPTimeouts");

    private final TargetMode mode;
    private final List<Integer> roots;
    private final Map<String, long[]> readings = new LinkedHashMap<>();
    private final int online = online();
    private final PeerServers peers = new PeerServers();
    private final Map<Integer, ProcessUse> others = new LinkedHashMap<>();

    /** CPU time of a process at the start. */
    private record ProcessUse(String name, long startTicks, long nanos) {}

    /** When this began, in ticks since boot. */
    private long beganTicks;

    private TargetCounters(TargetMode mode, List<Integer> roots) {
        this.mode = mode;
        this.roots = roots;
    }

    /** Begins before the sources are switched on. */
    static TargetCounters begin(TargetMode mode, List<Integer> roots) {
        TargetCounters counters = new TargetCounters(mode, roots);
        if (mode != TargetMode.ALL) {
            counters.others.putAll(counters.uses());
            counters.beganTicks = Clocks.nanos(Clocks.CLOCK_BOOTTIME) / TICK_NANOS;
        }
        if (mode != TargetMode.COMMAND) {
            counters.look();
        }
        return counters;
    }

    /** Reads once more. */
    void look() {
        Set<String> groups = new HashSet<>();
        List<Integer> tree = mode == TargetMode.ALL ? List.of() : ProcessTree.processes(roots);
        for (int pid : tree.subList(0, Math.min(tree.size(), MAX_PROCESSES))) {
            String folder = "/proc/" + pid;
            String[] pages = text(folder + "/statm").split(" ");
            if (pages.length > 2 && (pages[1] + pages[2]).matches("\\d{1,15}")) {
                String name = text(folder + "/comm").strip();
                // Pages of files and shared memory come and go as they are used.
                long bytes = (Long.parseLong(pages[1]) - Long.parseLong(pages[2])) * PAGE;
                if (bytes > 0) { // a zombie has none
                    read(TargetReading.PRIVATE, name + " " + pid, bytes);
                }
            }
            if (groups.size() < MAX_DEPTH) {
                groups.addAll(List.of(text(folder + "/cgroup").split("\n")));
            }
        }
        ProcessTree.allThreads(tree).stream().limit(MAX_THREADS).forEach(this::placement);
        idle();
        groups.forEach(this::group);
        knownGroups().forEach(this::throttled);
        if (!tree.isEmpty()) {
            peers.look(tree.subList(0, Math.min(tree.size(), MAX_PROCESSES)));
            network(text("/proc/" + tree.getFirst() + "/net/netstat"));
        }
    }

    /** The CPUs that a thread may use, and its weight on them, where these are not everybody's. */
    private void placement(int tid) {
        try {
            BitSet allowed = ProcessCalls.affinity(tid);
            int nice = ProcessCalls.nice(tid);
            boolean bound = allowed.cardinality() < online && allowed.length() < Long.SIZE;
            if (bound || nice > 0) {
                String thread = ProcessTree.comm(tid) + " " + tid;
                if (bound && !allowed.isEmpty()) {
                    read(TargetReading.BOUND, thread, allowed.toLongArray()[0]);
                }
                if (nice > 0) {
                    read(TargetReading.NICE, thread, nice);
                }
            }
        } catch (SyscallException e) {
            return; // it ended
        }
    }

    /** CPUs that are online: 0-3,6. */
    private static int online() {
        int count = 0;
        String list = text("/sys/devices/system/cpu/online").strip();
        for (String range : list.matches("[\\d,-]{1,4096}") ? list.split(",") : new String[0]) {
            String[] ends = range.split("-");
            if (ends[0].matches("\\d{1,5}") && ends[ends.length - 1].matches("\\d{1,5}")) {
                count += Integer.parseInt(ends[ends.length - 1]) - Integer.parseInt(ends[0]) + 1;
            }
        }
        return count;
    }

    /**
     * Time without work of each CPU, where threads are bound: cpuN user nice system idle iowait.
     */
    private void idle() {
        if (readings.keySet().stream().noneMatch(one -> one.startsWith(TargetReading.BOUND))) {
            return;
        }
        for (String line : text("/proc/stat").split("\n")) {
            String[] fields = line.split(" ");
            boolean cpu = fields.length > 5 && fields[0].matches("cpu\\d{1,5}");
            if (cpu && fields[4].matches("\\d{1,15}") && fields[5].matches("\\d{1,15}")) {
                long ticks = Long.parseLong(fields[4]) + Long.parseLong(fields[5]);
                read(TargetReading.IDLE, fields[0].substring(3), ticks * TICK_NANOS);
            }
        }
    }

    private List<String> knownGroups() {
        String prefix = TargetReading.QUOTA + ":";
        return readings.keySet().stream()
                .filter(key -> key.startsWith(prefix))
                .map(key -> key.substring(prefix.length()))
                .toList();
    }

    private void read(String name, String subject, long value) {
        String key = name + ":" + subject;
        long[] known = readings.get(key);
        if (known != null) {
            known[1] = value;
            known[2] = Math.max(known[2], value);
        } else if (readings.size() < MAX_SUBJECTS) {
            readings.put(key, new long[] {value, value, value});
        }
    }

    /** A line of /proc/PID/cgroup: the groups with a limit, up to the root, become known. */
    private void group(String line) {
        String[] parts = line.split(":", 3);
        boolean unified = parts.length == 3 && parts[1].isEmpty();
        boolean cpu = parts.length == 3 && List.of(parts[1].split(",")).contains("cpu");
        if (!unified && !cpu || parts[2].contains("..")) {
            return;
        }
        String path = parts[2];
        for (int depth = 0; depth < MAX_DEPTH && path.length() > 1; depth++) {
            long quota = quota(path);
            if (quota > 0) {
                read(TargetReading.QUOTA, path, quota);
            }
            path = path.substring(0, Math.max(1, path.lastIndexOf('/')));
        }
    }

    private static long quota(String path) {
        for (String mount : List.of("/sys/fs/cgroup", "/sys/fs/cgroup/unified")) {
            String[] max = text(mount + path + "/cpu.max").strip().split(" ");
            if (max.length == 2 && max[0].matches("\\d{1,12}") && max[1].matches("\\d{1,12}")) {
                return perSecond(Long.parseLong(max[0]), Long.parseLong(max[1]));
            }
        }
        for (String mount : List.of("/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct")) {
            String quota = text(mount + path + "/cpu.cfs_quota_us").strip();
            String period = text(mount + path + "/cpu.cfs_period_us").strip();
            if (quota.matches("\\d{1,12}") && period.matches("\\d{1,12}")) {
                return perSecond(Long.parseLong(quota), Long.parseLong(period));
            }
        }
        return 0;
    }

    private static long perSecond(long quota, long period) {
        return period == 0 ? 0 : quota * 1_000_000_000L / period;
    }

    private void throttled(String path) {
        for (String mount :
                List.of(
                        "/sys/fs/cgroup",
                        "/sys/fs/cgroup/unified",
                        "/sys/fs/cgroup/cpu",
                        "/sys/fs/cgroup/cpu,cpuacct")) {
            for (String line : text(mount + path + "/cpu.stat").split("\n")) {
                String[] words = line.split(" ");
                boolean nanos = words[0].equals("throttled_time");
                if ((nanos || words[0].equals("throttled_usec"))
                        && words.length == 2
                        && words[1].matches("\\d{1,15}")) {
                    long value = Long.parseLong(words[1]);
                    read(TargetReading.THROTTLED, path, nanos ? value : value * 1000);
                    return;
                }
            }
        }
    }

    /** Pairs of lines: names, then values. */
    private void network(String text) {
        String[] lines = text.split("\n");
        for (int i = 0; i + 1 < lines.length; i += 2) {
            String[] names = lines[i].split(" ");
            String[] values = lines[i + 1].split(" ");
            for (int k = 0; k < Math.min(names.length, values.length); k++) {
                if (NETWORK.contains(names[k]) && values[k].matches("\\d{1,18}")) {
                    read(names[k], "network", Long.parseLong(values[k]));
                }
            }
        }
    }

    /** Looks for the last time. */
    List<TargetReading> end() {
        look();
        List<TargetReading> result = new ArrayList<>();
        readings.forEach((key, values) -> {
            int colon = key.indexOf(':');
            result.add(
                    new TargetReading(
                            key.substring(0, colon),
                            key.substring(colon + 1),
                            values[0],
                            values[1],
                            values[2]));
        });
        result.addAll(peers.readings());
        if (!others.isEmpty()) {
            others(result);
        }
        return result;
    }

    /** Who used the CPUs besides. */
    private void others(List<TargetReading> result) {
        Set<Integer> ours = new HashSet<>(ProcessTree.processes(roots));
        ours.add(ProcessCalls.getpid());
        List<TargetReading> all = new ArrayList<>();
        uses().forEach((pid, now) -> {
            // Who is new began at 0; whoever was passed over at the start is not counted.
            ProcessUse before =
                    now.startTicks() > beganTicks ? new ProcessUse("", 0, 0) : others.get(pid);
            long first = before == null ? Long.MAX_VALUE : before.nanos();
            boolean used = now.nanos() > first && now.nanos() - first >= WORTH_NANOS;
            if (used && !ours.contains(pid) && !roots.contains(pid)) {
                all.add(
                        new TargetReading(
                                TargetReading.CPU,
                                now.name() + " " + pid,
                                first,
                                now.nanos(),
                                now.nanos()));
            }
        });
        all.sort(Comparator.comparingLong(one -> one.first() - one.last()));
        result.addAll(all.subList(0, Math.min(all.size(), MAX_OTHERS)));
    }

    private Map<Integer, ProcessUse> uses() {
        Map<Integer, ProcessUse> uses = new LinkedHashMap<>();
        String[] names = new File("/proc").list();
        long end = Clocks.nanos(CLOCK_THREAD_CPUTIME) + LIMIT_NANOS;
        for (String name : names == null ? new String[0] : names) {
            if (!name.matches("\\d{1,9}") || Clocks.nanos(CLOCK_THREAD_CPUTIME) > end) {
                continue;
            }
            Matcher stat = STAT.matcher(text("/proc/" + name + "/stat"));
            if (stat.matches()) {
                // proc(5): utime and stime are fields 14 and 15, state is the third
                String[] fields = stat.group(2).split(" ");
                boolean whole = fields.length > 18 && fields[18].matches("\\d{1,15}");
                if (whole && (fields[10] + fields[11]).matches("\\d{2,30}")) {
                    long ticks = Long.parseLong(fields[10]) + Long.parseLong(fields[11]);
                    uses.put(
                            Integer.parseInt(name),
                            new ProcessUse(
                                    stat.group(1), Long.parseLong(fields[18]), ticks * TICK_NANOS));
                }
            }
        }
        return uses;
    }

    private static String text(String path) {
        try {
            return new String(FileCalls.readAll(path, READ), StandardCharsets.UTF_8);
        } catch (SyscallException e) {
            return "";
        }
    }
}
