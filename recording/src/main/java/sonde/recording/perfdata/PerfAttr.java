package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.FLAG_FREQ;
import static sonde.recording.perfdata.PerfAbi.FLAG_SAMPLE_ID_ALL;
import static sonde.recording.perfdata.PerfAbi.FLAG_USE_CLOCKID;
import static sonde.recording.perfdata.PerfAbi.FLAG_WATERMARK;
import static sonde.recording.perfdata.PerfAbi.PERF_ATTR_SIZE_VER0;
import static sonde.recording.perfdata.PerfAbi.PERF_ATTR_SIZE_VER8;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CPU;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_IDENTIFIER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_STREAM_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TIME;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_SOFTWARE;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_TRACEPOINT;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * struct perf_event_attr (include/uapi/linux/perf_event.h, 6.18): what is asked of
 * perf_event_open(2) and what a perf.data says its samples carry.
 *
 * {@snippet :
 * PerfAttr clock = PerfAttr.software(PERF_COUNT_SW_CPU_CLOCK)
 *         .frequency(999)
 *         .sampleType(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)
 *         .flags(FLAG_DISABLED | FLAG_SAMPLE_ID_ALL)
 *         .clockid(1)
 *         .build();
 * byte[] forTheKernel = clock.encode();
 * }
 *
 * @param type PERF_TYPE_* or a number from /sys/bus/event_source/devices
 * @param config event number within the type
 * @param samplePeriod sample_period, or sample_freq when FLAG_FREQ is set
 * @param sampleType PERF_SAMPLE_* bits
 * @param readFormat PERF_FORMAT_* bits
 * @param flags FLAG_* bits
 * @param wakeup wakeup_events, or wakeup_watermark in bytes when FLAG_WATERMARK is set
 * @param bpType HW_BREAKPOINT_* bits
 * @param config1 also bp_addr, kprobe_func, uprobe_path
 * @param config2 also bp_len, kprobe_addr, probe_offset
 * @param branchSampleType PERF_SAMPLE_BRANCH_* bits
 * @param sampleRegsUser registers of the user part, one bit each
 * @param sampleStackUser bytes of user stack to copy
 * @param clockid CLOCK_* of the times when FLAG_USE_CLOCKID is set
 * @param sampleRegsIntr registers at the interrupt, one bit each
 * @param auxWatermark bytes in the AUX area before a wake-up
 * @param sampleMaxStack most frames of a call chain, 0 for the sysctl's
 * @param auxSampleSize bytes of AUX data in a sample
 * @param sigData user data of FLAG_SIGTRAP
 * @param config3 since 6.3
 */
