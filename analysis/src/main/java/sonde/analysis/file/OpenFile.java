package sonde.analysis.file;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a descriptor stands for: an open file description, shared by its duplicates. */
final class OpenFile {
    /** What it is. */
    enum Kind {
        FILE,
        SOCKET,
        PIPE,
        /** Nothing told: it was there before, or its making was not recorded. */
        UNTOLD;

        /** The kind of a target of /proc/PID/fd. */
        static Kind of(String target) {
            if (target.startsWith("socket:")) {
                return SOCKET;
            }
            return target.startsWith("pipe:") ? PIPE : FILE;
        }
    }

    final Kind kind;

    /** The first descriptor it had, and whose. */
    final int fd;

    final int pid;
    @Nullable String name;

    /** What the call that made it makes: {@code "timerfd"}; empty when a name will tell. */
    String what = "";

    /** The name is a socket's own address: that of its peer is better. */
    boolean bound;

    /** A pipe whose making was recorded: named by those who write and read. */
    boolean madeHere;

    /** Whether connect(2) goes on in the background (EINPROGRESS). */
    boolean connecting;

    /** The descriptors that an epoll descriptor watches. */
    @Nullable Set<Integer> watched;

    /** What is known of it; its own as long as it has no name. */
    @Nullable FileSums sums;

    OpenFile(Kind kind, int fd, int pid) {
        this.kind = kind;
        this.fd = fd;
        this.pid = pid;
    }

    /** What it is called without a name. */
    String label() {
        String place = "fd " + fd + " of " + pid;
        return switch (kind) {
            case SOCKET -> "socket, " + place;
            case PIPE -> "pipe, " + place;
            case FILE, UNTOLD -> what.isEmpty() ? place : what + ", " + place;
        };
    }

    boolean isPeer() {
        return kind == Kind.SOCKET || kind == Kind.PIPE;
    }
}
