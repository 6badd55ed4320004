package sonde.recording.tracedat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import sonde.binary.FieldCursor;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.recording.ftrace.PageLayout;

/**
 * Finds the sections of a version 7 whose options are gone: writers put one behind the other, and a
 * file that is cut lacks its end, where the options about its buffers stand.
 */
final class SectionSalvage {
    private static final int HEADER_BYTES = 16;
    private static final int MOST_SECTIONS = 1000;
    private static final int MOST_CPUS = 1 << 12;

    private final Input input;
    private final FieldCursor cursor;

    /** A section by its header; the size is what there is of it. */
    record SalvagedSection(int id, boolean compressed, long offset, long sizeBytes) {}

    /** Data of one CPU. */
    record SalvagedRun(long offset, long sizeBytes) {}

    SectionSalvage(Input input, FieldCursor cursor) {
        this.input = input;
        this.cursor = cursor;
    }

    /** Sections from there on, as far as their headers make sense. */
    List<SalvagedSection> sections(long start) throws IOException {
        List<SalvagedSection> found = new ArrayList<>();
        long at = start;
        long end = input.sizeBytes();
        while (at <= end - HEADER_BYTES && found.size() < MOST_SECTIONS) {
            cursor.seek("section", at);
            int id = cursor.u16("section id");
            int flags = cursor.u16("section flags");
            cursor.u32("section string id");
            long size = cursor.u64("section size");
            if (id > TraceDatNumbers.MODULES_FILE || flags > TraceDatNumbers.COMPRESSED) {
                return found;
            }
            long left = end - at - HEADER_BYTES;
            boolean open = size <= 0 || size > left;
            found.add(
                    new SalvagedSection(
                            id, flags == TraceDatNumbers.COMPRESSED, at, open ? left : size));
            if (open) {
                return found;
            }
            at += HEADER_BYTES + size;
        }
        return found;
    }

    /** The CPUs of a buffer: where times go back, another one begins. */
    List<SalvagedRun> runs(SalvagedSection buffer, int pageBytes, TraceDatContent content)
            throws IOException {
        long start = buffer.offset + HEADER_BYTES;
        long end = start + buffer.sizeBytes;
        PageLayout layout = content.layout();
        return buffer.compressed
                ? chunks(start, end, pageBytes)
                : pages(aligned(start, pageBytes), end, pageBytes, layout);
    }

    private static long aligned(long offset, int unit) {
        return (offset + unit - 1) / unit * unit;
    }

    private List<SalvagedRun> pages(long start, long end, int pageBytes, PageLayout layout)
            throws IOException {
        List<SalvagedRun> runs = new ArrayList<>();
        long from = start;
        long latest = 0;
        long at = start;
        for (; at + layout.dataOffset() <= end && runs.size() < MOST_CPUS; at += pageBytes) {
            cursor.seek("page", at);
            long time = cursor.u64("page time");
            long commit = layout.commitBytes() == 8 ? cursor.u64("commit") : cursor.u32("commit");
            if ((commit & 0x7ff_ffff) > pageBytes) {
                break; // behind the pages come options
            }
            if (time < latest) {
                runs.add(new SalvagedRun(from, at - from));
                from = at;
            }
            latest = time;
        }
        long last = Math.min(at, end);
        if (last > from) {
            runs.add(new SalvagedRun(from, last - from));
        }
        return runs;
    }

    /** Chunks of each CPU stand behind their number, at a multiple of the page size or at once. */
    private List<SalvagedRun> chunks(long start, long end, int pageBytes) throws IOException {
        List<SalvagedRun> runs = new ArrayList<>();
        long at = start;
        while (at < end && runs.size() < MOST_CPUS) {
            long from = isChunks(at, end) ? at : aligned(at, pageBytes);
            if (!isChunks(from, end)) {
                break;
            }
            cursor.seek("chunks", from);
            long count = cursor.u32("chunks");
            long next = from + 4;
            for (long i = 0; i < count && isBlock(next, end); i++) {
                cursor.seek("chunk", next);
                next += 8 + cursor.u32("chunk");
            }
            runs.add(new SalvagedRun(from, Math.min(next, end) - from));
            at = next;
        }
        return runs;
    }

    private boolean isChunks(long at, long end) throws IOException {
        if (at > end - 12) {
            return false;
        }
        cursor.seek("chunks", at);
        long count = cursor.u32("chunks");
        return count > 0 && count < 1 << 24 && isBlock(at + 4, end);
    }

    private boolean isBlock(long at, long end) throws IOException {
        if (at > end - 8) {
            return false;
        }
        cursor.seek("chunk", at);
        long packed = cursor.u32("chunk");
        long plain = cursor.u32("chunk");
        return packed > 0
                && plain > 0
                && plain % 512 == 0
                && plain <= TraceDatCompression.MOST_BYTES;
    }

    /** Parts put together. */
    static byte[] joined(List<byte[]> parts) throws MalformedInputException {
        long size = parts.stream().mapToLong(part -> part.length).sum();
        if (size > TraceDatCompression.MOST_BYTES) {
            throw new MalformedInputException("trace.dat", "text", 0, size + " bytes");
        }
        byte[] all = new byte[(int) size];
        int at = 0;
        for (byte[] part : parts) {
            System.arraycopy(part, 0, all, at, part.length);
            at += part.length;
        }
        return all;
    }
}
