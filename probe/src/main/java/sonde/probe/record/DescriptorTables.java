package sonde.probe.record;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.probe.snapshot.SocketNames;
import sonde.recording.bundle.RecordingMeta;
import sonde.sys.Clocks;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * What /proc says of open descriptors. Everything may vanish while it is read, and nobody waits
 * long for it: after the time limit the rest is left out and counted.
 *
 * <p>A socket's text is followed by its peer, that of an epoll descriptor by what it watches.
 *
 * <p>A pipe's text, {@code pipe:[N]}, gets a holder's name, {@code pipe:[N] of PID:FD}: one outside
 * the listed processes where there is one, so that both ends have the same name.
 */
final class DescriptorTables {
    /** For all processes of a call together. */
    static final long LIMIT_NANOS = 200_000_000;

    /** Descriptors listed of one process; more are left out. */
    private static final int MAX_DESCRIPTORS = 4096;

    /** Most descriptors of all processes together; in meta.json they take some megabytes. */
    private static final int MAX_TOTAL = 1 << 16;

    /** Most descriptors that an epoll descriptor watches. */
    private static final int MAX_WATCHED = 64;

    private static final Pattern WATCHED = Pattern.compile("(?m)^tfd:\\s+(\\d{1,9})");

    private final Map<String, SocketNames> sockets = new HashMap<>();
    private final boolean inheritedOnly;
    private final long deadline;
    private final List<RecordingMeta.Descriptors> tables = new ArrayList<>();
    private final Set<String> pipes = new HashSet<>();
    private int total;
    private int left;

    private DescriptorTables(boolean inheritedOnly, long limitNanos) {
        this.inheritedOnly = inheritedOnly;
        this.deadline = Clocks.nanos(Clocks.CLOCK_MONOTONIC) + limitNanos;
    }

    /**
     * Tables of processes.
     *
     * @param left processes not looked at for want of time
     */
    record Taken(List<RecordingMeta.Descriptors> tables, int left) {}

    /**
     * Reads them.
     *
     * @param inheritedOnly leave out those that execve closes: of a child that waits before it
     */
    static Taken take(List<Integer> pids, boolean inheritedOnly, long limitNanos) {
        DescriptorTables taking = new DescriptorTables(inheritedOnly, limitNanos);
        pids.forEach(taking::process);
        return new Taken(taking.withHolders(new HashSet<>(pids)), taking.left);
    }

    /** All processes but kernel threads, which have no descriptors, and this one. */
    static List<Integer> everybody() {
        List<Integer> pids = new ArrayList<>();
        int own = ProcessCalls.getpid();
        for (int pid : numbers("/proc")) {
            if (pid != own) {
                pids.add(pid);
            }
        }
        return pids;
    }

    private boolean isLate() {
        return total >= MAX_TOTAL || Clocks.nanos(Clocks.CLOCK_MONOTONIC) > deadline;
    }

    private void process(int pid) {
        if (isLate()) {
            left++;
            return;
        }
        Map<Integer, String> targets = new TreeMap<>();
        String folder = "/proc/" + pid + "/fd/";
        long now = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
        for (int fd : numbers(folder)) {
            boolean kept = !inheritedOnly || survivesExec(pid, fd);
            String target = targets.size() < MAX_DESCRIPTORS && kept ? link(folder + fd) : "";
            target = target.isEmpty() ? "" : withMore(pid, fd, target);
            if (!target.isEmpty()) {
                targets.put(fd, target);
                if (target.startsWith("pipe:[")) {
                    pipes.add(target);
                }
            }
        }
        total += targets.size();
        if (!targets.isEmpty()) {
            tables.add(new RecordingMeta.Descriptors(pid, now, targets));
        }
    }

    /** A socket with its peer, an epoll descriptor with those that it watches. */
    private String withMore(int pid, int fd, String target) {
        StringBuilder more = new StringBuilder();
        if (target.startsWith("socket:[")) {
            String inode = target.substring(8, target.length() - 1);
            SocketNames sockets =
                    this.sockets.computeIfAbsent(
                            link("/proc/" + pid + "/ns/net"), _ -> new SocketNames(pid));
            more.append(sockets.peer(Long.parseLong(inode)));
        } else if (target.equals("anon_inode:[eventpoll]")) {
            Matcher watched = WATCHED.matcher(text("/proc/" + pid + "/fdinfo/" + fd));
            for (int i = 0; i < MAX_WATCHED && watched.find(); i++) {
                more.append(i == 0 ? "" : " ").append(watched.group(1));
            }
        }
        return more.isEmpty() ? target : target + " " + more;
    }

    private List<RecordingMeta.Descriptors> withHolders(Set<Integer> listed) {
        if (pipes.isEmpty()) {
            return tables;
        }
        Map<String, String> holders = new HashMap<>();
        for (int pid : everybody()) {
            if (!listed.contains(pid) && !isLate()) {
                for (int fd : numbers("/proc/" + pid + "/fd")) {
                    hold(link("/proc/" + pid + "/fd/" + fd), pid, fd, holders);
                }
            }
        }
        for (RecordingMeta.Descriptors table : tables) {
            new TreeMap<>(table.targets())
                    .forEach((fd, target) -> hold(target, table.pid(), fd, holders));
        }
        List<RecordingMeta.Descriptors> named = new ArrayList<>();
        for (RecordingMeta.Descriptors table : tables) {
            Map<Integer, String> targets = new TreeMap<>(table.targets());
            targets.replaceAll((fd, target) -> target + holders.getOrDefault(target, ""));
            named.add(new RecordingMeta.Descriptors(table.pid(), table.atNanos(), targets));
        }
        return named;
    }

    private void hold(String target, int pid, int fd, Map<String, String> holders) {
        if (pipes.contains(target)) {
            holders.putIfAbsent(target, " of " + pid + ":" + fd);
        }
    }

    /** fdinfo's second line: flags, octal, with O_CLOEXEC of this very descriptor. */
    private static boolean survivesExec(int pid, int fd) {
        for (String line : text("/proc/" + pid + "/fdinfo/" + fd).split("\n")) {
            if (line.matches("flags:\\s+[0-7]{1,15}")) {
                return (Long.parseLong(line.substring(6).strip(), 8) & FileCalls.O_CLOEXEC) == 0;
            }
        }
        return false;
    }

    /** The directory's names that are numbers, in order; empty when it is gone or not ours. */
    private static int[] numbers(String folder) {
        String[] names = new File(folder).list();
        return java.util.Arrays.stream(names == null ? new String[0] : names)
                .filter(name -> name.matches("\\d{1,9}"))
                .mapToInt(Integer::parseInt)
                .sorted()
                .toArray();
    }

    private static String link(String path) {
        try {
            byte[] target =
                    FileCalls.readlinkat(FileCalls.AT_FDCWD, path.getBytes(StandardCharsets.UTF_8));
            return new String(target, StandardCharsets.UTF_8);
        } catch (SyscallException e) {
            return "";
        }
    }

    private static String text(String path) {
        try {
            return new String(FileCalls.readAll(path, 1 << 16), StandardCharsets.UTF_8);
        } catch (SyscallException e) {
            return "";
        }
    }
}
