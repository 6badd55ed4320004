package sonde.bpf.link;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.bpf.BpfRefusedException;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.TracepointFormat;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.MachineFacts;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * A probe with a name in tracefs (Documentation/trace/kprobetrace.rst, uprobetracer.rst): state of
 * the whole machine that outlives a killed process, hence the last resort. The group is {@code
 * sonde_PID_STARTTIME_PIDNS}, so that {@link #removeLeftovers} knows those of dead processes.
 */
final class NamedProbe {
    private static final String TRACEFS = "/sys/kernel/tracing/";
    private static final int ATTR_SIZE = 136;
    private static final int TYPE_TRACEPOINT = 2;
    private static final Pattern DEFINED =
            Pattern.compile("[pr]\\d*:(sonde_(\\d{1,9})_(\\d{1,18})_(\\d{1,18})/p\\d+) .*");
    private static final int MOST_TEXT = 16 << 20;
    private static final AtomicInteger NEXT = new AtomicInteger();

    private final String file;
    private final String group;
    private final String name;

    private NamedProbe(String file, String group, String name) {
        this.file = file;
        this.group = group;
        this.name = name;
    }

    /**
     * Defines one.
     *
     * @param file {@code "kprobe_events"} or {@code "uprobe_events"}
     * @param place as the file takes it
     */
    static NamedProbe make(String file, boolean atReturn, String place) throws IOException {
        int pid = ProcessCalls.getpid();
        String group =
                "sonde_%d_%d_%d"
                        .formatted(pid, ProcessCalls.startTicks(pid), ProcessCalls.pidNamespace());
        NamedProbe probe = new NamedProbe(file, group, "p" + NEXT.incrementAndGet());
        probe.write((atReturn ? "r:" : "p:") + group + "/" + probe.name + " " + place);
        return probe;
    }

    /**
     * Removes probes of processes of this pid namespace that are dead.
     *
     * @return their names
     */
    static List<String> removeLeftovers() {
        List<String> removed = new ArrayList<>();
        for (String file : List.of("kprobe_events", "uprobe_events")) {
            try {
                byte[] text = FileCalls.readAll(TRACEFS + file, MOST_TEXT);
                for (String line : new String(text, StandardCharsets.UTF_8).split("\n")) {
                    Matcher one = DEFINED.matcher(line);
                    if (one.matches()
                            && Long.parseLong(one.group(4)) == ProcessCalls.pidNamespace()
                            && ProcessCalls.startTicks(Integer.parseInt(one.group(2)))
                                    != Long.parseLong(one.group(3))) {
                        write(file, "-:" + one.group(1));
                        removed.add(one.group(1));
                    }
                }
            } catch (IOException e) {
                continue; // not readable here, or one is in use
            }
        }
        return removed;
    }

    private void write(String line) throws IOException {
        write(file, line);
    }

    private static void write(String file, String line) throws IOException {
        int fd;
        try {
            fd = FileCalls.open(TRACEFS + file, FileCalls.O_WRONLY | FileCalls.O_APPEND);
        } catch (SyscallException e) {
            throw new BpfRefusedException(
                    "probe by " + file,
                    e.errno(),
                    e.errno() == Errno.ENOENT
                            ? "this kernel has no " + file
                            : Errno.describe(e.errno()),
                    "");
        }
        try {
            Fd.writeFully(fd, (line + "\n").getBytes(StandardCharsets.UTF_8));
        } finally {
            Fd.discard(fd);
        }
    }

    private void remove() {
        try {
            write("-:" + group + "/" + name);
        } catch (IOException e) {
            // EBUSY while somebody else has switched it on: it stays theirs.
        }
    }

    Link attach(Program program, String target, int pid, long cookie) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            TracepointFormat tracepoint;
            try {
                tracepoint = TracepointFormat.of(group, name);
            } catch (IOException e) {
                remove();
                throw e;
            }
            MemorySegment attr = arena.allocate(ATTR_SIZE, 8);
            attr.set(JAVA_INT, 0, TYPE_TRACEPOINT);
            attr.set(JAVA_INT, 4, ATTR_SIZE);
            attr.set(JAVA_LONG, 8, tracepoint.id());
            int cpu = pid == -1 ? MachineFacts.onlineCpus().nextSetBit(0) : -1;
            return Link.perfEvent(program, target, attr, pid, cpu, cookie, this::remove);
        }
    }
}
