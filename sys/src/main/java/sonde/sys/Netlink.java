package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Lists of netlink(7): one question, all its answers. */
public final class Netlink {
    private static final int SOCKET = SyscallNames.number("socket");
    private static final int SENDTO = SyscallNames.number("sendto");
    private static final int RECVFROM = SyscallNames.number("recvfrom");
    private static final int AF_NETLINK = 16;
    private static final int SOCK_RAW_CLOEXEC = 3 | 02000000;
    private static final int REQUEST_DUMP = 0x301;
    private static final int ERROR = 2;
    private static final int DONE = 3;
    private static final int HEADER_BYTES = 16;
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int MOST_MESSAGES = 1 << 20;

    /** NLA_TYPE_MASK: without the marks of nested ones and of byte order. */
    private static final int TYPE_MASK = 0x3fff;

    private Netlink() {}

    /** As {@link #dump(int, int, byte[])}, of NETLINK_ROUTE; {@code type} is RTM_GET*. */
    public static List<byte[]> dump(int type, byte[] body) throws SyscallException {
        return dump(0, type, body);
    }

    /**
     * Asks for all of a kind.
     *
     * @param protocol NETLINK_*
     * @param type of the question
     * @param body the structure behind the header, as the kind has it
     * @return the bodies of the answers: that structure and attributes
     * @throws SyscallException what the kernel answers instead
     */
    public static List<byte[]> dump(int protocol, int type, byte[] body) throws SyscallException {
        long socket = NativeSyscall.syscall(SOCKET, AF_NETLINK, SOCK_RAW_CLOEXEC, protocol);
        int fd = (int) SyscallResults.check("socket", "AF_NETLINK", socket);
        try (Arena arena = Arena.ofConfined()) {
            // struct nlmsghdr: length, type u16, flags u16, sequence, port.
            MemorySegment question = arena.allocate(HEADER_BYTES + body.length, 8);
            question.set(JAVA_INT_UNALIGNED, 0, HEADER_BYTES + body.length);
            question.set(JAVA_SHORT_UNALIGNED, 4, (short) type);
            question.set(JAVA_SHORT_UNALIGNED, 6, (short) REQUEST_DUMP);
            MemorySegment.copy(body, 0, question, JAVA_BYTE, HEADER_BYTES, body.length);
            SyscallResults.check(
                    "sendto",
                    "AF_NETLINK",
                    NativeSyscall.syscall(
                            SENDTO, fd, question.address(), question.byteSize(), 0, 0, 0));
            return answers(fd, arena.allocate(BUFFER_BYTES, 8));
        } finally {
            Fd.discard(fd);
        }
    }

    private static List<byte[]> answers(int fd, MemorySegment buffer) throws SyscallException {
        List<byte[]> all = new ArrayList<>();
        while (all.size() < MOST_MESSAGES) {
            long got;
            do {
                got = NativeSyscall.syscall(RECVFROM, fd, buffer.address(), BUFFER_BYTES, 0, 0, 0);
            } while (got == -Errno.EINTR);
            SyscallResults.check("recvfrom", "AF_NETLINK", got);
            long at = 0;
            while (at + HEADER_BYTES <= got) {
                long bytes = Integer.toUnsignedLong(buffer.get(JAVA_INT_UNALIGNED, at));
                int type = buffer.get(JAVA_SHORT_UNALIGNED, at + 4) & 0xffff;
                if (type == DONE || bytes < HEADER_BYTES || at + bytes > got) {
                    return all;
                }
                if (type == ERROR) {
                    int error =
                            bytes < HEADER_BYTES + 4
                                    ? 0
                                    : buffer.get(JAVA_INT_UNALIGNED, at + HEADER_BYTES);
                    throw new SyscallException("netlink", "", -error);
                }
                all.add(buffer.asSlice(at + HEADER_BYTES, bytes - HEADER_BYTES).toArray(JAVA_BYTE));
                at += bytes + 3 & ~3L;
            }
            if (got == 0) {
                return all;
            }
        }
        return all;
    }

    /** Attributes (struct rtattr) by type, from an offset on; of equal ones the last. */
    public static Map<Integer, byte[]> attributes(byte[] message, int from) {
        MemorySegment bytes = MemorySegment.ofArray(message);
        Map<Integer, byte[]> all = new HashMap<>();
        long at = from;
        while (at + 4 <= message.length) {
            int length = bytes.get(JAVA_SHORT_UNALIGNED, at) & 0xffff;
            int type = bytes.get(JAVA_SHORT_UNALIGNED, at + 2) & TYPE_MASK;
            if (length < 4 || at + length > message.length) {
                break;
            }
            all.put(type, bytes.asSlice(at + 4, length - 4L).toArray(JAVA_BYTE));
            at += length + 3 & ~3;
        }
        return all;
    }
}
