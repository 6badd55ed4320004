package sonde.probe.snapshot;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/** The memory of a process that goes on running, through /proc/PID/mem. */
public final class ProcessMemory implements AutoCloseable {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final int file;

    /** Opens it; where that is refused, nothing can be read. */
    public ProcessMemory(int pid) {
        int opened = -1;
        try {
            opened = FileCalls.open("/proc/" + pid + "/mem", FileCalls.O_RDONLY);
        } catch (SyscallException e) {
            opened = -1; // it has ended, or is another user's
        }
        file = opened;
    }

    /** The bytes from an address on, as many as can be read, in the machine's order. */
    public ByteBuffer read(long address, int bytes) {
        if (file < 0 || address <= 0 || bytes <= 0) {
            return NOTHING;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(bytes);
            long got = Fd.pread(file, into, address);
            return ByteBuffer.wrap(into.asSlice(0, got).toArray(ValueLayout.JAVA_BYTE))
                    .order(ByteOrder.nativeOrder());
        } catch (SyscallException e) {
            return NOTHING;
        }
    }

    /** The text at an address up to its NUL or a limit; empty when it cannot be read. */
    public String text(long address, int limit) {
        int page = MachineFacts.pageBytes();
        ByteBuffer bytes = read(address, (int) Math.min(limit, page - (address & (page - 1))));
        if (bytes.limit() < limit && bytes.hasRemaining() && !hasEnd(bytes)) {
            ByteBuffer all = read(address, limit);
            bytes = all.hasRemaining() ? all : bytes;
        }
        int end = 0;
        while (end < bytes.limit() && bytes.get(end) != 0) {
            end++;
        }
        return new String(bytes.array(), 0, end, StandardCharsets.UTF_8);
    }

    private static boolean hasEnd(ByteBuffer bytes) {
        for (int i = 0; i < bytes.limit(); i++) {
            if (bytes.get(i) == 0) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {
        if (file >= 0) {
            Fd.discard(file);
        }
    }
}
