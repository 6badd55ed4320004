package sonde.bpf.call;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.LockSupport;
import sonde.bpf.insn.HelperFunctionId;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * The event bpf_trace:bpf_trace_printk of the whole machine: the kernel switches it on when a
 * program that calls bpf_trace_printk or bpf_trace_vprintk is looked at, even one it then refuses,
 * and never off. While such programs of a process of ours are loaded it is left on; after the last
 * it is as it was before the first.
 */
public final class PrintkEvent {
    private static final String ENABLE =
            "/sys/kernel/tracing/events/bpf_trace/bpf_trace_printk/enable";
    private static final int CALL = 0x85;
    private static final int LOAD_WIDE = 0x18;

    // A busy machine lets the work queue wait for some 100 ms.
    private static final int LOOKS = 400;
    private static final int SETTLED = 40;
    private static final int MOST_LOOKS = 400;
    private static final long LOOK_NANOS = 5_000_000;

    private static final PrintkLease LEASE = new PrintkLease();
    private static int users;
    private static boolean wasOn;
    private static boolean cleaned;

    private PrintkEvent() {}

    /** Whether a program calls one of the two. */
    public static boolean isUsedBy(long[] words) {
        for (int i = 0; i < words.length; i++) {
            int opcode = (int) words[i] & 0xff;
            int source = (int) (words[i] >> 12) & 0xf;
            int helper = (int) (words[i] >> 32);
            if (opcode == CALL
                    && source == 0
                    && (helper == HelperFunctionId.TRACE_PRINTK
                            || helper == HelperFunctionId.TRACE_VPRINTK)) {
                return true;
            }
            if (opcode == LOAD_WIDE) {
                i++;
            }
        }
        return false;
    }

    /** Before such a program is loaded. */
    public static synchronized void use() {
        if (users++ == 0) {
            wasOn = LEASE.begin(isOn());
        }
    }

    /** When it is closed, or was refused. */
    public static synchronized void release() {
        if (--users == 0) {
            LEASE.end(wasOn ? () -> {} : PrintkEvent::settle);
        }
    }

    /** When it outlives this process, pinned: from now on it is on for that program. */
    public static synchronized void leave() {
        awaitOn();
        LEASE.leave();
        wasOn = true;
        if (--users == 0) {
            LEASE.end(() -> {});
        }
    }

    /**
     * Before the first program: switches it off where a process that used it was killed.
     *
     * @return whether it was
     */
    public static synchronized boolean clean() {
        boolean left = !cleaned && users == 0 && PrintkLease.isLeftBehind();
        if (left) {
            switchOff();
        }
        cleaned = true;
        return left;
    }

    /** Newer kernels switch it on a little later, from a work queue, and again for each program. */
    private static void settle() {
        awaitOn();
        int off = 0;
        for (int i = 0; i < MOST_LOOKS && off < SETTLED; i++) {
            if (isOn()) {
                switchOff();
                off = 0;
            } else {
                off++;
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    private static void awaitOn() {
        for (int i = 0; i < LOOKS && !isOn(); i++) {
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    private static boolean isOn() {
        try {
            byte[] text = FileCalls.readAll(ENABLE, 16);
            return text.length > 0 && text[0] == '1';
        } catch (SyscallException e) {
            return false;
        }
    }

    private static void switchOff() {
        try {
            int fd = FileCalls.open(ENABLE, FileCalls.O_WRONLY);
            try {
                Fd.writeFully(fd, "0".getBytes(StandardCharsets.US_ASCII));
            } finally {
                Fd.discard(fd);
            }
        } catch (SyscallException e) {
            // Without tracefs, or the right to write there, it stays.
        }
    }
}
