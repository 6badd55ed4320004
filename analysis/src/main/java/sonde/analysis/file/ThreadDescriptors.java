package sonde.analysis.file;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.analysis.ThreadTable;

/** Which thread has which descriptors. */
final class ThreadDescriptors {
    private static final int MAX_LISTED = 4096;

    /** The recorder looks at descriptors for no longer. */
    private static final long LOOKING_NANOS = 200_000_000;

    private static final Pattern MORE =
            Pattern.compile("(socket:\\[\\d+]|anon_inode:\\[eventpoll]) (.+)");

    private final ThreadTable threads;
    private final List<OpenFiles> listed;

    /** When the first look at all processes was over: what is told as older was there then. */
    private final long looked;

    private final Map<Integer, DescriptorTable> byPid = new HashMap<>();
    private @Nullable DescriptorTable[] byThread = new DescriptorTable[64];

    ThreadDescriptors(ThreadTable threads, List<OpenFiles> listed) {
        this.threads = threads;
        this.listed = List.copyOf(listed);
        long first = listed.stream().mapToLong(OpenFiles::atNanos).min().orElse(0);
        looked =
                listed.stream()
                        .mapToLong(OpenFiles::atNanos)
                        .filter(at -> at <= first + LOOKING_NANOS)
                        .max()
                        .orElse(0);
    }

    /** The table of a thread, made from what /proc showed of its process when it is new. */
    DescriptorTable of(int thread, long time) {
        DescriptorTable table = thread < byThread.length ? byThread[thread] : null;
        if (table == null) {
            int pid = threads.pid(thread);
            table = byPid.computeIfAbsent(pid, p -> atStart(p, time));
            set(thread, table);
        }
        return table;
    }

    private void set(int thread, DescriptorTable table) {
        if (thread >= byThread.length) {
            byThread = Arrays.copyOf(byThread, Math.max(thread + 1, 2 * byThread.length));
        }
        byThread[thread] = table;
    }

    private DescriptorTable atStart(int pid, long time) {
        for (OpenFiles one : listed) {
            if (one.pid() == pid && one.atNanos() <= Math.max(time, looked)) {
                boolean whole = one.targets().size() < MAX_LISTED;
                DescriptorTable table = new DescriptorTable(whole, one.survivingExec());
                table.awaitsExec = one.survivingExec();
                one.targets()
                        .forEach((fd, target) -> {
                            OpenFile opened = new OpenFile(OpenFile.Kind.of(target), fd, pid);
                            listed(opened, target);
                            table.put(fd, opened, false);
                        });
                return table;
            }
        }
        return new DescriptorTable(false, false);
    }

    /** Behind the brackets of a socket stands its peer, of an epoll descriptor what it watches. */
    private static void listed(OpenFile opened, String target) {
        Matcher more = MORE.matcher(target);
        if (!more.matches()) {
            opened.name = target;
        } else if (target.startsWith("socket:")) {
            opened.name = more.group(2);
            opened.bound = more.group(2).startsWith("at ");
        } else {
            opened.name = more.group(1);
            opened.watched = new TreeSet<>();
            for (String fd : more.group(2).split(" ")) {
                if (fd.matches("\\d{1,9}")) {
                    opened.watched.add(Integer.parseInt(fd));
                }
            }
        }
    }

    /**
     * A birth, told once or twice.
     *
     * @param shared whether parent and child have one table
     * @param certain whether that is known; else a later report may correct it
     */
    void born(int parent, int child, long time, boolean shared, boolean certain) {
        boolean told = child < byThread.length && byThread[child] != null;
        if (told && !(certain && shared) || !told && wasListed(threads.pid(child), time)) {
            return;
        }
        DescriptorTable table = of(parent, time);
        set(child, shared ? table : table.copy());
    }

    /** A birth after that is the recorder's, which tells again what was there before. */
    private boolean wasListed(int pid, long time) {
        return listed.stream()
                .anyMatch(one -> one.pid() == pid && one.atNanos() <= Math.max(time, looked));
    }

    void executed(int thread, long time) {
        DescriptorTable rest = of(thread, time).afterExec();
        set(thread, rest);
        byPid.put(threads.pid(thread), rest);
    }

    void unshared(int thread, long time) {
        set(thread, of(thread, time).copy());
    }

    /** After a loss the kernel's choices cannot be foretold. */
    void lost() {
        for (DescriptorTable table : byThread) {
            if (table != null) {
                table.whole = false;
            }
        }
        byPid.values().forEach(table -> table.whole = false);
    }

    /** Descriptors still without a name that /proc names at that time or later. */
    Map<OpenFile, String> namedAfter(long time) {
        Map<OpenFile, String> names = new IdentityHashMap<>();
        for (OpenFiles one : atEnd(time)) {
            for (int thread = 0; thread < byThread.length; thread++) {
                DescriptorTable table = byThread[thread];
                if (table != null && threads.pid(thread) == one.pid()) {
                    one.targets()
                            .forEach((fd, target) -> {
                                OpenFile opened = table.at(fd);
                                if (opened != null && opened.name == null && !opened.madeHere) {
                                    listed(opened, target);
                                    names.put(opened, String.valueOf(opened.name));
                                    opened.name = null;
                                }
                            });
                }
            }
        }
        return names;
    }

    private List<OpenFiles> atEnd(long time) {
        List<OpenFiles> result = new ArrayList<>(listed);
        result.removeIf(one -> one.atNanos() < time);
        return result;
    }
}
