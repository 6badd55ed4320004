package sonde.probe.tracefs;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import sonde.recording.ftrace.CpuStats;
import sonde.sys.Errno;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * A tracefs instance of ours: own rings, own filters, own set of enabled events. Made switched off;
 * {@link #close} takes it away with everything in it. Or, for tracers that the kernel has only
 * once, the top of tracefs, all of whose files {@link #close} puts back.
 */
public final class TraceInstance implements AutoCloseable {
    /** tracefs takes at most a page in one write. */
    private static final int MAX_WRITE = 4000;

    private static final int REMOVE_ATTEMPTS = 50;

    private final Tracefs tracefs;
    private final String path;
    private final boolean isTop;
    private final List<String> failed = new ArrayList<>();
    private @Nullable TopFiles top;
    private boolean closed;

    private TraceInstance(Tracefs tracefs, String path) {
        this.tracefs = tracefs;
        this.path = path;
        this.isTop = path.equals(tracefs.root());
    }

    /** Makes the instance, with events off, its clock CLOCK_MONOTONIC. */
    public static TraceInstance create(Tracefs tracefs, InstanceName name) throws SyscallException {
        String path = tracefs.root() + "/instances/" + name;
        FileCalls.mkdirat(FileCalls.AT_FDCWD, Tracefs.bytes(path), 0700);
        TraceInstance instance = new TraceInstance(tracefs, path);
        try {
            instance.write("tracing_on", "0");
            instance.write("trace_clock", "mono");
        } catch (SyscallException e) {
            instance.close();
            throw e;
        }
        return instance;
    }

    /**
     * The top of tracefs, emptied, its clock CLOCK_MONOTONIC.
     *
     * @throws SyscallException EBUSY, with a reason, where somebody else uses it
     */
    public static TraceInstance top(Tracefs tracefs) throws SyscallException {
        TraceInstance instance = new TraceInstance(tracefs, tracefs.root());
        instance.top = TopFiles.lock(tracefs);
        try {
            List<String> users = TopUse.of(tracefs);
            if (!users.isEmpty()) {
                throw TracerRefusedException.busy(users);
            }
            instance.write("tracing_on", "0");
            instance.write("trace_clock", "mono");
            return instance;
        } catch (SyscallException e) {
            instance.close();
            throw e;
        }
    }

    /**
     * Writes a line into the rings that take events now: of every instance, and of the top where it
     * is in use.
     *
     * @return where
     */
    public static List<String> mark(Tracefs tracefs, String line) throws SyscallException {
        List<String> marked = new ArrayList<>();
        List<String> folders = new ArrayList<>();
        tracefs.instances().forEach(name -> folders.add("instances/" + name + "/"));
        if (TopUse.isOn(tracefs)) {
            folders.add("");
        }
        SyscallException refusal = null;
        for (String folder : folders) {
            try {
                if (tracefs.text(folder + "tracing_on").strip().equals("1")) {
                    Tracefs.write(tracefs.root() + "/" + folder + "trace_marker", line + "\n");
                    marked.add(folder.isEmpty() ? "the top" : folder.split("/", 3)[1]);
                }
            } catch (SyscallException e) {
                refusal = e; // an instance may end meanwhile
            }
        }
        if (marked.isEmpty() && refusal != null) {
            throw refusal;
        }
        return marked;
    }

    /** Whether a tracer can be set here. */
    public boolean hasTracer(String name) throws SyscallException {
        return List.of(text("available_tracers").split("\\s+")).contains(name);
    }

    /** Sets a tracer; it takes nothing before {@link #on}. */
    public void tracer(String name) throws SyscallException {
        try {
            write("current_tracer", name);
        } catch (SyscallException e) {
            throw TracerRefusedException.tracer(name, e);
        }
    }

    /** Writes a file of the instance or, where it has none of that name, of the top. */
    public void set(String file, String value, boolean appended) throws SyscallException {
        boolean own = isTop || present(file);
        if (!own && top == null) {
            top = TopFiles.lock(tracefs);
        }
        // The options of a tracer are those of all instances (Linux 6.1, trace_options.flags).
        boolean common = own && !isTop && file.startsWith("options/");
        if (common && top == null) {
            top = TopFiles.lock(tracefs);
        }
        TopFiles shared = top;
        if (shared != null && common) {
            shared.keep(file);
        }
        if (shared != null && (isTop || !own)) {
            shared.write(file, value, appended);
        } else if (appended) {
            append(file, value);
        } else {
            write(file, value);
        }
    }

    /** Clears what somebody left that would narrow the function graph, until this is closed. */
    public void widen() throws SyscallException {
        for (String file : TopUse.LISTS) {
            if ((isTop || !present(file)) && tracefs.list("").contains(file)) {
                if (!TopFiles.values(tracefs.text(file)).isEmpty()) {
                    set(file, "", false);
                }
            }
        }
        // Also where they are 0: another sonde is not to set them meanwhile.
        set("max_graph_depth", "0", false);
        set("tracing_thresh", "0", false);
    }

    /** Whether it has a file of this name. */
    public boolean has(String file) {
        return present(file);
    }

    private boolean present(String file) {
        byte[] name = Tracefs.bytes(path + "/" + file);
        return FileCalls.access(FileCalls.AT_FDCWD, name, FileCalls.F_OK) == 0;
    }

    /** Traces functions of these threads, and of those they make from now on, only. */
    public void traceOnly(Collection<Integer> tids) throws SyscallException {
        option("function-fork", true);
        appendTids("set_ftrace_pid", tids);
    }

    /** Traces no functions of these threads. */
    public void traceNone(Collection<Integer> tids) throws SyscallException {
        option("function-fork", true);
        appendTids("set_ftrace_notrace_pid", tids);
    }

    /** Sets the ring's size per CPU; the kernel rounds up to sub-buffers. */
    public void bufferBytes(long sizeBytes) throws SyscallException {
        write("buffer_size_kb", Long.toString(Math.max(sizeBytes >> 10, 1)));
    }

    /** How full a ring must be before poll(2) wakes its reader, in percent. */
    public void wakeAtPercent(int percent) throws SyscallException {
        write("buffer_percent", Integer.toString(percent));
    }

    /** Sets an option ({@code overwrite}, {@code event-fork}). */
    public void option(String name, boolean value) throws SyscallException {
        write("options/" + name, value ? "1" : "0");
    }

    /**
     * Takes only events in the context of these threads and of those they make from now on. May be
     * called again to add more.
     */
    public void follow(Collection<Integer> tids) throws SyscallException {
        option("event-fork", true);
        appendTids("set_event_pid", tids);
    }

    /** Takes no events in the context of these threads, nor of those they make from now on. */
    public void exclude(Collection<Integer> tids) throws SyscallException {
        option("event-fork", true);
        appendTids("set_event_notrace_pid", tids);
    }

    private void appendTids(String file, Collection<Integer> tids) throws SyscallException {
        StringJoiner chunk = new StringJoiner(" ");
        for (int tid : tids) {
            chunk.add(Integer.toString(tid));
            if (chunk.length() > MAX_WRITE - 12) {
                append(file, chunk.toString());
                chunk = new StringJoiner(" ");
            }
        }
        if (chunk.length() > 0) {
            append(file, chunk.toString());
        }
    }

    /** Without O_TRUNC and with O_APPEND the list grows; with a plain open it would be cleared. */
    private void append(String file, String tids) throws SyscallException {
        if (isTop) {
            set(file, tids, true);
            return;
        }
        Tracefs.write(path + "/" + file, tids + "\n", FileCalls.O_WRONLY | FileCalls.O_APPEND);
    }

    /**
     * Enables events.
     *
     * @return those that the kernel refused, with the reason
     */
    public List<String> enable(List<String> events) {
        List<String> refused = new ArrayList<>();
        for (String event : events) {
            try {
                write(Tracefs.eventFolder(event) + "/enable", "1");
            } catch (SyscallException e) {
                refused.add(event + ": " + Errno.describe(e.errno()));
            }
        }
        return refused;
    }

    /** Takes only those hits of an event that fit a condition on its fields. */
    public void filter(String event, String condition) throws SyscallException {
        write(Tracefs.eventFolder(event) + "/filter", condition);
    }

    /**
     * Sets a trigger of an event.
     *
     * @throws SyscallException with what the kernel says of its words
     */
    public void trigger(String event, String trigger) throws SyscallException {
        try {
            write(Tracefs.eventFolder(event) + "/trigger", trigger);
        } catch (SyscallException e) {
            throw TracerRefusedException.trigger(event, trigger, e, text("error_log"), tracefs);
        }
    }

    /** What a hist trigger of an event has counted. */
    public String histogram(String event) throws SyscallException {
        return text(Tracefs.eventFolder(event) + "/hist");
    }

    /** Takes events of these CPUs only. */
    public void cpus(Collection<Integer> cpus) throws SyscallException {
        BitSet bits = new BitSet();
        cpus.forEach(bits::set);
        // The kernel reads words of 32 bits in hexadecimal, the highest first (bitmap_parse).
        StringJoiner words = new StringJoiner(",");
        for (int word = (bits.length() - 1) / Integer.SIZE; word >= 0; word--) {
            long[] part = bits.get(word * Integer.SIZE, (word + 1) * Integer.SIZE).toLongArray();
            words.add(Long.toHexString(part.length == 0 ? 0 : part[0]));
        }
        write("tracing_cpumask", words.toString());
    }

    /** Starts taking events. */
    public void on() throws SyscallException {
        write("tracing_on", "1");
    }

    /** Stops taking events; what is in the rings stays. */
    public void off() throws SyscallException {
        write("tracing_on", "0");
    }

    /** A CPU's account. */
    public CpuStats stats(int cpu) throws SyscallException {
        return CpuStats.parse(text("per_cpu/cpu" + cpu + "/stats"));
    }

    /** Text of a file of the instance. */
    public String text(String file) throws SyscallException {
        return tracefs.text(path.substring(tracefs.root().length()) + "/" + file);
    }

    /** Opens a CPU's raw ring, non-blocking. */
    public int openRaw(int cpu) throws SyscallException {
        return FileCalls.open(
                path + "/per_cpu/cpu" + cpu + "/trace_pipe_raw",
                FileCalls.O_RDONLY | FileCalls.O_NONBLOCK);
    }

    /** Things that could not be undone; empty after a clean {@link #close}. */
    public List<String> failures() {
        return List.copyOf(failed);
    }

    private void write(String file, String value) throws SyscallException {
        TopFiles shared = top;
        if (isTop && shared != null) {
            shared.write(file, value, false);
            return;
        }
        Tracefs.write(path + "/" + file, value);
    }

    /**
     * Switches off and removes. All descriptors into it must be closed before: the kernel answers
     * EBUSY while one is open, also for a moment afterwards, so that is tried again for half a
     * second.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        quietly("tracing_on", "0");
        if (isTop) {
            restore();
            return;
        }
        quietly("events/enable", "0");
        if (top != null) {
            quietly("current_tracer", "nop");
        }
        restore();
        for (int attempt = 1; ; attempt++) {
            try {
                FileCalls.unlinkat(FileCalls.AT_FDCWD, Tracefs.bytes(path), FileCalls.AT_REMOVEDIR);
                return;
            } catch (SyscallException e) {
                if (e.errno() != Errno.EBUSY || attempt == REMOVE_ATTEMPTS) {
                    failed.add(path + ": " + Errno.describe(e.errno()));
                    return;
                }
            }
            try {
                Thread.sleep(10);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void restore() {
        TopFiles shared = top;
        try {
            if (shared != null) {
                shared.close();
            }
        } catch (SyscallException e) {
            failed.add(e.getMessage() + "; 'sonde doctor --clean' tries again");
        }
    }

    private void quietly(String file, String value) {
        try {
            write(file, value);
        } catch (SyscallException e) {
            failed.add(path + "/" + file + ": " + Errno.describe(e.errno()));
        }
    }
}
