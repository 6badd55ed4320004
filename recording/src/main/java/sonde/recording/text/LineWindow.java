package sonde.recording.text;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The lines of a text, one after the other, as bytes of a window that moves over it. A line longer
 * than {@link #MAX_BYTES} is cut there and its rest skipped; the last one may lack its line feed.
 */
final class LineWindow {
    /** Bytes of a line that are looked at; the kernel's longest printk line is 1 KiB. */
    static final int MAX_BYTES = 1 << 16;

    private static final int WINDOW = 1 << 18;

    private final MemorySegment text;
    private final long end;
    private final byte[] window;
    private long windowAt;
    private int filled;
    private int position;
    private boolean again;
    private long skipTo = -1;

    /** Where the line begins in {@link #bytes}. */
    int from;

    /** Where it ends, line feed and carriage return not counted. */
    int to;

    /** Where it begins in the text. */
    long offset;

    /** Whether it was longer. */
    boolean cut;

    /** The lines that begin at {@code start} or later and before {@code end}. */
    LineWindow(MemorySegment text, long start, long end) {
        this.text = text;
        this.end = end;
        this.window = new byte[(int) Math.min(WINDOW, Math.max(1, end))];
        this.windowAt = start;
    }

    /** What holds the line; another line's bytes after {@link #next}. */
    byte[] bytes() {
        return window;
    }

    /** Goes to the next line; false at the end. */
    boolean next() {
        if (again) {
            again = false;
            return true;
        }
        if (skipTo >= 0) {
            seek(skipTo);
        }
        int feed = feed(window, position, filled);
        if (feed < 0 && windowAt + filled < end) {
            refill(windowAt + position);
            feed = feed(window, 0, filled);
        }
        if (position == filled) {
            return false;
        }
        from = position;
        offset = windowAt + from;
        to = feed < 0 ? filled : feed;
        position = feed < 0 ? filled : feed + 1;
        if (feed < 0 && windowAt + filled < end) {
            skipTo = behindFeed(windowAt + filled);
        }
        cut = to - from > MAX_BYTES;
        if (cut) {
            to = from + MAX_BYTES;
        } else if (to > from && window[to - 1] == '\r') {
            to--;
        }
        return true;
    }

    /** Makes the current line the next one again. */
    void back() {
        again = true;
    }

    /** Makes the line at an offset the next one. */
    void seek(long at) {
        again = false;
        skipTo = -1;
        if (at >= windowAt && at <= windowAt + filled) {
            position = (int) (at - windowAt);
        } else {
            windowAt = at;
            filled = 0;
            position = 0;
        }
    }

    private void refill(long at) {
        windowAt = at;
        position = 0;
        filled = (int) Math.min(window.length, end - at);
        MemorySegment.copy(text, ValueLayout.JAVA_BYTE, at, window, 0, filled);
    }

    private long behindFeed(long at) {
        byte[] chunk = new byte[1 << 16];
        for (long from = at; from < end; from += chunk.length) {
            int count = (int) Math.min(chunk.length, end - from);
            MemorySegment.copy(text, ValueLayout.JAVA_BYTE, from, chunk, 0, count);
            int feed = feed(chunk, 0, count);
            if (feed >= 0) {
                return from + feed + 1;
            }
        }
        return end;
    }

    private static int feed(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            if (bytes[i] == '\n') {
                return i;
            }
        }
        return -1;
    }
}
