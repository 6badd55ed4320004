package sonde.recording.names;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;

/**
 * One record of the names program: a system call with the path or socket address it was given.
 *
 * <p>Layout, little-endian, the raw data of a bpf-output sample; the sample's own padding may
 * follow:
 *
 * <pre>
 *  0 u32 system call number of the machine
 *  4 i32 tid, kernel pid
 *  8 i32 pid, kernel tgid
 * 12 i32 directory descriptor of the path (-100 = working directory), or the socket
 * 16 i64 result of the call, a negative errno when it failed
 * 24 u16 length of the bytes, 0 when they could not be read
 * 26 u16 kind, see {@link Kind}
 * 28 bytes: path without its NUL, or struct sockaddr
 * </pre>
 *
 * @param syscall number of the system call on the recorded machine
 * @param descriptor directory of the path (-100 = working directory), or the socket
 * @param result what the call returned: for opens and accepts the new descriptor
 * @param bytes the path or struct sockaddr, as it lay in the process's memory; not to be trusted
 */
public record NamedCall(
        Kind kind, int syscall, int tid, int pid, int descriptor, long result, byte[] bytes) {
    public static final int SYSCALL = 0;
    public static final int TID = 4;
    public static final int PID = 8;
    public static final int DESCRIPTOR = 12;
    public static final int RESULT = 16;
    public static final int LENGTH = 24;
    public static final int KIND = 26;
    public static final int BYTES = 28;

    /** Longest path kept; one of this length may have been cut. */
    public static final int MAX_PATH = 255;

    /** Longest address kept: struct sockaddr_un. */
    public static final int MAX_ADDRESS = 110;

    /** Bytes kept of a set of select. */
    public static final int SET_BYTES = 64;

    /** Most structs pollfd kept. */
    public static final int MOST_POLLED = 16;

    /** Bytes of FUTEX: operation, expected value, the words. */
    public static final int FUTEX_BYTES = 8 + 4 * FutexWords.COUNT;

    /** Two descriptors. */
    public static final int PIPE_BYTES = 8;

    /** Result of a connect that has not returned (the kernel's ERESTARTSYS, no call returns it). */
    public static final int WAITING = -512;

    private static final int POLLFD_BYTES = 8;

    /** {@code AT_FDCWD}: the path counts from the working directory. */
    public static final int WORKING_DIRECTORY = -100;

    private static final int AF_UNIX = 1;
    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int AF_NETLINK = 16;

    /** What the call does; the code in the record is the position here. */
    public enum Kind {
        /** Not a record of ours. */
        NONE,
        /** open, openat, openat2, creat: the result is the descriptor. */
        OPEN,
        /** execve, execveat. */
        EXECUTE,
        /** connect: the address is the peer's; told when it begins to wait, and at its end. */
        CONNECT,
        /** bind: the address is the own one. */
        BIND,
        /** accept, accept4: the result is the connection's descriptor, the address the peer's. */
        ACCEPT,
        /** poll, ppoll begin: the bytes are structs pollfd; "descriptor" is their number. */
        POLL,
        /** select, pselect6 begin: the sets to read and to write, {@link #SET_BYTES} each. */
        SELECT,
        /** futex begins to wait: the result is the address; see {@link #futex}. */
        FUTEX,
        /** pipe, pipe2: the bytes are the two descriptors. */
        PIPE,
        /** stat, access, readlink, unlink and others that make no descriptor; some of many. */
        PATH
    }

    private static final Kind[] KINDS = Kind.values();

    /** Reads a row whose payload is the sample's raw data; null when it is no whole record. */
    public static @Nullable NamedCall of(Batch batch, int row) {
        int size = batch.payloadBytes(row);
        if (size < BYTES) {
            return null;
        }
        int length = batch.u16(row, LENGTH);
        int kind = batch.u16(row, KIND);
        if (length > MAX_PATH || BYTES + length > size || kind == 0 || kind >= KINDS.length) {
            return null;
        }
        return new NamedCall(
                KINDS[kind],
                batch.u32(row, SYSCALL),
                batch.u32(row, TID),
                batch.u32(row, PID),
                batch.u32(row, DESCRIPTOR),
                batch.u64(row, RESULT),
                batch.bytes(row, BYTES, length));
    }

    /** Whether the call did what was asked; a connection in progress counts as made. */
    public boolean succeeded() {
        int inProgress = -115;
        return result >= 0 || (kind == Kind.CONNECT && result == inProgress);
    }

    /** The descriptor that bears the name from now on; -1 when there is none. */
    public int namedDescriptor() {
        if (!succeeded()) {
            return -1;
        }
        return switch (kind) {
            case OPEN, ACCEPT -> (int) result;
            case CONNECT, BIND -> descriptor;
            case EXECUTE, POLL, SELECT, FUTEX, PIPE, PATH, NONE -> -1;
        };
    }

    /** Whether it tells what a call is about to wait for. */
    public boolean isWait() {
        return kind == Kind.POLL || kind == Kind.SELECT || kind == Kind.FUTEX;
    }

    /** The descriptors of POLL, SELECT and PIPE, as many as were kept. */
    public List<Integer> descriptors() {
        Set<Integer> fds = new LinkedHashSet<>();
        if (kind == Kind.POLL) {
            for (int at = 0; at + POLLFD_BYTES <= bytes.length; at += POLLFD_BYTES) {
                if (word(at) >= 0) { // a negative one is passed over
                    fds.add(word(at));
                }
            }
        } else if (kind == Kind.PIPE && bytes.length >= PIPE_BYTES) {
            fds.add(word(0));
            fds.add(word(4));
        } else if (kind == Kind.SELECT) {
            for (int set = 0; set + SET_BYTES <= bytes.length; set += SET_BYTES) {
                for (int fd = 0; fd < Math.min(descriptor, 8 * SET_BYTES); fd++) {
                    if ((at(set + fd / 8) >> fd % 8 & 1) != 0) {
                        fds.add(fd);
                    }
                }
            }
        }
        return List.copyOf(fds);
    }

    /** What FUTEX is about to wait for; null for another kind. */
    public @Nullable FutexWords futex() {
        if (kind != Kind.FUTEX || bytes.length < FUTEX_BYTES) {
            return null;
        }
        int[] words = new int[FutexWords.COUNT];
        for (int i = 0; i < words.length; i++) {
            words[i] = word(8 + 4 * i);
        }
        return new FutexWords(word(0), word(4), words);
    }

    private int word(int offset) {
        return at(offset) | at(offset + 1) << 8 | at(offset + 2) << 16 | at(offset + 3) << 24;
    }

    /**
     * The name as people write it: a path, {@code 127.0.0.1:80}, {@code [::1]:80}, {@code
     * unix:/run/x}, {@code unix:@abstract}, {@code netlink}, {@code family 17}; empty when it could
     * not be read or the caller did not ask for it.
     */
    public String name() {
        return switch (kind) {
            case OPEN, EXECUTE, PATH -> new String(bytes, StandardCharsets.UTF_8);
            case CONNECT, BIND, ACCEPT -> address(bytes);
            case POLL, SELECT, PIPE -> descriptors().toString();
            case FUTEX -> "0x" + Long.toHexString(result);
            case NONE -> "";
        };
    }

    /** A struct sockaddr as {@link #name} writes it. */
    public static String address(byte[] bytes) {
        if (bytes.length < 2) {
            return "";
        }
        return new NamedCall(Kind.BIND, 0, 0, 0, 0, 0, bytes).address();
    }

    private String address() {
        // sa_family is in the machine's order, ports and addresses in network order.
        int family = at(0) | at(1) << 8;
        return switch (family) {
            case AF_UNIX -> unixAddress();
            case AF_INET ->
                    bytes.length < 8
                            ? ""
                            : at(4) + "." + at(5) + "." + at(6) + "." + at(7) + ":" + port();
            case AF_INET6 -> bytes.length < 24 ? "" : "[" + inet6() + "]:" + port();
            case AF_NETLINK -> "netlink";
            default -> "family " + family;
        };
    }

    private int port() {
        return at(2) << 8 | at(3);
    }

    /** sun_path: ends at a NUL; a NUL in front means the abstract namespace, all bytes count. */
    private String unixAddress() {
        if (bytes.length == 2) {
            return "unix:unnamed";
        }
        boolean isAbstract = bytes[2] == 0;
        int from = isAbstract ? 3 : 2;
        int to = from;
        while (to < bytes.length && (isAbstract || bytes[to] != 0)) {
            to++;
        }
        String path = new String(bytes, from, to - from, StandardCharsets.UTF_8);
        return "unix:" + (isAbstract ? "@" : "") + path;
    }

    /** RFC 5952: hexadecimal groups, the first longest run of two or more zeros as {@code ::}. */
    private String inet6() {
        int best = -1;
        int bestLength = 1;
        for (int start = 0; start < 8; start++) {
            int length = 0;
            while (start + length < 8 && group(start + length) == 0) {
                length++;
            }
            if (length > bestLength) {
                best = start;
                bestLength = length;
            }
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 8; i++) {
            if (i == best) {
                text.append("::");
                i += bestLength - 1;
                continue;
            }
            boolean first = text.isEmpty() || text.charAt(text.length() - 1) == ':';
            text.append(first ? "" : ":").append(Integer.toHexString(group(i)));
        }
        return text.toString();
    }

    private int group(int index) {
        return at(8 + 2 * index) << 8 | at(9 + 2 * index);
    }

    private int at(int index) {
        return bytes[index] & 0xff;
    }

    @Override
    public String toString() {
        return kind
                + " "
                + name()
                + " = "
                + result
                + " (tid "
                + tid
                + ", "
                + HexFormat.of().formatHex(bytes)
                + ")";
    }
}
