package sonde.tools.report.section;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.recording.bundle.JavaThreads;
import sonde.recording.bundle.JavaThreads.JavaLock;
import sonde.recording.bundle.JavaThreads.JavaThread;
import sonde.tools.report.ReportOperators;

/** Locks of Java programs, as their JVMs told them some times during the recording. */
final class JavaLocks {
    private static final int MOST_NAMES = 3;

    private JavaLocks() {}

    /** What a JVM said last of a thread of the recording; null when it said nothing. */
    static @Nullable JavaThread last(ReportOperators found, int thread) {
        JavaThread last = null;
        for (JavaThreads dump : found.javaThreads()) {
            if (dump.pid() == found.threads().pid(thread)) {
                last = of(found, dump, thread);
            }
        }
        return last;
    }

    private static @Nullable JavaThread of(ReportOperators found, JavaThreads dump, int thread) {
        int tid = found.threads().tid(thread);
        return dump.threads().stream().filter(one -> one.tid() == tid).findFirst().orElse(null);
    }

    /**
     * "java.lang.Object held by worker-2 (in Store.put (Store.java:7))"; null when it waits for
     * none.
     */
    static @Nullable String waitsFor(ReportOperators found, int thread) {
        String text = null;
        for (JavaThreads dump : found.javaThreads()) {
            JavaThread of =
                    dump.pid() == found.threads().pid(thread) ? of(found, dump, thread) : null;
            JavaLock lock = of == null ? null : of.waitsFor();
            if (of != null) {
                text = null;
            }
            if (lock != null) {
                JavaThread holder = dump.holder(lock);
                text =
                        "Java lock "
                                + lock.className()
                                + (holder == null
                                        ? ""
                                        : " held by " + holder.name() + place(holder.place()));
            }
        }
        return text;
    }

    private static String place(String place) {
        return place.isEmpty() ? "" : " (in " + place + ")";
    }

    /** A lock that threads were seen to wait for. */
    private static final class SeenLock {
        private int looks;
        private int waiters;
        private final TreeSet<String> holders = new TreeSet<>();
        private final TreeSet<String> places = new TreeSet<>();
    }

    /** Each lock that a thread was seen to wait for while another had it. */
    static Table table(ReportOperators found, int limit) {
        record JavaLockKey(int pid, JavaLock lock) {}
        Map<JavaLockKey, SeenLock> seen = new LinkedHashMap<>();
        for (JavaThreads dump : found.javaThreads()) {
            Map<JavaLock, List<JavaThread>> waiters = new LinkedHashMap<>();
            for (JavaThread thread : dump.threads()) {
                JavaLock lock = thread.waitsFor();
                if (lock != null && dump.holder(lock) != null) {
                    waiters.computeIfAbsent(lock, _ -> new ArrayList<>()).add(thread);
                }
            }
            waiters.forEach((lock, threads) -> {
                SeenLock sum =
                        seen.computeIfAbsent(
                                new JavaLockKey(dump.pid(), lock), _ -> new SeenLock());
                JavaThread holder = dump.holder(lock);
                sum.looks++;
                sum.waiters += threads.size();
                if (holder != null) {
                    sum.holders.add(holder.name());
                    sum.places.add(holder.place());
                }
            });
        }
        Map<Integer, Integer> looks = new LinkedHashMap<>();
        found.javaThreads().forEach(dump -> looks.merge(dump.pid(), 1, Integer::sum));
        return new TableBuilder<Map.Entry<JavaLockKey, SeenLock>>("Java locks")
                .text("class", entry -> entry.getKey().lock.className())
                .id("pid", entry -> entry.getKey().pid)
                .text(
                        "seen",
                        entry -> entry.getValue().looks + " of " + looks.get(entry.getKey().pid))
                .text("waiting", entry -> average(entry.getValue()))
                .text("held by", entry -> some(entry.getValue().holders))
                .text("in", entry -> some(entry.getValue().places))
                .table(
                        seen.entrySet().stream()
                                .sorted((one, other) ->
                                        Integer.compare(
                                                other.getValue().waiters, one.getValue().waiters)),
                        limit);
    }

    private static String average(SeenLock lock) {
        return String.format(java.util.Locale.ROOT, "%.1f", lock.waiters / (double) lock.looks);
    }

    private static String some(TreeSet<String> names) {
        List<String> first =
                new ArrayList<>(names.stream().filter(name -> !name.isEmpty()).toList());
        int more = first.size() - MOST_NAMES;
        return String.join(", ", first.subList(0, Math.min(MOST_NAMES, first.size())))
                + (more > 0 ? ", " + more + " more" : "");
    }
}
