package sonde.probe.snapshot;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.recording.names.NamedCall;
import sonde.sys.SyscallNames;

/**
 * The system call that a thread is in.
 *
 * @param number of the call
 * @param arguments six of them
 * @param stackPointer of user mode
 * @param programCounter of user mode
 */
record CallNow(int number, long[] arguments, long stackPointer, long programCounter) {
    private static final int FIELDS = 9;
    private static final int MOST_PATH = 4096;
    private static final long NANOS = 1_000_000_000L;

    /**
     * What to say of arguments, a letter each: f descriptor, d number, x hexadecimal, p path, a
     * socket address with its length behind, o operation of futex, m milliseconds, t timespec, -
     * nothing.
     */
    private static final Map<String, String> ARGUMENTS =
            Map.ofEntries(
                    Map.entry("read", "f"),
                    Map.entry("pread64", "f"),
                    Map.entry("readv", "f"),
                    Map.entry("preadv", "f"),
                    Map.entry("preadv2", "f"),
                    Map.entry("write", "f-d"),
                    Map.entry("pwrite64", "f-d"),
                    Map.entry("writev", "f"),
                    Map.entry("pwritev", "f"),
                    Map.entry("pwritev2", "f"),
                    Map.entry("recvfrom", "f"),
                    Map.entry("recvmsg", "f"),
                    Map.entry("recvmmsg", "f"),
                    Map.entry("sendto", "f-d"),
                    Map.entry("sendmsg", "f"),
                    Map.entry("sendmmsg", "f"),
                    Map.entry("accept", "f"),
                    Map.entry("accept4", "f"),
                    Map.entry("connect", "fa"),
                    Map.entry("shutdown", "f"),
                    Map.entry("close", "f"),
                    Map.entry("fsync", "f"),
                    Map.entry("fdatasync", "f"),
                    Map.entry("syncfs", "f"),
                    Map.entry("sync_file_range", "f"),
                    Map.entry("ftruncate", "f"),
                    Map.entry("fallocate", "f"),
                    Map.entry("flock", "fd"),
                    Map.entry("fcntl", "fd"),
                    Map.entry("ioctl", "fx"),
                    Map.entry("getdents64", "f"),
                    Map.entry("copy_file_range", "f-f"),
                    Map.entry("splice", "f-f"),
                    Map.entry("tee", "ff"),
                    Map.entry("vmsplice", "f"),
                    Map.entry("sendfile", "ff"),
                    Map.entry("mq_timedreceive", "f"),
                    Map.entry("mq_timedsend", "f"),
                    Map.entry("io_uring_enter", "f"),
                    Map.entry("poll", "-dm"),
                    Map.entry("ppoll", "-dt"),
                    Map.entry("select", "d"),
                    Map.entry("pselect6", "d"),
                    Map.entry("epoll_wait", "f--m"),
                    Map.entry("epoll_pwait", "f--m"),
                    Map.entry("epoll_pwait2", "f--t"),
                    Map.entry("futex", "xod"),
                    Map.entry("wait4", "d"),
                    Map.entry("waitid", "dd"),
                    Map.entry("nanosleep", "t"),
                    Map.entry("clock_nanosleep", "--t"),
                    Map.entry("open", "p"),
                    Map.entry("openat", "-p"),
                    Map.entry("openat2", "-p"),
                    Map.entry("stat", "p"),
                    Map.entry("lstat", "p"),
                    Map.entry("newfstatat", "-p"),
                    Map.entry("statx", "-p"),
                    Map.entry("access", "p"),
                    Map.entry("faccessat2", "-p"),
                    Map.entry("unlink", "p"),
                    Map.entry("unlinkat", "-p"),
                    Map.entry("rename", "pp"),
                    Map.entry("mkdir", "p"),
                    Map.entry("mount", "pp"),
                    Map.entry("umount2", "p"),
                    Map.entry("execve", "p"),
                    Map.entry("semop", "d-d"),
                    Map.entry("semtimedop", "d-d"),
                    Map.entry("msgrcv", "d"),
                    Map.entry("msgsnd", "d"),
                    Map.entry("kill", "dd"),
                    Map.entry("ptrace", "dd"));

