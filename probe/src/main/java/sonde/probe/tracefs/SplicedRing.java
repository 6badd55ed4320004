package sonde.probe.tracefs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.SyscallException;

/**
 * One CPU's ring of an instance on its way into a file: whole sub-buffers by splice(2) through a
 * pipe, never through this process's memory; the last, partly filled ones by read(2).
 *
 * <p>The file holds nothing but sub-buffers of {@code pageBytes} each, also when it could not be
 * written to the end.
 */
public final class SplicedRing implements AutoCloseable {
    /** Most moved in one {@link #drain}, so that one busy CPU does not starve the others. */
    private static final long MAX_PER_PASS = 32L << 20;

    /** Bytes of a sub-buffer's own header: u64 time, u64 commit (6.18, 64-bit). */
    private static final int PAGE_HEADER = 16;

    /** Low bits of commit hold the data's length (RB_WRITE_MASK of ring_buffer.c). */
    private static final long COMMIT_MASK = 0xfffff;

    private final int cpu;
    private final int raw;
    private final int spool;
    private final Fd.Pipe pipe;
    private final int pageBytes;
    private long written;
    private int writeErrno;
    private boolean closed;

    /**
     * @param raw a CPU's {@code trace_pipe_raw}, non-blocking; closed by {@link #close}
     * @param spool an empty file opened for writing; closed by {@link #close}
     * @param pipe shared by all spools of a thread, empty between calls
     * @param pageBytes size of a sub-buffer
     */
    public SplicedRing(int cpu, int raw, int spool, Fd.Pipe pipe, int pageBytes) {
        this.cpu = cpu;
        this.raw = raw;
        this.spool = spool;
        this.pipe = pipe;
        this.pageBytes = pageBytes;
    }

    /** The CPU. */
    public int cpu() {
        return cpu;
    }

    /** The descriptor to poll. */
    public int raw() {
        return raw;
    }

    /** Bytes in the file. */
    public long written() {
        return written;
    }

    /** Why the file cannot be written any more, 0 while it can: ENOSPC, EFBIG, EDQUOT, EIO. */
    public int writeErrno() {
        return writeErrno;
    }

    /**
     * Moves whole sub-buffers.
     *
     * @return bytes moved; less than a sub-buffer stays in the ring
     */
    public long drain() throws SyscallException {
        long total = 0;
        while (writeErrno == 0 && total < MAX_PER_PASS) {
            long count =
                    Fd.splice(
                            raw, pipe.writeEnd(), 1 << 20, Fd.SPLICE_F_MOVE | Fd.SPLICE_F_NONBLOCK);
            if (count <= 0) {
                break;
            }
            total += toFile(count);
        }
        written += total;
        return total;
    }

    /**
     * Moves what is there, also from the sub-buffer that is still being filled: its events become a
     * sub-buffer of their own, and later ones another.
     */
    public void drainPartly() throws SyscallException {
        long moved = drain();
        // Before Linux 6.5 splice takes no sub-buffer that was read in part: read takes its rest.
        if (takePartly() && moved == 0 && drain() > 0) {
            takePartly();
        }
    }

    private boolean takePartly() throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            return writeErrno == 0 && take(arena.allocate(pageBytes, 8));
        }
    }

    private long toFile(long count) {
        long left = count;
        try {
            while (left > 0) {
                long moved = Fd.splice(pipe.readEnd(), spool, left, Fd.SPLICE_F_MOVE);
                if (moved <= 0) {
                    throw new SyscallException("splice", "spool of cpu " + cpu, Errno.EIO);
                }
                left -= moved;
            }
            return count;
        } catch (SyscallException e) {
            writeErrno = e.errno();
            empty(left);
            return (count - left) / pageBytes * pageBytes;
        }
    }

    /** Throws away what could not be written, so that the pipe is empty for the next ring. */
    private void empty(long sizeBytes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment waste = arena.allocate(1 << 16);
            long left = sizeBytes;
            while (left > 0) {
                long count =
                        Fd.read(pipe.readEnd(), waste.asSlice(0, Math.min(left, waste.byteSize())));
                if (count <= 0) {
                    return;
                }
                left -= count;
            }
        } catch (SyscallException e) {
            writeErrno = e.errno();
        }
    }

    /**
     * Takes everything that is left, after the events were switched off: full sub-buffers by
     * splice, then the partly filled ones by read, zeros after their data.
     */
    public void drainToEnd() throws SyscallException {
        while (drain() > 0) {
            // Until only less than a sub-buffer is left.
            continue;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment page = arena.allocate(pageBytes, 8);
            while (writeErrno == 0) {
                if (!take(page)) {
                    return;
                }
            }
        }
    }

    /** Reads what one sub-buffer holds and appends it; false when there was nothing. */
    private boolean take(MemorySegment page) throws SyscallException {
        page.fill((byte) 0);
        long count = Fd.read(raw, page);
        if (count <= PAGE_HEADER) {
            return false;
        }
        long data = page.get(JAVA_LONG, 8) & COMMIT_MASK;
        // After the data may stand the u64 count of missed events.
        long end = Math.min(PAGE_HEADER + data + 8, pageBytes);
        page.asSlice(end).fill((byte) 0);
        append(page);
        return true;
    }

    private void append(MemorySegment page) {
        try {
            Fd.writeFully(spool, page); // at the file's position, where splice goes on
            written += pageBytes;
        } catch (SyscallException e) {
            writeErrno = e.errno();
        }
    }

    /** Time of the first sub-buffer in the file, as its clock has it; 0 for an empty file. */
    public long oldestNanos() throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment time = arena.allocate(8, 8);
            return Fd.pread(spool, time, 0) == 8 ? time.get(JAVA_LONG, 0) : 0;
        }
    }

    /** Events in the file. */
    public long writtenEvents() throws SyscallException {
        long count = 0;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pages = arena.allocate((long) pageBytes << 6, 8);
            for (long at = 0; at < written; at += pages.byteSize()) {
                long have = Math.min(Fd.pread(spool, pages, at), written - at);
                for (long page = 0; page + pageBytes <= have; page += pageBytes) {
                    count += events(pages.asSlice(page, pageBytes));
                }
            }
        }
        return count;
    }

    /** Events of a sub-buffer: struct ring_buffer_event of include/linux/ring_buffer.h. */
    private static long events(MemorySegment page) {
        long end =
                Math.min(page.byteSize(), PAGE_HEADER + (page.get(JAVA_LONG, 8) & COMMIT_MASK)) - 4;
        long count = 0;
        long at = PAGE_HEADER;
        while (at < end) {
            int head = page.get(JAVA_INT, at);
            boolean big = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;
            int type = big ? head >>> 27 : head & 31;
            boolean isToEnd = type == 29 && head == (big ? 29 << 27 : 29); // padding without time
            boolean isData = type < 29; // RINGBUF_TYPE_PADDING; behind it times, of 8 bytes
            int length = type % 29 == 0 ? page.get(JAVA_INT, at + 4) : isData ? type * 4 : 4;
            if (isToEnd || length <= 0) {
                break;
            }
            count += isData ? 1 : 0;
            at += 4L + length;
        }
        return count;
    }

    /** Cuts a half-written sub-buffer off and closes ring and file. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            if (writeErrno != 0) {
                Fd.ftruncate(spool, written);
            }
        } catch (SyscallException e) {
            writeErrno = e.errno();
        } finally {
            Fd.discard(raw);
            Fd.discard(spool);
        }
    }
}
