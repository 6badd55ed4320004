package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Processes that change their user, as the kernel tells them: the process events connector
 * (include/uapi/linux/cn_proc.h). It needs CAP_NET_ADMIN, and the initial user and pid namespaces.
 */
public final class UserChanges implements AutoCloseable {
    private static final int SOCKET = SyscallNames.number("socket");
    private static final int BIND = SyscallNames.number("bind");
    private static final int SENDTO = SyscallNames.number("sendto");
    private static final int RECVFROM = SyscallNames.number("recvfrom");
    private static final int AF_NETLINK = 16;
    private static final int SOCK_DGRAM_CLOEXEC = 2 | 02000000;
    private static final int NETLINK_CONNECTOR = 11;
    private static final int CN_IDX_PROC = 1;
    private static final int PROC_CN_MCAST_LISTEN = 1;
    private static final int PROC_CN_MCAST_IGNORE = 2;
    private static final int PROC_EVENT_UID = 4;
    private static final int NLMSG_DONE = 3;

    // struct nlmsghdr, 16 bytes; struct cn_msg, 20: u32 idx, val, seq, ack, u16 len, flags.
    private static final int BODY = 36;

    // struct proc_event: u32 what, u32 cpu, u64 time, then pid_t pid, tgid, u32 ruid, euid.
    private static final int TGID = BODY + 20;
    private static final int REAL_UID = BODY + 24;

    private final int fd;

    private UserChanges(int fd) {
        this.fd = fd;
    }

    /**
     * Listens from now on.
     *
     * @throws SyscallException where the kernel tells this process nothing
     */
    public static UserChanges listen() throws SyscallException {
        long socket =
                NativeSyscall.syscall(SOCKET, AF_NETLINK, SOCK_DGRAM_CLOEXEC, NETLINK_CONNECTOR);
        int fd = (int) SyscallResults.check("socket", "NETLINK_CONNECTOR", socket);
        try (Arena arena = Arena.ofConfined()) {
            // struct sockaddr_nl: u16 family, u16 pad, u32 port, u32 groups.
            MemorySegment address = arena.allocate(12, 4);
            address.set(JAVA_SHORT_UNALIGNED, 0, (short) AF_NETLINK);
            address.set(JAVA_INT_UNALIGNED, 8, CN_IDX_PROC);
            long bound = NativeSyscall.syscall(BIND, fd, address.address(), 12);
            SyscallResults.check("bind", "NETLINK_CONNECTOR", bound);
            UserChanges changes = new UserChanges(fd);
            changes.say(PROC_CN_MCAST_LISTEN);
            return changes;
        } catch (SyscallException e) {
            Fd.discard(fd);
            throw e;
        }
    }

    private void say(int operation) throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment message = arena.allocate(BODY + 4, 8);
            message.set(JAVA_INT_UNALIGNED, 0, BODY + 4);
            message.set(JAVA_SHORT_UNALIGNED, 4, (short) NLMSG_DONE);
            message.set(JAVA_INT_UNALIGNED, 16, CN_IDX_PROC);
            message.set(JAVA_INT_UNALIGNED, 20, 1); // CN_VAL_PROC
            message.set(JAVA_SHORT_UNALIGNED, 32, (short) 4);
            message.set(JAVA_INT_UNALIGNED, BODY, operation);
            long sent =
                    NativeSyscall.syscall(
                            SENDTO, fd, message.address(), message.byteSize(), 0, 0, 0);
            SyscallResults.check("sendto", "NETLINK_CONNECTOR", sent);
        }
    }

    /**
     * Waits for a process that becomes a user's.
     *
     * @return its number; 0 when none did in that time
     */
    public int next(int realUid, long nanos) throws SyscallException {
        long end = System.nanoTime() + nanos;
        try (Arena arena = Arena.ofConfined()) {
            PollSet poll = new PollSet(arena, 1);
            poll.add(fd, PollSet.POLLIN);
            MemorySegment message = arena.allocate(4096, 8);
            for (long left = nanos; left > 0; left = end - System.nanoTime()) {
                if (poll.await(left) == 0) {
                    continue;
                }
                long got = NativeSyscall.syscall(RECVFROM, fd, message.address(), 4096, 0x40, 0, 0);
                boolean uid =
                        got >= REAL_UID + 4
                                && message.get(JAVA_INT_UNALIGNED, BODY) == PROC_EVENT_UID
                                && message.get(JAVA_INT_UNALIGNED, REAL_UID) == realUid;
                if (uid) {
                    return message.get(JAVA_INT_UNALIGNED, TGID);
                }
            }
            return 0;
        }
    }

    @Override
    public void close() {
        try {
            say(PROC_CN_MCAST_IGNORE);
        } catch (SyscallException e) {
            // Since Linux 6.6 the kernel counts a closed socket out by itself.
            return;
        } finally {
            Fd.discard(fd);
        }
    }
}
