package sonde.analysis.file;

import java.util.Set;
import java.util.function.ToIntFunction;

/** What a system call does with descriptors. Arguments count from 0. */
enum FileCall {
    READ(
            "read pread64 readv preadv preadv2 recvfrom recvmsg getdents64 mq_timedreceive",
            0,
            -1,
            true),
    WRITE("write pwrite64 writev pwritev pwritev2 sendto sendmsg mq_timedsend", -1, 0, true),
    MOVE("splice copy_file_range", 0, 2, true),
    SEND_FILE("sendfile", 1, 0, true),
    TEE("tee", 0, 1, true),
    WAIT("fsync fdatasync sync_file_range fallocate ftruncate flock connect sendmmsg recvmmsg"),
    OPEN("open mq_open", -1, -1, false),
    OPENAT("openat", -1, -1, false),
    /** Makes a descriptor; whether exec closes it is told behind a pointer, or in many ways. */
    OPEN_LIKE(
            "openat2 creat memfd_create epoll_create1 epoll_create eventfd2 eventfd timerfd_create"
                    + " signalfd4 inotify_init1 inotify_init pidfd_open pidfd_getfd io_uring_setup"
                    + " perf_event_open userfaultfd bpf fanotify_init open_tree",
            -1,
            -1,
            false),
    SOCKET("socket", -1, -1, false),
    SOCKET_PAIR("socketpair", -1, -1, false),
    ACCEPT("accept"),
    ACCEPT4("accept4"),
    PIPE("pipe", -1, -1, false),
    PIPE2("pipe2", -1, -1, false),
    CLOSE("close"),
    CLOSE_RANGE("close_range", -1, -1, false),
    DUP("dup"),
    DUP2("dup2"),
    DUP3("dup3"),
    FCNTL("fcntl"),
    CLONE("clone", -1, -1, false),
    UNSHARE("unshare", -1, -1, false),
    POLL("poll ppoll select pselect6", -1, -1, false),
    EPOLL_WAIT("epoll_wait epoll_pwait epoll_pwait2", -1, -1, false),
    EPOLL_CTL("epoll_ctl", -1, -1, false),
    FUTEX("futex", -1, -1, false),
    /** Their first argument is the number of a set, or queue. */
    SEMAPHORES("semop semtimedop", -1, -1, false),
    MESSAGES("msgsnd msgrcv", -1, -1, false),
    CHILD("wait4 waitid", -1, -1, false),
    MMAP("mmap", 4, -1, false),
    /** Its first argument is an address. */
    MSYNC("msync", -1, -1, false),
    EXEC("execve execveat", -1, -1, false);

    static final int CLOSE_RANGE_UNSHARE = 2;
    static final int CLOSE_RANGE_CLOEXEC = 4;

    /** O_CLOEXEC, SOCK_CLOEXEC: include/uapi/asm-generic/fcntl.h. */
    private static final int CLOEXEC = 0x80000;

    private static final int F_DUPFD = 0;
    private static final int F_SETFD = 2;

    /** F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW. */
    private static final Set<Long> LOCKING = Set.of(6L, 7L, 37L, 38L);

    private static final int F_DUPFD_CLOEXEC = 1030;

    /** More numbers than any architecture has. */
    private static final int NUMBERS = 1 << 10;

    /** Argument that is read from or waited for, -1 for none. */
    final int from;

    /** Argument that is written to, -1 for none. */
    final int to;

    /** Whether the result counts bytes. */
    final boolean movesBytes;

    private final String names;

    FileCall(String names) {
        this(names, 0, -1, false);
    }

    FileCall(String names, int from, int to, boolean movesBytes) {
        this.names = names;
        this.from = from;
        this.to = to;
        this.movesBytes = movesBytes;
    }

    /** The calls by number. */
    static FileCall[] table(ToIntFunction<String> numberOf) {
        FileCall[] table = new FileCall[NUMBERS];
        for (FileCall call : values()) {
            for (String name : call.names.split(" ")) {
                int number = numberOf.applyAsInt(name);
                if (number >= 0 && number < NUMBERS) {
                    table[number] = call;
                }
            }
        }
        return table;
    }

    /** Whether exec closes the descriptor that the call makes. */
    boolean closesOnExec(long[] arguments) {
        int argument =
                switch (this) {
                    case OPEN, SOCKET, SOCKET_PAIR, PIPE2 -> 1;
                    case OPENAT, DUP3 -> 2;
                    case ACCEPT4 -> 3;
                    default -> -1;
                };
        if (this == FCNTL) {
            return arguments[1] == F_DUPFD_CLOEXEC;
        }
        return argument >= 0 && (arguments[argument] & CLOEXEC) != 0;
    }

    /** Whether its time is the file's: what only changes the table says nothing of it. */
    boolean takesTime(long[] arguments) {
        return switch (this) {
            case DUP, DUP2, DUP3, MMAP -> false;
            case FCNTL -> LOCKING.contains(arguments[1]);
            case SEMAPHORES, MESSAGES, MSYNC -> true;
            default -> from >= 0 || to >= 0;
        };
    }

    /** Whether it makes what a name is for. */
    boolean makes() {
        return switch (this) {
            case OPEN, OPENAT, OPEN_LIKE, ACCEPT, ACCEPT4 -> true;
            default -> false;
        };
    }

    /** Whether fcntl makes a duplicate. */
    static boolean duplicates(long[] arguments) {
        return arguments[1] == F_DUPFD || arguments[1] == F_DUPFD_CLOEXEC;
    }

    /** Whether fcntl says if exec closes the descriptor. */
    static boolean marks(long[] arguments) {
        return arguments[1] == F_SETFD;
    }
}
