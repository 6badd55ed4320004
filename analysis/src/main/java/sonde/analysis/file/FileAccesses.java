package sonde.analysis.file;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Operator;
import sonde.analysis.SourceBindings;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.event.Batch;
import sonde.event.Source;
import sonde.recording.names.FutexWords;
import sonde.recording.names.NamedCall;

/**
 * Joins system calls with the names of what their descriptors stand for.
 *
 * <p>Descriptors are followed from raw_syscalls: a table per process, copied by fork, shared by
 * threads, thinned by exec. Names come from the names program ({@link NamedCall}, some microseconds
 * before or after the return of the call it names) and from {@code /proc/PID/fd}. A pipe's two
 * descriptors are behind a pointer; they are the lowest free ones as long as the whole table is
 * known. What has no name is called by its descriptor. Time is that between enter and exit, waiting
 * included; a call between two files counts for both.
 */
public final class FileAccesses implements Operator {
    private static final int X32_BIT = 1 << 30;
    private static final int EBADF = 9;
    private static final int MAX_ERRNO = 4095;
    private static final int EINPROGRESS = 115;
    private static final int CLONE_FILES = 0x400;
    private static final int EPOLL_CTL_DEL = 2;
    private static final int P_PID = 1;

    /** No system call has this number. */
    private static final int NO_CALL = 0xffff;

    /** Calls that make what has no name. */
    private static final List<String> NAMELESS =
            List.of(
                    "epoll_create",
                    "epoll_create1",
                    "eventfd",
                    "eventfd2",
                    "timerfd_create",
                    "signalfd4",
                    "inotify_init",
                    "inotify_init1",
                    "io_uring_setup",
                    "memfd_create");

    private final ThreadTable threads;
    private final TimeWindow window;
    private final FileCall[] calls;
    private final ThreadDescriptors tables;
    private final FileLedger ledger;
    private final Map<Integer, String> nameless = new HashMap<>();
    private final int connect;
    private final int waitid;
    private final SourceBindings<FileFields> bindings = new SourceBindings<>(FileFields::new);
    private final Map<Integer, int[]> opened = new HashMap<>();
    private final Mappings mappings = new Mappings();
    private final Map<String, OpenFile> systemV = new HashMap<>();
    private final int openQueue;
    private boolean sawNames;
    private long losses;

    // By thread: the call it is in.
    private @Nullable PendingFileCall[] pending = new PendingFileCall[64];

    /** A call under way; reused for the thread's next. */
    private static final class PendingFileCall {
        final long[] arguments = new long[FileFields.ARGUMENTS];
        @Nullable FileCall kind;
        int number;

        /** What it waits for, as the names program told it. */
        @Nullable NamedCall wait;

        long since;
        boolean counts;
        @Nullable OpenFile from;
        @Nullable OpenFile to;
        @Nullable OpenFile made;

        /** The name of what the call makes, when it came before its return. */
        @Nullable String name;

        int argument(int index) {
            return (int) arguments[index];
        }
    }

    /**
     * What was done with one file or peer.
     *
     * @param peer whether it is a socket or pipe
     * @param opens how often it was opened, connected or accepted
     * @param calls that read, wrote, waited or synchronised
     * @param nanos in these calls and in close
     */
    public record Entry(
            boolean peer,
            String name,
            long opens,
            long calls,
            long readBytes,
            long writtenBytes,
            long nanos) {}

    /**
     * What one thread did with one file or peer by calls of one number; a call that had not
     * returned at the end has time, but does not count.
     */
    public record DescriptorUse(
            int thread,
            int number,
            boolean peer,
            String name,
            long opens,
            long calls,
            long bytes,
            long nanos) {}

    /** Takes uses of files. */
    @FunctionalInterface
    public interface UseSink {
        /** A thread used a file. */
        void use(DescriptorUse use);
    }

    /** Takes paths of calls. */
    @FunctionalInterface
    public interface PathSink {
        /** A thread's calls of one number had the path so often, of those that were told. */
        void path(int thread, int number, String path, long told);
    }

    /** A path or address that could not be opened, executed, bound or connected to. */
    public record Failure(String name, int errno, long count) {}

