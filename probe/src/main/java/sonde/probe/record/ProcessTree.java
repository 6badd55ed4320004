package sonde.probe.record;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/** What /proc says of processes and their descendants. Everything may vanish while it is read. */
public final class ProcessTree {
    private static final int MAX_PROCESSES = 10_000;

    private static final Pattern OWNER = Pattern.compile("(?m)^Tgid:\\s*(\\d{1,9})$");

    private ProcessTree() {}

    /** The processes and all their descendants, parents first. */
    public static List<Integer> processes(List<Integer> roots) {
        Set<Integer> found = new LinkedHashSet<>();
        Deque<Integer> open = new ArrayDeque<>(roots);
        while (!open.isEmpty() && found.size() < MAX_PROCESSES) {
            int pid = open.removeFirst();
            if (new File("/proc/" + pid).isDirectory() && found.add(pid)) {
                for (int tid : threads(pid)) {
                    open.addAll(children(pid, tid));
                }
            }
        }
        return List.copyOf(found);
    }

    /** A number that the kernel gives to processes last of all. */
    static int unusedPid() {
        String most = text("/proc/sys/kernel/pid_max").strip();
        return (most.matches("\\d{1,9}") ? Integer.parseInt(most) : 32768) - 1;
    }

    /** The name of a thread; empty when it is gone. */
    static String comm(int tid) {
        return text("/proc/" + tid + "/comm").stripTrailing();
    }

    /** Thread ids of a process; empty when it is gone. */
    static List<Integer> threads(int pid) {
        String[] names = new File("/proc/" + pid + "/task").list();
        List<Integer> tids = new ArrayList<>();
        for (String name : names == null ? new String[0] : names) {
            tids.add(Integer.parseInt(name));
        }
        return tids;
    }

    /** The processes that threads belong to, without those that ended. */
    static List<Integer> owners(Collection<Integer> tids) {
        Set<Integer> pids = new TreeSet<>();
        for (int tid : tids) {
            Matcher owner = OWNER.matcher(text("/proc/" + tid + "/status"));
            if (owner.find() && ProcessCalls.startTicks(tid) >= 0 && pids.size() < MAX_PROCESSES) {
                pids.add(Integer.parseInt(owner.group(1)));
            }
        }
        return List.copyOf(pids);
    }

    /** Name of a process's first thread; empty when it is gone. */
    static String name(int pid) {
        return text("/proc/" + pid + "/comm").strip();
    }

    /** All threads of those processes. */
    static Set<Integer> allThreads(List<Integer> pids) {
        Set<Integer> tids = new LinkedHashSet<>();
        pids.forEach(pid -> tids.addAll(threads(pid)));
        return tids;
    }

    private static List<Integer> children(int pid, int tid) {
        List<Integer> children = new ArrayList<>();
        String text = text("/proc/" + pid + "/task/" + tid + "/children");
        for (String child : text.strip().split(" ")) {
            if (child.matches("\\d{1,9}")) {
                children.add(Integer.parseInt(child));
            }
        }
        return children;
    }

    private static String text(String path) {
        try {
            return new String(FileCalls.readAll(path, 1 << 16), StandardCharsets.UTF_8);
        } catch (SyscallException e) {
            return "";
        }
    }
}