public record PerfAttr(
        int type,
        long config,
        long samplePeriod,
        long sampleType,
        long readFormat,
        long flags,
        int wakeup,
        int bpType,
        long config1,
        long config2,
        long branchSampleType,
        long sampleRegsUser,
        int sampleStackUser,
        int clockid,
        long sampleRegsIntr,
        int auxWatermark,
        int sampleMaxStack,
        int auxSampleSize,
        long sigData,
        long config3) {
    // Where the fields lie in the struct.
    private static final int TYPE = 0;
    private static final int SIZE = 4;
    private static final int CONFIG = 8;
    private static final int SAMPLE_PERIOD = 16;
    private static final int SAMPLE_TYPE = 24;
    private static final int READ_FORMAT = 32;
    private static final int FLAGS = 40;
    private static final int WAKEUP = 48;
    private static final int BP_TYPE = 52;
    private static final int CONFIG1 = 56;
    private static final int CONFIG2 = 64;
    private static final int BRANCH_SAMPLE_TYPE = 72;
    private static final int SAMPLE_REGS_USER = 80;
    private static final int SAMPLE_STACK_USER = 88;
    private static final int CLOCKID = 92;
    private static final int SAMPLE_REGS_INTR = 96;
    private static final int AUX_WATERMARK = 104;
    private static final int SAMPLE_MAX_STACK = 108;
    private static final int AUX_SAMPLE_SIZE = 112;
    private static final int SIG_DATA = 120;
    private static final int CONFIG3 = 128;

    /** Of this type, with this event number. */
    public static Builder of(int type, long config) {
        ByteBuffer struct = struct(ByteOrder.nativeOrder());
        return new Builder(struct.putInt(TYPE, type).putLong(CONFIG, config));
    }

    /** A software event, PERF_COUNT_SW_*. */
    public static Builder software(int config) {
        return of(PERF_TYPE_SOFTWARE, config);
    }

    /** A tracepoint by the number in its {@code id} file. */
    public static Builder tracepoint(int id) {
        return of(PERF_TYPE_TRACEPOINT, id);
    }

    /** Whether all of these FLAG_* bits are set. */
    public boolean has(long flagBits) {
        return (flags & flagBits) == flagBits;
    }

    /** Whether all of these PERF_SAMPLE_* bits are set. */
    public boolean samples(long sampleBits) {
        return (sampleType & sampleBits) == sampleBits;
    }

    /** Whether records other than samples end in the fields of sample_id. */
    public boolean sampleIdAll() {
        return has(FLAG_SAMPLE_ID_ALL);
    }

    /** Bytes of the sample_id trailer of other records, 0 without FLAG_SAMPLE_ID_ALL. */
    public int sampleIdBytes() {
        long each =
                PERF_SAMPLE_TID
                        | PERF_SAMPLE_TIME
                        | PERF_SAMPLE_ID
                        | PERF_SAMPLE_STREAM_ID
                        | PERF_SAMPLE_CPU
                        | PERF_SAMPLE_IDENTIFIER;
        return sampleIdAll() ? 8 * Long.bitCount(sampleType & each) : 0;
    }

    /** The 136 bytes that perf_event_open(2) takes, in native byte order. */
    public byte[] encode() {
        return encode(PERF_ATTR_SIZE_VER8);
    }

    /**
     * The first bytes of the struct, in native byte order, with {@code size} set to match.
     *
     * @param sizeBytes of the version wanted, from PERF_ATTR_SIZE_VER0 to PERF_ATTR_SIZE_VER8
     */
    public byte[] encode(int sizeBytes) {
        if (sizeBytes < PERF_ATTR_SIZE_VER0 || sizeBytes > PERF_ATTR_SIZE_VER8) {
            throw new IllegalArgumentException("perf_event_attr of " + sizeBytes + " bytes");
        }
        ByteBuffer out = struct(ByteOrder.nativeOrder());
        out.putInt(TYPE, type).putInt(SIZE, sizeBytes).putLong(CONFIG, config);
        out.putLong(SAMPLE_PERIOD, samplePeriod).putLong(SAMPLE_TYPE, sampleType);
        out.putLong(READ_FORMAT, readFormat).putLong(FLAGS, flags);
        out.putInt(WAKEUP, wakeup).putInt(BP_TYPE, bpType);
        out.putLong(CONFIG1, config1).putLong(CONFIG2, config2);
        out.putLong(BRANCH_SAMPLE_TYPE, branchSampleType);
        out.putLong(SAMPLE_REGS_USER, sampleRegsUser);
        out.putInt(SAMPLE_STACK_USER, sampleStackUser).putInt(CLOCKID, clockid);
        out.putLong(SAMPLE_REGS_INTR, sampleRegsIntr).putInt(AUX_WATERMARK, auxWatermark);
        out.putShort(SAMPLE_MAX_STACK, (short) sampleMaxStack);
        out.putInt(AUX_SAMPLE_SIZE, auxSampleSize);
        out.putLong(SIG_DATA, sigData).putLong(CONFIG3, config3);
        return Arrays.copyOf(out.array(), sizeBytes);
    }

    /**
     * Takes the struct from a file of any version and byte order: what is missing counts as zero,
     * what is beyond the fields known here is ignored.
     *
     * @param bytes the struct, with the byte order of the file set; position and limit stay
     */
    public static PerfAttr decode(ByteBuffer bytes) {
        ByteBuffer in = struct(bytes.order());
        int known = Math.min(bytes.remaining(), PERF_ATTR_SIZE_VER8);
        in.put(0, bytes, bytes.position(), known);
        return of(in);
    }

    private static ByteBuffer struct(ByteOrder order) {
        return ByteBuffer.allocate(PERF_ATTR_SIZE_VER8).order(order);
    }

    private static PerfAttr of(ByteBuffer in) {
        return new PerfAttr(
                in.getInt(TYPE),
                in.getLong(CONFIG),
                in.getLong(SAMPLE_PERIOD),
                in.getLong(SAMPLE_TYPE),
                in.getLong(READ_FORMAT),
                flags(in),
                in.getInt(WAKEUP),
                in.getInt(BP_TYPE),
                in.getLong(CONFIG1),
                in.getLong(CONFIG2),
                in.getLong(BRANCH_SAMPLE_TYPE),
                in.getLong(SAMPLE_REGS_USER),
                in.getInt(SAMPLE_STACK_USER),
                in.getInt(CLOCKID),
                in.getLong(SAMPLE_REGS_INTR),
                in.getInt(AUX_WATERMARK),
                in.getShort(SAMPLE_MAX_STACK) & 0xffff,
                in.getInt(AUX_SAMPLE_SIZE),
                in.getLong(SIG_DATA),
                in.getLong(CONFIG3));
    }

    /** Bit fields start at the other end of each byte on big-endian machines. */
    private static long flags(ByteBuffer in) {
        if (in.order() == ByteOrder.LITTLE_ENDIAN) {
            return in.getLong(FLAGS);
        }
        return Long.reverse(in.getLong(FLAGS));
    }

    /** This attr with some things changed. */
    public Builder toBuilder() {
        return new Builder(ByteBuffer.wrap(encode()).order(ByteOrder.nativeOrder()));
    }

    /** Sets what differs from zero; bits are added to those set before. */
    public static final class Builder {
        private final ByteBuffer struct;

        private Builder(ByteBuffer struct) {
            this.struct = struct;
        }

        /** A sample every that many events. */
        public Builder period(long events) {
            return put(SAMPLE_PERIOD, events).without(FLAG_FREQ);
        }

        /** About that many samples a second; sets FLAG_FREQ. */
        public Builder frequency(long hertz) {
            return put(SAMPLE_PERIOD, hertz).flags(FLAG_FREQ);
        }

        /** Adds PERF_SAMPLE_* bits. */
        public Builder sampleType(long bits) {
            return add(SAMPLE_TYPE, bits);
        }

        /** Adds PERF_FORMAT_* bits. */
        public Builder readFormat(long bits) {
            return add(READ_FORMAT, bits);
        }

        /** Adds FLAG_* bits. */
        public Builder flags(long bits) {
            return add(FLAGS, bits);
        }

        /** Takes FLAG_* bits away. */
        public Builder without(long bits) {
            return put(FLAGS, struct.getLong(FLAGS) & ~bits);
        }

        /** Wakes the reader when that many bytes lie in the ring; sets FLAG_WATERMARK. */
        public Builder watermark(int sizeBytes) {
            struct.putInt(WAKEUP, sizeBytes);
            return flags(FLAG_WATERMARK);
        }

        public Builder config1(long value) {
            return put(CONFIG1, value);
        }

        public Builder config2(long value) {
            return put(CONFIG2, value);
        }

        public Builder config3(long value) {
            return put(CONFIG3, value);
        }

        /** Adds PERF_SAMPLE_BRANCH_* bits. */
        public Builder branchSampleType(long bits) {
            return add(BRANCH_SAMPLE_TYPE, bits);
        }

        /** Registers and bytes of the user stack, for unwinding later. */
        public Builder userStack(long registers, int stackBytes) {
            struct.putInt(SAMPLE_STACK_USER, stackBytes);
            return put(SAMPLE_REGS_USER, registers);
        }

        /** Registers at the interrupt, one bit each. */
        public Builder sampleRegsIntr(long registers) {
            return put(SAMPLE_REGS_INTR, registers);
        }

        /** Times in this CLOCK_*; sets FLAG_USE_CLOCKID. */
        public Builder clockid(int clock) {
            struct.putInt(CLOCKID, clock);
            return flags(FLAG_USE_CLOCKID);
        }

        /** Most frames of a call chain. */
        public Builder sampleMaxStack(int frames) {
            struct.putShort(SAMPLE_MAX_STACK, (short) frames);
            return this;
        }

        public Builder auxWatermark(int sizeBytes) {
            struct.putInt(AUX_WATERMARK, sizeBytes);
            return this;
        }

        public Builder auxSampleSize(int sizeBytes) {
            struct.putInt(AUX_SAMPLE_SIZE, sizeBytes);
            return this;
        }

        public Builder sigData(long value) {
            return put(SIG_DATA, value);
        }

        /** The attr as set so far. */
        public PerfAttr build() {
            return decode(struct.duplicate().order(struct.order()).position(0));
        }

        private Builder put(int offset, long value) {
            struct.putLong(offset, value);
            return this;
        }

        private Builder add(int offset, long bits) {
            return put(offset, struct.getLong(offset) | bits);
        }
    }
}
