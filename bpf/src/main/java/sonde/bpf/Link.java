package sonde.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import sonde.bpf.call.BpfAttr;
import sonde.bpf.call.KernelObject;
import sonde.sys.Bpf;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.MachineFacts;
import sonde.sys.PerfEventOpen;
import sonde.sys.SyscallException;

/**
 * A program's attachment; closing detaches. The kernel does the same when this process dies, unless
 * it is pinned. The attachments of tracepoints are made here, all others in {@code sonde.bpf.link}.
 */
public final class Link implements AutoCloseable {
    // struct perf_event_attr, include/uapi/linux/perf_event.h, up to PERF_ATTR_SIZE_VER8.
    private static final int ATTR_SIZE = 136;
    private static final int TYPE_TRACEPOINT = 2;
    private static final long DISABLED = 1;
    private static final int IOC_ENABLE = 0x2400;
    private static final int IOC_SET_BPF = 0x40042408;

    private static final int CLOSERS = 16;

    private static volatile int firstCpu = -1;

    private final String target;
    private final int fd;
    private final Runnable afterwards;
    private final List<Link> parts;
    private boolean closed;

    private Link(String target, int fd, Runnable afterwards) {
        this(target, fd, afterwards, List.of());
    }

    private Link(String target, int fd, Runnable afterwards, List<Link> parts) {
        this.target = target;
        this.fd = fd;
        this.afterwards = afterwards;
        this.parts = parts;
    }

