package sonde.recording.bundle;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What a JVM said of its threads: the answer of HotSpot to {@code jcmd PID Thread.print -l}
 * (src/hotspot/share/runtime/threads.cpp, vframe.cpp), a part of a bundle.
 *
 * @param pid of the JVM
 * @param threads those with a number of the kernel
 */
public record JavaThreads(int pid, List<JavaThread> threads) {
    /** Also the limit of a dump, bytes. */
    public static final int LIMIT = 1 << 20;

    private static final int MOST_FRAMES = 200;

    private static final Pattern PART = Pattern.compile("java-threads-(\\d{1,9})-\\d{1,9}\\.txt");
    private static final Pattern HEAD = Pattern.compile("^\"(.*)\" #.* nid=(0x[0-9a-f]+|\\d+) .*");
    private static final Pattern FRAME = Pattern.compile("^\\tat ([^(]+)\\((.*)\\)$");
    private static final Pattern LOCK =
            Pattern.compile(
                    "^\\t- (\\w[\\w -]*?(?: in wait\\(\\))?|) ?<0x([0-9a-f]+)> \\(a (.+)\\)$");

    /** Frames of the JDK say nothing of a program. */
    private static final Pattern JDK = Pattern.compile("(java|javax|jdk|sun|com\\.sun)\\..*");

    public JavaThreads {
        threads = List.copyOf(threads);
    }

    /** A monitor, or what a thread parks for. */
    public record JavaLock(long address, String className) {}

    /**
     * A thread.
     *
     * @param tid its number in the JVM's pid namespace
     * @param place the program's innermost function, {@code "Store.put (Store.java:7)"}; empty when
     *     all of it is the JDK's
     * @param waitsFor what it waits to get; null for none
     * @param held locks that it has
     */
    public record JavaThread(
            int tid, String name, String place, @Nullable JavaLock waitsFor, List<JavaLock> held) {
        public JavaThread {
            held = List.copyOf(held);
        }
    }

    /** The name of a part. */
    public static String partName(int pid, int number) {
        return "java-threads-" + pid + "-" + number + ".txt";
    }

    /** The process of a part of that name; -1 when it is another part. */
    public static int pidOf(String partName) {
        Matcher part = PART.matcher(partName);
        return part.matches() ? Integer.parseInt(part.group(1)) : -1;
    }

    /** Reads a dump; lines of another form are passed over. */
    public static JavaThreads parse(int pid, String text) {
        List<JavaThread> threads = new ArrayList<>();
        DumpedThread open = null;
        for (String line : text.split("\n", -1)) {
            Matcher head = HEAD.matcher(line);
            if (head.matches()) {
                if (open != null) {
                    threads.add(open.thread());
                }
                open = new DumpedThread(head.group(1), number(head.group(2)));
            } else if (open != null) {
                open.line(line);
            }
        }
        if (open != null) {
            threads.add(open.thread());
        }
        return new JavaThreads(pid, threads);
    }

    private static int number(String word) {
        long number =
                word.startsWith("0x")
                        ? Long.parseUnsignedLong(word.substring(2, Math.min(word.length(), 17)), 16)
                        : Long.parseLong(word.substring(0, Math.min(word.length(), 18)));
        return (int) Math.clamp(number, 0, Integer.MAX_VALUE);
    }

    private static final class DumpedThread {
        private final String name;
        private final int tid;
        private final List<JavaLock> held = new ArrayList<>();
        private String place = "";
        private int frames;
        private @Nullable JavaLock waitsFor;
        private long given;

        DumpedThread(String name, int tid) {
            this.name = name;
            this.tid = tid;
        }

        void line(String line) {
            Matcher frame = FRAME.matcher(line);
            if (frame.matches()) {
                if (frames++ < MOST_FRAMES && place.isEmpty() && !isJdk(frame.group(1))) {
                    place = frame.group(1) + " (" + frame.group(2) + ")";
                }
                return;
            }
            Matcher lock = LOCK.matcher(line);
            if (lock.matches()) {
                long address = Long.parseUnsignedLong(lock.group(2), 16);
                lock(lock.group(1).strip(), new JavaLock(address, lock.group(3)));
            }
        }

        private static boolean isJdk(String method) {
            return JDK.matcher(method).matches();
        }

        private void lock(String what, JavaLock lock) {
            switch (what) {
                case "waiting to lock", "parking to wait for", "waiting to re-lock in wait()" ->
                        waitsFor = lock;
                case "waiting on" -> given = lock.address; // Object.wait gives the monitor away
                case "locked", "" -> {
                    if (lock.address != given) {
                        held.add(lock);
                    }
                }
                default -> {} // says nothing of who has it
            }
        }

        JavaThread thread() {
            return new JavaThread(tid, name, place, waitsFor, held);
        }
    }

    /** The thread that has a lock; null when none is seen to. */
    public @Nullable JavaThread holder(JavaLock lock) {
        for (JavaThread thread : threads) {
            if (thread.held.stream().anyMatch(one -> one.address == lock.address)) {
                return thread;
            }
        }
        return null;
    }
}
