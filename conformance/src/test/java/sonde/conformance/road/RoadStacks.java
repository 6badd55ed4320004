package sonde.conformance.road;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Writes, in the observed JVM, which source files of sonde stand on the stack where a road ends:
 * each once, as a line {@code POINT FILE…} of the file that the property sonde.road.file names. The
 * files of whoever started the thread belong to it.
 */
public final class RoadStacks {
    private static final int SYS_BPF = 321;
    private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();
    private static final Map<Thread, Set<String>> STARTERS =
            Collections.synchronizedMap(new WeakHashMap<>());
    private static final ThreadLocal<Boolean> WRITING = ThreadLocal.withInitial(() -> false);

    private RoadStacks() {}

    /** A system call, by its number; of bpf(2) each command. */
    public static void called(int number, long first) {
        reached("call:" + number + (number == SYS_BPF ? ":" + first : ""));
    }

    /** A file channel is mapped. */
    public static void mapped(Object channel) {
        if (!WRITING.get()) {
            reached("map:" + path(channel));
        }
    }

    /** Bytes go to a stream. */
    public static void written(Object stream) {
        try {
            if (!WRITING.get() && ((FileOutputStream) stream).getFD() == FileDescriptor.out) {
                reached("out");
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A thread begins. */
    public static void started(Object thread) {
        if (!WRITING.get()) {
            STARTERS.put((Thread) thread, files());
        }
    }

    private static String path(Object channel) {
        try {
            Field path = channel.getClass().getDeclaredField("path");
            path.setAccessible(true);
            return String.valueOf(path.get(channel));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void reached(String point) {
        String file = System.getProperty("sonde.road.file");
        if (file == null || WRITING.get()) {
            return;
        }
        String line = point + " " + String.join(" ", files()) + "\n";
        if (!SEEN.add(line)) {
            return;
        }
        WRITING.set(true);
        try (RandomAccessFile out = new RandomAccessFile(file, "rw")) {
            out.seek(out.length());
            out.write(line.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } finally {
            WRITING.set(false);
        }
    }

    private static Set<String> files() {
        Set<String> files = new TreeSet<>(STARTERS.getOrDefault(Thread.currentThread(), Set.of()));
        StackWalker.getInstance()
                .forEach(frame -> {
                    String name = frame.getClassName();
                    if (name.startsWith("sonde.") && !name.startsWith("sonde.conformance.")) {
                        files.add(
                                name.substring("sonde.".length(), name.lastIndexOf('.'))
                                        + "/"
                                        + frame.getFileName());
                    }
                });
        return files;
    }
}