    /**
     * @param numberOf number of a system call on the recorded machine, -1 where it has none
     * @param listed what /proc showed of processes, in order of time
     */
    public FileAccesses(
            ThreadTable threads,
            TimeWindow window,
            ToIntFunction<String> numberOf,
            List<OpenFiles> listed) {
        this.threads = threads;
        this.ledger = new FileLedger(threads::name);
        this.window = window;
        this.calls = FileCall.table(numberOf);
        this.tables = new ThreadDescriptors(threads, listed);
        connect = numberOf.applyAsInt("connect");
        NAMELESS.forEach(name ->
                nameless.put(
                        numberOf.applyAsInt(name),
                        name.replaceFirst("(_create|_init|_setup).*", "")));
        waitid = numberOf.applyAsInt("waitid");
        openQueue = numberOf.applyAsInt("mq_open");
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).wanted.codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        FileFields fields = bindings.of(batch);
        for (int row = from; row < to; row++) {
            switch (fields.wanted.code(batch, row)) {
                case FileFields.ENTER -> enter(fields, batch, row);
                case FileFields.EXIT -> exit(fields, batch, row);
                case FileFields.NAME -> named(batch, row);
                case FileFields.FORK -> fork(fields, batch, row);
                case FileFields.PERF_FORK -> perfFork(fields, batch, row);
                case FileFields.EXECUTED -> {
                    int thread = threads.find(FileFields.value(fields.executed, batch, row));
                    if (thread >= 0) {
                        mappings.executed(threads.pid(thread));
                        tables.executed(thread, batch.time(row));
                    }
                }
                case FileFields.LOST -> {
                    losses++;
                    tables.lost();
                }
                default -> {}
            }
        }
    }

    private PendingFileCall call(int thread) {
        if (thread >= pending.length) {
            pending = Arrays.copyOf(pending, Math.max(thread + 1, 2 * pending.length));
        }
        PendingFileCall call = pending[thread];
        if (call == null) {
            call = new PendingFileCall();
            pending[thread] = call;
        }
        return call;
    }

    private void enter(FileFields fields, Batch batch, int row) {
        int thread = threads.find(batch.tid(row));
        if (thread < 0 || fields.calls.isCopy(batch, row)) {
            return;
        }
        int number = fields.calls.number(batch, row);
        number = number < 0 ? -1 : number & ~X32_BIT;
        FileCall kind = number >= 0 && number < calls.length ? calls[number] : null;
        PendingFileCall call = call(thread);
        call.kind = kind;
        call.number = number;
        call.since = batch.time(row);
        if (kind == null || !fields.calls.arguments(batch, row, call.arguments)) {
            call.kind = null;
            return;
        }
        long time = batch.time(row);
        call.since = time;
        call.counts = threads.counts(thread, time) && window.contains(time);
        DescriptorTable table = tables.of(thread, time);
        int pid = threads.pid(thread);
        call.made = null;
        call.name = null;
        call.from = kind.from < 0 ? null : opened(table, call.argument(kind.from), pid);
        call.to = kind.to < 0 ? null : opened(table, call.argument(kind.to), pid);
        if (kind == FileCall.SEMAPHORES || kind == FileCall.MESSAGES) {
            call.from = systemV(kind, call.argument(0));
        }
        if (kind == FileCall.MSYNC) {
            Mappings.SharedRange range = mappings.shared(pid, call.arguments[0]);
            call.from = range == null ? null : range.file();
        }
        // Another thread may get the number before this call returns.
        if (kind == FileCall.CLOSE) {
            table.put(call.argument(0), null, false);
        }
    }

    /** svipc(7): a queue or set of semaphores has a number of its own, no descriptor. */
    private @Nullable OpenFile systemV(FileCall kind, int id) {
        boolean set = kind == FileCall.SEMAPHORES;
        String name = (set ? "the semaphore set " : "the message queue ") + id;
        if (systemV.size() >= DescriptorTable.LIMIT && !systemV.containsKey(name)) {
            return null;
        }
        return systemV.computeIfAbsent(
                name,
                _ -> {
                    OpenFile made = new OpenFile(OpenFile.Kind.PIPE, -1, 0);
                    ledger.name(made, name + " (System V)");
                    return made;
                });
    }

    /** What a descriptor stands for; made when nothing told of it. */
    private static @Nullable OpenFile opened(DescriptorTable table, int fd, int pid) {
        OpenFile known = table.at(fd);
        if (known == null && fd >= 0 && fd < DescriptorTable.LIMIT) {
            known = new OpenFile(OpenFile.Kind.UNTOLD, fd, pid);
            table.put(fd, known, false);
        }
        return known;
    }

    private void exit(FileFields fields, Batch batch, int row) {
        int thread = threads.find(batch.tid(row));
        PendingFileCall call = thread >= 0 && thread < pending.length ? pending[thread] : null;
        FileCall kind = call == null ? null : call.kind;
        if (call == null || kind == null || fields.calls.isCopy(batch, row)) {
            return;
        }
        call.kind = null;
        long time = batch.time(row);
        long result = fields.calls.result(batch, row);
        DescriptorTable table = tables.of(thread, time);
        if (result == -EBADF) {
            forget(table, call, kind);
            return;
        }
        boolean failed = result < 0 && result >= -MAX_ERRNO;
        if (!failed) {
            guessless(table, call);
            if (kind == FileCall.MMAP && call.counts) {
                mappings.mapped(threads.pid(thread), call.arguments, call.from, result);
            }
            made(kind, call, thread, time, (int) result);
        }
        if (!failed) {
            counted(kind, thread, (int) result);
        }
        if (call.counts && call.made != null && kind != FileCall.SOCKET) {
            ledger.columns(call.made, thread, call.number)[FileSums.OPENS]++;
        }
        if (call.counts && kind.takesTime(call.arguments)) {
            long moved = failed || !kind.movesBytes ? 0 : result;
            count(call, thread, time - call.since, kind == FileCall.CLOSE ? 0 : 1, moved);
        }
    }

    /** Follows how many descriptors a process has made and not closed. */
    private void counted(FileCall kind, int thread, int result) {
        boolean made = kind.makes() || kind == FileCall.SOCKET || kind == FileCall.DUP;
        boolean two = kind == FileCall.PIPE || kind == FileCall.PIPE2;
        int more = made ? 1 : two || kind == FileCall.SOCKET_PAIR ? 2 : 0;
        more = kind == FileCall.CLOSE && result == 0 ? -1 : more;
        if (more != 0) {
            int[] open = open(threads.pid(thread));
            open[0] = Math.max(0, open[0] + more);
            open[1] = Math.max(open[0], open[1]);
        }
    }

    private int[] open(int pid) {
        return opened.computeIfAbsent(pid, _ -> new int[2]);
    }

    /** How many descriptors that it made in the recording a process had at most. */
    public int mostOpen(int pid) {
        return open(pid)[1];
    }

    private static void forget(DescriptorTable table, PendingFileCall call, FileCall kind) {
        for (int index : new int[] {kind.from, kind.to}) {
            OpenFile known = index < 0 ? null : table.at(call.argument(index));
            if (known != null && known.kind == OpenFile.Kind.UNTOLD && known.name == null) {
                table.put(call.argument(index), null, false);
            }
        }
    }

    /** A descriptor that worked and that nothing told of: the table is not whole. */
    private static void guessless(DescriptorTable table, PendingFileCall call) {
        for (OpenFile one : new OpenFile[] {call.from, call.to}) {
            if (one != null && one.kind == OpenFile.Kind.UNTOLD && one.name == null) {
                table.whole = false;
            }
        }
    }

    private void count(PendingFileCall call, int thread, long nanos, int calls, long bytes) {
        for (int column : new int[] {FileSums.READ, FileSums.WRITTEN}) {
            OpenFile opened = column == FileSums.READ ? call.from : call.to;
            if (opened != null) {
                long[] sums = ledger.columns(opened, thread, call.number);
                sums[FileSums.CALLS] += calls;
                sums[FileSums.NANOS] += nanos;
                sums[column] += bytes;
            }
        }
    }

    /** What a call that succeeded changes in the table. */
    private void made(FileCall kind, PendingFileCall call, int thread, long time, int result) {
        DescriptorTable table = tables.of(thread, time);
        boolean closes = kind.closesOnExec(call.arguments);
        switch (kind) {
            case OPEN, OPENAT -> make(call, table, OpenFile.Kind.FILE, thread, result, closes);
            case OPEN_LIKE -> {
                table.marksKnown = false;
                make(call, table, OpenFile.Kind.FILE, thread, result, false);
                if (call.made != null) {
                    call.made.what = nameless.getOrDefault(call.number, "");
                }
            }
            case SOCKET -> make(call, table, OpenFile.Kind.SOCKET, thread, result, closes);
            case ACCEPT, ACCEPT4 -> {
                OpenFile listener = call.from;
                make(call, table, OpenFile.Kind.SOCKET, thread, result, closes);
                if (call.name == null
                        && call.made != null
                        && listener != null
                        && listener.name != null) {
                    ledger.name(call.made, listener.name);
                    call.made.bound = true;
                }
            }
            case PIPE, PIPE2 -> {
                if (call.name == null) {
                    pair(table, OpenFile.Kind.PIPE, thread, closes);
                }
            }
            case SOCKET_PAIR -> pair(table, OpenFile.Kind.SOCKET, thread, closes);
            case DUP, DUP2, DUP3 -> table.put(result, call.from, closes);
            case FCNTL -> {
                if (FileCall.duplicates(call.arguments)) {
                    table.put(result, call.from, closes);
                } else if (FileCall.marks(call.arguments)) {
                    table.closeOnExec(call.argument(0), (call.arguments[2] & 1) != 0);
                }
            }
            case CLOSE_RANGE -> range(call.arguments, thread, time);
            case UNSHARE -> {
                if ((call.arguments[0] & CLONE_FILES) != 0) {
                    tables.unshared(thread, time);
                }
            }
            case EPOLL_CTL -> watch(call, table);
            case READ, WRITE -> connected(call);
            case MOVE,
                    MMAP,
                    MSYNC,
                    SEMAPHORES,
                    MESSAGES,
                    SEND_FILE,
                    TEE,
                    WAIT,
                    CLOSE,
                    CLONE,
                    EXEC,
                    POLL,
                    EPOLL_WAIT,
                    FUTEX,
                    CHILD -> {}
        }
    }

    /** The name of the shared memory at an address; empty where none is known. */
    String sharedMemory(int pid, long address) {
        Mappings.SharedRange found = mappings.shared(pid, address);
        OpenFile file = found == null ? null : found.file();
        return found == null ? "" : file == null ? "without a file" : ledger.text(file);
    }

    private static void connected(PendingFileCall call) {
        for (OpenFile one : new OpenFile[] {call.from, call.to}) {
            if (one != null) {
                one.connecting = false;
            }
        }
    }

    /** epoll_ctl(2): the set, 1 adds, 2 removes. */
    private static void watch(PendingFileCall call, DescriptorTable table) {
        OpenFile set = table.at(call.argument(0));
        if (set == null) {
            return;
        }
        Set<Integer> watched = set.watched == null ? new TreeSet<>() : set.watched;
        set.watched = watched;
        if (call.argument(1) == EPOLL_CTL_DEL) {
            watched.remove(call.argument(2));
        } else {
            watched.add(call.argument(2));
        }
    }

    /**
     * What the call of a thread waits for.
     *
     * @param files descriptors; empty for none
     * @param futex address of the word that is waited on, 0 for none
     * @param ending thread whose end is waited for, -1 for none
     * @param child pid that wait4 or waitid asks for, 0 for any
     */
    record WaitedNow(List<OpenFile> files, boolean connects, long futex, int ending, int child) {
        static WaitedNow of(List<OpenFile> files, boolean connects) {
            return new WaitedNow(files, connects, 0, -1, 0);
        }
    }

    /** What a thread's call waits for; null when its begin was not recorded. */
    @Nullable WaitedNow waitsNow(int thread, long time) {
        PendingFileCall call = thread < pending.length ? pending[thread] : null;
        if (call == null || call.kind == null) {
            return call == null || call.since == 0 ? null : WaitedNow.of(List.of(), false);
        }
        return switch (call.kind) {
            case CHILD -> {
                boolean all = call.number == waitid && call.arguments[0] != P_PID;
                int asked = call.argument(call.number == waitid ? 1 : 0);
                yield new WaitedNow(List.of(), false, 0, -1, all ? 0 : asked);
            }
            case FUTEX -> {
                NamedCall wait = waiting(call);
                FutexWords words = wait == null ? null : wait.futex();
                int ending = words == null ? 0 : words.ending(own -> own(thread, own));
                yield new WaitedNow(
                        List.of(),
                        false,
                        call.arguments[0],
                        ending == 0 ? -1 : threads.find(ending),
                        0);
            }
            case POLL -> {
                NamedCall wait = waiting(call);
                List<Integer> fds = wait == null ? List.of() : wait.descriptors();
                yield WaitedNow.of(opened(tables.of(thread, time), fds), false);
            }
            case EPOLL_WAIT -> {
                DescriptorTable table = tables.of(thread, time);
                OpenFile set = table.at(call.argument(0));
                Set<Integer> watched = set == null ? null : set.watched;
                yield WaitedNow.of(watched == null ? List.of() : opened(table, watched), false);
            }
            default -> {
                OpenFile on = call.from != null ? call.from : call.to;
                boolean connects = call.number == connect;
                yield WaitedNow.of(on == null ? List.of() : List.of(on), connects);
            }
        };
    }

    private static List<OpenFile> opened(DescriptorTable table, Collection<Integer> fds) {
        return fds.stream().map(table::at).filter(Objects::nonNull).distinct().toList();
    }

    /** What was told when the call began: it names the same place in memory. */
    private static @Nullable NamedCall waiting(PendingFileCall call) {
        NamedCall told = call.wait;
        boolean select = told != null && told.kind() == NamedCall.Kind.SELECT;
        return told != null && told.result() == call.arguments[select ? 1 : 0] ? told : null;
    }

    /** The thread that owns the lock for which this one waits; -1 when it is not known. */
    int owner(int thread) {
        PendingFileCall call = thread < pending.length ? pending[thread] : null;
        NamedCall told = call == null || call.kind != FileCall.FUTEX ? null : waiting(call);
        FutexWords words = told == null ? null : told.futex();
        int owner = words == null ? 0 : words.owner(own -> own(thread, own));
        return owner == 0 ? -1 : threads.find(owner);
    }

    /** A thread of the same process; 0 for another: it has a number of another namespace. */
    private int own(int thread, int tid) {
        int found = threads.find(tid);
        return found >= 0 && threads.pid(found) == threads.pid(thread) ? tid : 0;
    }

    /** The name of what was opened; for after the last row. */
    String name(OpenFile opened) {
        return ledger.text(opened);
    }

    private void make(
            PendingFileCall call,
            DescriptorTable table,
            OpenFile.Kind kind,
            int thread,
            int fd,
            boolean closes) {
        OpenFile opened = new OpenFile(kind, fd, threads.pid(thread));
        call.made = opened;
        opened.name = call.name;
        table.put(fd, opened, closes);
    }

    private void pair(DescriptorTable table, OpenFile.Kind kind, int thread, boolean closes) {
        if (!table.whole) {
            return;
        }
        int pid = threads.pid(thread);
        OpenFile both = new OpenFile(kind, table.lowestFree(), pid);
        if (kind == OpenFile.Kind.PIPE) {
            both.madeHere = true; // who uses it is known at the end
        } else {
            ledger.name(both, "socket pair of " + pid);
        }
        table.put(table.lowestFree(), both, closes);
        table.put(table.lowestFree(), both, closes);
    }

    private void range(long[] arguments, int thread, long time) {
        if ((arguments[2] & FileCall.CLOSE_RANGE_UNSHARE) != 0) {
            tables.unshared(thread, time);
        }
        boolean marks = (arguments[2] & FileCall.CLOSE_RANGE_CLOEXEC) != 0;
        // unsigned int first, unsigned int last
        tables.of(thread, time)
                .range(arguments[0] & 0xffffffffL, arguments[1] & 0xffffffffL, marks);
    }

    /** What a call is about to wait for, or made. */
    private void descriptors(NamedCall told, int thread, long time) {
        if (told.isWait()) {
            call(thread).wait = told;
        } else {
            piped(told, tables.of(thread, time), thread);
        }
    }

    private void named(Batch batch, int row) {
        NamedCall name = NamedCall.of(batch, row);
        int thread = name == null ? -1 : threads.find(name.tid());
        if (name == null || thread < 0) {
            return;
        }
        sawNames = true;
        if (name.isWait() || name.kind() == NamedCall.Kind.PIPE) {
            descriptors(name, thread, batch.time(row));
            return;
        }
        long time = batch.time(row);
        boolean counts = threads.counts(thread, time) && window.contains(time);
        DescriptorTable table = tables.of(thread, time);
        String text = text(name, table);
        if (name.kind() == NamedCall.Kind.PATH) {
            if (counts && !text.isEmpty()) {
                ledger.sampled(text, name.syscall(), thread);
            }
            return;
        }
        if (!name.succeeded()) {
            boolean ended = name.result() != NamedCall.WAITING;
            if (counts && ended && name.result() >= -MAX_ERRNO) {
                ledger.failed(text.isEmpty() ? "(unreadable)" : text, (int) -name.result(), thread);
            }
            attempted(name, table, text, thread);
            return;
        }
        int fd = name.namedDescriptor();
        if (text.isEmpty() || fd < 0) {
            return;
        }
        PendingFileCall call = thread < pending.length ? pending[thread] : null;
        if (call != null && call.kind != null && call.kind.makes()) {
            if (!text.equals("unix:unnamed")) {
                call.name = text;
            }
            return;
        }
        switch (name.kind()) {
            case OPEN -> {
                OpenFile opened = taken(table, fd, thread, OpenFile.Kind.FILE);
                if (opened.name == null) {
                    ledger.name(opened, text);
                }
            }
            case CONNECT, ACCEPT -> peer(name, table, thread, text, counts);
            case BIND -> {
                OpenFile opened = taken(table, fd, thread, OpenFile.Kind.SOCKET);
                if (opened.name == null && !text.equals("netlink")) {
                    ledger.name(opened, "at " + text);
                    opened.bound = true;
                }
            }
            case EXECUTE, POLL, SELECT, FUTEX, PIPE, PATH, NONE -> {}
        }
    }

    private void peer(NamedCall name, DescriptorTable in, int thread, String text, boolean counts) {
        int fd = name.namedDescriptor();
        OpenFile opened = taken(in, fd, thread, OpenFile.Kind.SOCKET);
        opened.connecting = name.result() == -EINPROGRESS;
        boolean same = opened.bound || opened.name == null || !opened.isPeer();
        // A datagram socket may be connected again; an unnamed client says less than we do.
        if (same && !text.equals("unix:unnamed") || opened.name == null) {
            ledger.name(opened, text);
            opened.bound = false;
        } else if (!text.equals(opened.name) && !text.equals("unix:unnamed")) {
            opened = new OpenFile(OpenFile.Kind.SOCKET, fd, threads.pid(thread));
            opened.connecting = name.result() == -EINPROGRESS;
            ledger.name(opened, text);
            in.put(fd, opened, in.closesOnExec(fd));
        }
        if (counts && name.kind() == NamedCall.Kind.CONNECT) {
            ledger.columns(opened, thread, NO_CALL)[FileSums.OPENS]++;
        }
    }

    /** Also a peer that did not answer has a name. */
    private void attempted(NamedCall call, DescriptorTable table, String text, int thread) {
        int fd = call.descriptor();
        if (call.kind() == NamedCall.Kind.CONNECT && fd >= 0 && !text.isEmpty()) {
            OpenFile opened = taken(table, fd, thread, OpenFile.Kind.SOCKET);
            if (opened.name == null) {
                ledger.name(opened, text);
            }
        }
    }

    /** The ends of a pipe, unless the kernel's choice could be foretold when the call ended. */
    private void piped(NamedCall told, DescriptorTable table, int thread) {
        List<Integer> ends = told.descriptors();
        PendingFileCall call = call(thread);
        OpenFile known = ends.size() < 2 ? null : table.at(ends.getFirst());
        boolean foretold = known != null && known.madeHere && table.at(ends.getLast()) == known;
        if (ends.size() < 2 || foretold) {
            return;
        }
        call.name = "pipe"; // its return has nothing to add
        FileCall kind = call.number == told.syscall() ? calls[call.number] : null;
        boolean closes = kind != null && kind.closesOnExec(call.arguments);
        OpenFile both = new OpenFile(OpenFile.Kind.PIPE, ends.getFirst(), threads.pid(thread));
        both.madeHere = true;
        ends.forEach(fd -> table.put(fd, both, closes));
    }

    /** What lies at a descriptor that is being named; made when its call was not recorded. */
    private OpenFile taken(DescriptorTable table, int fd, int thread, OpenFile.Kind kind) {
        OpenFile known = table.at(fd);
        boolean fits = known != null && (known.kind == kind || known.name != null);
        if (known != null && fits) {
            return known;
        }
        OpenFile made = new OpenFile(kind, fd, threads.pid(thread));
        table.put(fd, made, false);
        return made;
    }

    /** The name, a relative path after that of its directory where that is known. */
    private String text(NamedCall call, DescriptorTable table) {
        String text = call.name();
        if (call.syscall() == openQueue) {
            return "the message queue /" + text;
        }
        if (!call.isPath() || text.startsWith("/") || call.descriptor() < 0) {
            return text;
        }
        OpenFile folder = table.at(call.descriptor());
        String in = folder == null ? null : folder.name;
        // fstat(2) of glibc names its file by an empty path.
        return in == null ? text : text.isEmpty() ? in : in + "/" + text;
    }

    private void fork(FileFields fields, Batch batch, int row) {
        int parent = threads.find(FileFields.value(fields.parent, batch, row));
        int child = threads.find(FileFields.value(fields.child, batch, row));
        if (parent < 0 || child < 0) {
            return;
        }
        PendingFileCall call = parent < pending.length ? pending[parent] : null;
        long time = batch.time(row);
        if (call != null && call.kind == FileCall.CLONE) {
            boolean shared = (call.arguments[0] & CLONE_FILES) != 0;
            tables.born(parent, child, time, shared, true);
        } else {
            tables.born(parent, child, time, false, false);
        }
        mappings.forked(threads.pid(parent), threads.pid(child));
    }

    private void perfFork(FileFields fields, Batch batch, int row) {
        int parent = threads.find(FileFields.value(fields.perfParent, batch, row));
        int child = threads.find(FileFields.value(fields.perfChild, batch, row));
        if (parent >= 0 && child >= 0) {
            int pid = FileFields.value(fields.perfPid, batch, row);
            boolean thread = pid == FileFields.value(fields.perfParentPid, batch, row);
            tables.born(parent, child, batch.time(row), thread, thread);
        }
    }

    @Override
    public void finish(long lastTime) {
        for (int thread = 0; thread < pending.length; thread++) {
            PendingFileCall call = pending[thread];
            FileCall kind = call == null ? null : call.kind;
            if (call != null && kind != null && call.counts && kind.takesTime(call.arguments)) {
                long end = Math.min(Math.min(lastTime, threads.died(thread)), window.to());
                count(call, thread, Math.max(0, end - call.since), 0, 0);
            }
        }
        tables.namedAfter(lastTime).forEach(ledger::name);
        ledger.settle();
    }

    /** Every file and peer that these threads used, most time first. */
    public List<Entry> entries(IntPredicate which) {
        return ledger.entries(which);
    }

    /** Every use of a file or peer, in no order. */
    public void forEachUse(UseSink sink) {
        ledger.forEach(sink);
    }

    /** What these threads could not open, most often first. */
    public List<Failure> failures(IntPredicate which) {
        return ledger.failures(which);
    }

    /** Every path of calls that make no descriptor; only some of many calls are told. */
    public void forEachPath(PathSink sink) {
        ledger.forEachPath(sink);
    }

    /** Whether the names program told anything. */
    public boolean sawNames() {
        return sawNames;
    }

    /** Notices of loss: descriptors made or closed meanwhile may bear the wrong name. */
    public long losses() {
        return losses;
    }
}