    private static final String[] FUTEX = {
        "FUTEX_WAIT",
        "FUTEX_WAKE",
        "FUTEX_FD",
        "FUTEX_REQUEUE",
        "FUTEX_CMP_REQUEUE",
        "FUTEX_WAKE_OP",
        "FUTEX_LOCK_PI",
        "FUTEX_UNLOCK_PI",
        "FUTEX_TRYLOCK_PI",
        "FUTEX_WAIT_BITSET",
        "FUTEX_WAKE_BITSET",
        "FUTEX_WAIT_REQUEUE_PI",
        "FUTEX_CMP_REQUEUE_PI",
        "FUTEX_LOCK_PI2"
    };

    private static final int FUTEX_COMMAND = 0x7f;

    CallNow {
        arguments = arguments.clone();
    }

    /**
     * Reads /proc/PID/task/TID/syscall.
     *
     * @return null when it runs, or may not be looked into; number -1 outside a call
     */
    static @Nullable CallNow parse(String text) {
        String[] words = text.strip().split(" ");
        try {
            if (words.length == 3) {
                return new CallNow(-1, new long[6], hex(words[1]), hex(words[2]));
            }
            if (words.length != FIELDS) {
                return null;
            }
            long[] arguments = new long[6];
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = hex(words[1 + i]);
            }
            int number = Integer.parseInt(words[0]);
            return new CallNow(number, arguments, hex(words[7]), hex(words[8]));
        } catch (NumberFormatException e) {
            return null;
        }
    }

    private static long hex(String word) {
        return Long.parseUnsignedLong(word.replaceFirst("^0x", ""), 16);
    }

    String name() {
        return number < 0 ? "" : SyscallNames.name(number);
    }

    /** An argument as an int, as most are. */
    int argument(int index) {
        return (int) arguments[index];
    }

    /** The position of the first descriptor that says what is waited for; -1 for none. */
    int descriptorAt() {
        return ARGUMENTS.getOrDefault(name(), "").indexOf('f');
    }

    /** The position of the first path; -1 for none. */
    int pathAt() {
        return ARGUMENTS.getOrDefault(name(), "").indexOf('p');
    }

    /** FUTEX_WAIT and the like, without flags; -1 for another call. */
    int futexCommand() {
        return name().equals("futex") ? argument(1) & FUTEX_COMMAND : -1;
    }

    /** The call as people write it. */
    String text(ProcessMemory memory) {
        String letters = ARGUMENTS.getOrDefault(name(), "");
        List<String> shown = new ArrayList<>();
        for (int i = 0; i < letters.length(); i++) {
            long value = arguments[i];
            String text =
                    switch (letters.charAt(i)) {
                        case 'f' -> "fd " + (int) value;
                        case 'd' -> Integer.toString((int) value);
                        case 'x' -> "0x" + Long.toHexString(value);
                        case 'p' -> "\"" + memory.text(value, MOST_PATH) + "\"";
                        case 'a' -> address(memory, value, argument(i + 1));
                        case 'm' -> (int) value < 0 ? "no timeout" : (int) value + " ms";
                        case 't' -> value == 0 ? "no timeout" : seconds(memory.read(value, 16));
                        case 'o' -> {
                            int command = (int) value & FUTEX_COMMAND;
                            yield command < FUTEX.length ? FUTEX[command] : "op " + command;
                        }
                        default -> "";
                    };
            if (!text.isEmpty()) {
                shown.add(text);
            }
        }
        return name() + "(" + String.join(", ", shown) + ")";
    }

    private static String address(ProcessMemory memory, long at, int bytes) {
        ByteBuffer read = memory.read(at, Math.clamp(bytes, 0, NamedCall.MAX_ADDRESS));
        return NamedCall.address(read.array());
    }

    private static String seconds(ByteBuffer timespec) {
        if (timespec.limit() < 16) {
            return "";
        }
        double nanos = timespec.getLong(0) * (double) NANOS + timespec.getLong(8);
        return String.format(java.util.Locale.ROOT, "%.3f s", nanos / NANOS);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CallNow(int n, long[] a, long s, long p)
                && n == number
                && java.util.Arrays.equals(a, arguments)
                && s == stackPointer
                && p == programCounter;
    }

    @Override
    public int hashCode() {
        return 31 * number + java.util.Arrays.hashCode(arguments);
    }
}