    /**
     * Attaches a {@link ProgramType#TRACEPOINT} program. It runs on every CPU, although the perf
     * event that carries it belongs to one; a program that returns 0 makes no sample of it.
     */
    public static Link tracepoint(Program program, TracepointFormat tracepoint) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            int fd = open(perfEvent(arena, tracepoint), -1, firstCpu(), tracepoint.toString());
            return carry(program, fd, tracepoint.toString(), () -> {});
        }
    }

    private static MemorySegment perfEvent(Arena arena, TracepointFormat tracepoint) {
        MemorySegment attr = arena.allocate(ATTR_SIZE, 8);
        attr.set(JAVA_INT, 0, TYPE_TRACEPOINT);
        attr.set(JAVA_INT, 4, ATTR_SIZE);
        attr.set(JAVA_LONG, 8, tracepoint.id());
        return attr;
    }

    /** Finds out beforehand what attaching to tracepoints needs to know of the machine. */
    public static void prepare() throws SyscallException {
        firstCpu();
    }

    private static int firstCpu() throws SyscallException {
        int known = firstCpu;
        if (known < 0) {
            known = MachineFacts.onlineCpus().nextSetBit(0);
            // The first seldom goes; any other may.
            firstCpu = known == 0 ? 0 : -1;
        }
        return known;
    }

    /**
     * Attaches to a tracepoint with a number that the program finds by bpf_get_attach_cookie.
     *
     * @throws BpfRefusedException before Linux 5.15 for cookies other than 0
     */
    public static Link tracepoint(Program program, TracepointFormat tracepoint, long cookie)
            throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = perfEvent(arena, tracepoint);
            return perfEvent(
                    program, tracepoint.toString(), attr, -1, firstCpu(), cookie, () -> {});
        }
    }

    /**
     * Opens a perf event, attaches the program and enables it: by a link (Linux 5.15), else by
     * PERF_EVENT_IOC_SET_BPF, where {@link #isObject} is false and there is no cookie.
     *
     * @param attr struct perf_event_attr with its size at offset 4
     * @param pid a process, 0 for the calling thread, -1 for all
     * @param cpu a CPU, or -1 for all (not together with pid -1)
     * @param cookie what bpf_get_attach_cookie returns; 0 for none
     * @param afterwards what remains to be undone; runs also when attaching fails
     */
    public static Link perfEvent(
            Program program,
            String target,
            MemorySegment attr,
            int pid,
            int cpu,
            long cookie,
            Runnable afterwards)
            throws IOException {
        int event;
        try {
            event = open(attr, pid, cpu, target);
        } catch (IOException e) {
            afterwards.run();
            throw e;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment create = BpfAttr.allocate(arena);
            create.set(JAVA_INT, 0, program.fd());
            create.set(JAVA_INT, 4, event);
            create.set(JAVA_INT, 8, AttachType.PERF_EVENT.code());
            create.set(JAVA_LONG, 16, cookie);
            long link = Bpf.tryCall(BpfAttr.LINK_CREATE, create);
            if (link == -Errno.EINVAL && cookie == 0) {
                return carry(program, event, target, afterwards);
            }
            if (link < 0) {
                Fd.discard(event);
                afterwards.run();
                throw failure("bpf", target, (int) -link);
            }
            return enabled((int) link, event, target, afterwards);
        }
    }

    /** The link keeps the event. */
    private static Link enabled(int link, int event, String target, Runnable afterwards)
            throws IOException {
        try {
            Fd.ioctl(event, IOC_ENABLE, 0);
            return new Link(target, link, afterwards);
        } catch (SyscallException e) {
            Fd.discard(link);
            afterwards.run();
            throw failure(e.call(), target, e.errno());
        } finally {
            Fd.discard(event);
        }
    }

    private static int open(MemorySegment attr, int pid, int cpu, String target)
            throws IOException {
        attr.set(JAVA_LONG, 40, attr.get(JAVA_LONG, 40) | DISABLED);
        long fd = PerfEventOpen.tryOpen(attr, pid, cpu, -1, 0);
        if (fd < 0) {
            throw failure("perf_event_open", target, (int) -fd);
        }
        return (int) fd;
    }

    /** The event itself is the attachment. */
    private static Link carry(Program program, int event, String target, Runnable afterwards)
            throws IOException {
        try {
            Fd.ioctl(event, IOC_SET_BPF, program.fd());
            Fd.ioctl(event, IOC_ENABLE, 0);
            return new Link(target, event, afterwards);
        } catch (SyscallException e) {
            Fd.discard(event);
            afterwards.run();
            throw failure(e.call(), target, e.errno());
        }
    }

    /**
     * Makes a link by BPF_LINK_CREATE.
     *
     * @param arguments of the command, all but prog_fd
     * @param target for messages
     */
    public static Link create(Program program, MemorySegment arguments, String target)
            throws IOException {
        arguments.set(JAVA_INT, 0, program.fd());
        long fd = Bpf.tryCall(BpfAttr.LINK_CREATE, arguments);
        if (fd < 0) {
            throw failure("bpf", target, (int) -fd);
        }
        return new Link(target, (int) fd, () -> {});
    }

    /** Several attachments as one; closing closes all. */
    public static Link of(String target, List<Link> links) {
        List<Link> all = List.copyOf(links);
        return new Link(target, -1, () -> all.forEach(Link::close), all);
    }

    /**
     * Closes links. The kernel waits for a grace period of RCU, some 50 ms, at the last user of
     * each tracepoint; what several threads wait for overlaps in part.
     *
     * @param slow is told how many there are when it takes longer than a second
     */
    public static void closeAll(Collection<Link> links, IntConsumer slow) {
        List<Link> single = new ArrayList<>();
        links.forEach(link -> single.addAll(link.parts.isEmpty() ? List.of(link) : link.parts));
        if (single.size() < CLOSERS) {
            links.forEach(Link::close);
            return;
        }
        boolean told = false;
        try (ExecutorService closers = Executors.newFixedThreadPool(CLOSERS)) {
            single.forEach(link -> closers.execute(link::close));
            closers.shutdown();
            while (!closers.awaitTermination(1, TimeUnit.SECONDS)) {
                if (!told) {
                    slow.accept(single.size());
                }
                told = true;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the pool's close waits for the rest
        }
        links.forEach(Link::close);
    }

    /** Attaches to a CPU or to a thread. */
    @FunctionalInterface
    public interface OneAttachment {
        /** Attaches; closing detaches. */
        Link attach(int number) throws IOException;
    }

    /** An attachment for each number, closed as one; none stays when one is refused. */
    public static Link ofEach(String target, Collection<Integer> numbers, OneAttachment how)
            throws IOException {
        List<Link> links = new ArrayList<>();
        try {
            for (int number : numbers) {
                links.add(how.attach(number));
            }
            return of(target, links);
        } catch (IOException e) {
            links.forEach(Link::close);
            throw e;
        }
    }

    /** The numbers of all links; perf events without a link have none. */
    public static List<Integer> ids() throws SyscallException {
        return KernelObject.ids(BpfAttr.LINK_GET_NEXT_ID);
    }

    /** Opens a link by its number; the one who made it still holds it. */
    public static Link openId(int id) throws SyscallException {
        String what = "link " + id;
        return new Link(what, KernelObject.open(BpfAttr.LINK_GET_FD_BY_ID, id, what), () -> {});
    }

    /** Opens a link by its name in a bpffs. */
    public static Link openPinned(String path) throws SyscallException {
        return new Link(path, KernelObject.openPinned(path, "bpf-link"), () -> {});
    }

    /**
     * Attaches a {@link ProgramType#RAW_TRACEPOINT} program (Linux 4.17).
     *
     * @param name without the category: {@code "sys_enter"}
     */
    public static Link rawTracepoint(Program program, String name) throws IOException {
        return rawTracepoint(program, name, 0);
    }

    /**
     * {@link #rawTracepoint(Program, String)} with a number for bpf_get_attach_cookie.
     *
     * @param name empty for programs that were loaded for a typed tracepoint or a function
     * @param cookie 0, or since Linux 6.10 any
     */
    public static Link rawTracepoint(Program program, String name, long cookie) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_LONG, 0, name.isEmpty() ? 0 : arena.allocateFrom(name).address());
            attr.set(JAVA_INT, 8, program.fd());
            attr.set(JAVA_LONG, 16, cookie);
            long fd = Bpf.tryCall(BpfAttr.RAW_TRACEPOINT_OPEN, attr);
            if (fd < 0) {
                throw failure("bpf", "raw tracepoint " + name, (int) -fd);
            }
            return new Link(name, (int) fd, () -> {});
        }
    }

    /** What an attachment's errno means: a refusal where it is one, else the failed call. */
    private static IOException failure(String call, String target, int errno) {
        BpfRefusedException refused = RefusalCause.of("attaching to " + target, errno);
        return refused != null ? refused : new SyscallException(call, target, errno);
    }

    /** What it is attached to: {@code "syscalls:sys_enter_openat"}. */
    public String target() {
        return target;
    }

    /**
     * Puts another program in place of this one at once, where the kernel can: xdp, tcx, cgroup,
     * netns, iterators.
     */
    public void update(Program program) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 0, fd);
            attr.set(JAVA_INT, 4, program.fd());
            Bpf.call(BpfAttr.LINK_UPDATE, attr, "program of " + target);
        }
    }

    /**
     * Takes the program off its place though others still hold the link (Linux 5.9): xdp, tcx,
     * cgroup, netns, struct_ops.
     *
     * @throws SyscallException EOPNOTSUPP for other kinds, which end with their last holder
     */
    public void detach() throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attr = BpfAttr.allocate(arena);
            attr.set(JAVA_INT, 0, fd);
            Bpf.call(BpfAttr.LINK_DETACH, attr, target);
        }
    }

    /** Its descriptor; -1 for several attachments in one. */
    public int fd() {
        return fd;
    }

    /** Whether it is an object of the kernel, with number and facts, that can be pinned. */
    public boolean isObject() throws SyscallException {
        return fd >= 0 && KernelObject.kind(fd).equals("bpf-link");
    }

    /** What the kernel says of it; only where {@link #isObject}. */
    public LinkFacts facts() throws SyscallException {
        return LinkFacts.of(fd);
    }

    /** Gives it a name in a bpffs: it stays attached when this process is gone. */
    public void pin(String path) throws SyscallException {
        KernelObject.pin(fd, path);
    }

    /** Detaches; waits until no CPU runs the program through this link any more. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            if (fd >= 0) {
                Fd.discard(fd);
            }
            afterwards.run();
        }
    }
}
