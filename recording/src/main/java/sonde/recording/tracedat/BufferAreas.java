package sonde.recording.tracedat;

import sonde.binary.Input;
import sonde.recording.tracedat.TraceDatContent.BufferArea;

/** Where the sub-buffers of CPUs lie, as far as the file has them. */
final class BufferAreas {
    private BufferAreas() {}

    /**
     * Adds what is there of an area.
     *
     * @param stated bytes that the file says it has
     */
    static void add(TraceDatContent content, BufferArea area, long stated) {
        if (stated == 0) {
            return;
        }
        String where = where(area);
        Input input = area.input();
        long there = input.sizeBytes();
        long offset = area.offset();
        if (offset < 0 || stated < 0) {
            content.note(
                    where
                            + ": its events are said to lie at byte "
                            + Long.toUnsignedString(offset)
                            + ", which no file reaches");
            return;
        }
        if (offset >= there) {
            content.note(
                    where
                            + ": all "
                            + stated
                            + " bytes of its events are missing, the file ends at "
                            + there);
            return;
        }
        // Compressed data say themselves how long they are; trace-cmd states some bytes less.
        boolean plain = area.compression() == TraceDatCompression.NONE;
        long left = plain ? Math.min(stated, there - offset) : there - offset;
        long missing = Math.max(0, stated - (there - offset));
        if (missing > 0) {
            content.note(
                    where
                            + ": cut short, "
                            + left
                            + " of "
                            + stated
                            + " bytes of events are there");
        }
        content.areas.add(
                new BufferArea(
                        area.buffer(),
                        area.clock(),
                        area.pageBytes(),
                        area.cpu(),
                        input,
                        offset,
                        left,
                        missing,
                        area.compression()));
    }

    /** {@code "CPU 3"}, {@code "buffer net, CPU 3"}. */
    static String where(BufferArea area) {
        String cpu = "CPU " + area.cpu();
        return area.buffer().isEmpty() ? cpu : "buffer " + area.buffer() + ", " + cpu;
    }
}
