package sonde.testkit;

import java.nio.ByteOrder;

/** Sub-buffers of the ftrace ring: kernel include/linux/ring_buffer.h. */
public final class RingPage {
    private static final int TS_SHIFT = 27;

    private final ByteOrder order;
    private final int longBytes;
    private final int pageBytes;
    private final long time;
    private final Bytes data;
    private int flags;
    private long missed = -1;

    /** An empty page with that time stamp. */
    public RingPage(ByteOrder order, int longBytes, int pageBytes, long time) {
        this.order = order;
        this.longBytes = longBytes;
        this.pageBytes = pageBytes;
        this.time = time;
        this.data = new Bytes(order);
    }

    /** An event with type_len 1..28: its size a multiple of 4, at most 112. */
    public RingPage event(long delta, byte[] payload) {
        header(payload.length / 4, delta);
        data.raw(payload);
        return this;
    }

    /** An event with type_len 0 and a length word. */
    public RingPage longEvent(long delta, byte[] payload) {
        header(0, delta);
        data.u32(payload.length + 4).raw(payload).align(4);
        return this;
    }

    /** RINGBUF_TYPE_PADDING with a size: a discarded event. */
    public RingPage discarded(long delta, int sizeBytes) {
        header(29, delta);
        data.u32(sizeBytes).raw(new byte[sizeBytes - 4]);
        return this;
    }

    /** RINGBUF_TYPE_PADDING to the end of the page. */
    public RingPage padding() {
        header(29, 0);
        return this;
    }

    /** RINGBUF_TYPE_TIME_EXTEND. */
    public RingPage extend(long delta) {
        header(30, delta & (1 << TS_SHIFT) - 1);
        data.u32(delta >>> TS_SHIFT);
        return this;
    }

    /** RINGBUF_TYPE_TIME_STAMP: 59 bits of an absolute time. */
    public RingPage stamp(long absolute) {
        header(31, absolute & (1 << TS_SHIFT) - 1);
        data.u32(absolute << 5 >>> 5 + TS_SHIFT);
        return this;
    }

    /** Events were lost before this page; a negative count is not stored. */
    public RingPage lost(long count) {
        flags = count < 0 ? 1 << 31 : 1 << 31 | 1 << 30;
        missed = count;
        return this;
    }

    /** An event of kernels before 2.6.31: type 3 in two bits, its length in three. */
    public RingPage oldEvent(long delta, byte[] payload) {
        int words = payload.length / 4;
        oldHeader(3, words < 8 ? words : 0, delta);
        if (words >= 8) {
            data.u32(payload.length + 4);
        }
        data.raw(payload);
        return this;
    }

    /** RINGBUF_TYPE_TIME_EXTEND of kernels before 2.6.31. */
    public RingPage oldExtend(long delta) {
        oldHeader(1, 0, delta & (1 << TS_SHIFT) - 1);
        data.u32(delta >>> TS_SHIFT);
        return this;
    }

    /** RINGBUF_TYPE_PADDING of kernels before 2.6.31: the rest of the page is empty. */
    public RingPage oldPadding() {
        oldHeader(0, 0, 5);
        return this;
    }

    private void oldHeader(int type, int words, long delta) {
        data.u32(
                order == ByteOrder.LITTLE_ENDIAN
                        ? delta << 5 | (long) words << 2 | type
                        : (long) type << 30 | (long) words << TS_SHIFT | delta);
    }

    /** Words as they are. */
    public RingPage raw(byte[] bytes) {
        data.raw(bytes);
        return this;
    }

    private void header(int typeLen, long delta) {
        long word =
                order == ByteOrder.LITTLE_ENDIAN
                        ? delta << 5 | typeLen
                        : (long) typeLen << TS_SHIFT | delta;
        data.u32(word);
    }

    /** The page. */
    public byte[] toBytes() {
        Bytes page = new Bytes(order);
        page.u64(time);
        page.word((data.size() | flags) & 0xffff_ffffL, longBytes);
        page.raw(data.toBytes());
        if (missed >= 0) {
            page.word(missed, longBytes);
        }
        return page.align(pageBytes).toBytes();
    }
}
