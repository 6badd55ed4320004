package sonde.format.perfdata;

import static sonde.format.perfdata.PerfEvent.FLAG_FREQ;
import static sonde.format.perfdata.PerfEvent.FLAG_SAMPLE_ID_ALL;
import static sonde.format.perfdata.PerfEvent.FLAG_USE_CLOCKID;
import static sonde.format.perfdata.PerfEvent.FLAG_WATERMARK;
import static sonde.format.perfdata.PerfEvent.PERF_ATTR_SIZE_VER0;
import static sonde.format.perfdata.PerfEvent.PERF_ATTR_SIZE_VER8;
import static sonde.format.perfdata.PerfEvent.PERF_SAMPLE_CPU;
import static sonde.format.perfdata.PerfEvent.PERF_SAMPLE_ID;
import static sonde.format.perfdata.PerfEvent.PERF_SAMPLE_IDENTIFIER;
import static sonde.format.perfdata.PerfEvent.PERF_SAMPLE_STREAM_ID;
import static sonde.format.perfdata.PerfEvent.PERF_SAMPLE_TID;
import static sonde.format.perfdata.PerfEvent.PERF_SAMPLE_TIME;
import static sonde.format.perfdata.PerfEvent.PERF_TYPE_SOFTWARE;
import static sonde.format.perfdata.PerfEvent.PERF_TYPE_TRACEPOINT;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

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

    /** Of this type, with this event number. */
    public static Builder of(int type, long config) {
        return new Builder(type, config);
    }

    /** A software event, PERF_COUNT_SW_*. */
    public static Builder software(int config) {
        return new Builder(PERF_TYPE_SOFTWARE, config);
    }

    /** A tracepoint by the number in its {@code id} file. */
    public static Builder tracepoint(int id) {
        return new Builder(PERF_TYPE_TRACEPOINT, id);
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
        byte[] whole = new byte[PERF_ATTR_SIZE_VER8];
        ByteBuffer out = ByteBuffer.wrap(whole).order(ByteOrder.nativeOrder());
        out.putInt(type);
        out.putInt(sizeBytes);
        out.putLong(config);
        out.putLong(samplePeriod);
        out.putLong(sampleType);
        out.putLong(readFormat);
        out.putLong(flags);
        out.putInt(wakeup);
        out.putInt(bpType);
        out.putLong(config1);
        out.putLong(config2);
        out.putLong(branchSampleType);
        out.putLong(sampleRegsUser);
        out.putInt(sampleStackUser);
        out.putInt(clockid);
        out.putLong(sampleRegsIntr);
        out.putInt(auxWatermark);
        out.putShort((short) sampleMaxStack);
        out.putShort((short) 0);
        out.putInt(auxSampleSize);
        out.putInt(0);
        out.putLong(sigData);
        out.putLong(config3);
        return java.util.Arrays.copyOf(whole, sizeBytes);
    }

    /**
     * Takes the struct from a file of any version and byte order: what is missing counts as zero,
     * what is beyond the fields known here is ignored.
     *
     * @param bytes the struct, with the byte order of the file set; position and limit stay
     */
    public static PerfAttr decode(ByteBuffer bytes) {
        ByteBuffer in = ByteBuffer.allocate(PERF_ATTR_SIZE_VER8).order(bytes.order());
        int known = Math.min(bytes.remaining(), PERF_ATTR_SIZE_VER8);
        in.put(0, bytes, bytes.position(), known);
        return new PerfAttr(
                in.getInt(0),
                in.getLong(8),
                in.getLong(16),
                in.getLong(24),
                in.getLong(32),
                flags(in),
                in.getInt(48),
                in.getInt(52),
                in.getLong(56),
                in.getLong(64),
                in.getLong(72),
                in.getLong(80),
                in.getInt(88),
                in.getInt(92),
                in.getLong(96),
                in.getInt(104),
                in.getShort(108) & 0xffff,
                in.getInt(112),
                in.getLong(120),
                in.getLong(128));
    }

    /** Bit fields start at the other end of each byte on big-endian machines. */
    private static long flags(ByteBuffer in) {
        if (in.order() == ByteOrder.LITTLE_ENDIAN) {
            return in.getLong(40);
        }
        return Long.reverse(in.getLong(40));
    }

    /** This attr with some things changed. */
    public Builder toBuilder() {
        Builder builder = new Builder(type, config);
        builder.samplePeriod = samplePeriod;
        builder.sampleType = sampleType;
        builder.readFormat = readFormat;
        builder.flags = flags;
        builder.wakeup = wakeup;
        builder.bpType = bpType;
        builder.config1 = config1;
        builder.config2 = config2;
        builder.branchSampleType = branchSampleType;
        builder.sampleRegsUser = sampleRegsUser;
        builder.sampleStackUser = sampleStackUser;
        builder.clockid = clockid;
        builder.sampleRegsIntr = sampleRegsIntr;
        builder.auxWatermark = auxWatermark;
        builder.sampleMaxStack = sampleMaxStack;
        builder.auxSampleSize = auxSampleSize;
        builder.sigData = sigData;
        builder.config3 = config3;
        return builder;
    }

    /** Sets what differs from zero; bits are added to those set before. */
    public static final class Builder {
        private final int type;
        private final long config;
        private long samplePeriod;
        private long sampleType;
        private long readFormat;
        private long flags;
        private int wakeup;
        private int bpType;
        private long config1;
        private long config2;
        private long branchSampleType;
        private long sampleRegsUser;
        private int sampleStackUser;
        private int clockid;
        private long sampleRegsIntr;
        private int auxWatermark;
        private int sampleMaxStack;
        private int auxSampleSize;
        private long sigData;
        private long config3;

        private Builder(int type, long config) {
            this.type = type;
            this.config = config;
        }

        /** A sample every that many events. */
        public Builder period(long events) {
            samplePeriod = events;
            flags &= ~FLAG_FREQ;
            return this;
        }

        /** About that many samples a second; sets FLAG_FREQ. */
        public Builder frequency(long hertz) {
            samplePeriod = hertz;
            flags |= FLAG_FREQ;
            return this;
        }

        /** Adds PERF_SAMPLE_* bits. */
        public Builder sampleType(long bits) {
            sampleType |= bits;
            return this;
        }

        /** Adds PERF_FORMAT_* bits. */
        public Builder readFormat(long bits) {
            readFormat |= bits;
            return this;
        }

        /** Adds FLAG_* bits. */
        public Builder flags(long bits) {
            flags |= bits;
            return this;
        }

        /** Takes FLAG_* bits away. */
        public Builder without(long bits) {
            flags &= ~bits;
            return this;
        }

        /** Wakes the reader when that many bytes lie in the ring; sets FLAG_WATERMARK. */
        public Builder watermark(int sizeBytes) {
            wakeup = sizeBytes;
            flags |= FLAG_WATERMARK;
            return this;
        }

        /** Wakes the reader every that many events. */
        public Builder wakeupEvents(int events) {
            wakeup = events;
            flags &= ~FLAG_WATERMARK;
            return this;
        }

        /** A hardware breakpoint's kind, address and length (PERF_TYPE_BREAKPOINT). */
        public Builder breakpoint(int kind, long address, long length) {
            bpType = kind;
            config1 = address;
            config2 = length;
            return this;
        }

        public Builder config1(long value) {
            config1 = value;
            return this;
        }

        public Builder config2(long value) {
            config2 = value;
            return this;
        }

        public Builder config3(long value) {
            config3 = value;
            return this;
        }

        /** Adds PERF_SAMPLE_BRANCH_* bits. */
        public Builder branchSampleType(long bits) {
            branchSampleType |= bits;
            return this;
        }

        /** Registers and bytes of the user stack, for unwinding later. */
        public Builder userStack(long registers, int stackBytes) {
            sampleRegsUser = registers;
            sampleStackUser = stackBytes;
            return this;
        }

        /** Registers at the interrupt, one bit each. */
        public Builder sampleRegsIntr(long registers) {
            sampleRegsIntr = registers;
            return this;
        }

        /** Times in this CLOCK_*; sets FLAG_USE_CLOCKID. */
        public Builder clockid(int clock) {
            clockid = clock;
            flags |= FLAG_USE_CLOCKID;
            return this;
        }

        /** Most frames of a call chain. */
        public Builder sampleMaxStack(int frames) {
            sampleMaxStack = frames;
            return this;
        }

        public Builder auxWatermark(int sizeBytes) {
            auxWatermark = sizeBytes;
            return this;
        }

        public Builder auxSampleSize(int sizeBytes) {
            auxSampleSize = sizeBytes;
            return this;
        }

        public Builder sigData(long value) {
            sigData = value;
            return this;
        }

        /** The attr as set so far. */
        public PerfAttr build() {
            return new PerfAttr(
                    type,
                    config,
                    samplePeriod,
                    sampleType,
                    readFormat,
                    flags,
                    wakeup,
                    bpType,
                    config1,
                    config2,
                    branchSampleType,
                    sampleRegsUser,
                    sampleStackUser,
                    clockid,
                    sampleRegsIntr,
                    auxWatermark,
                    sampleMaxStack,
                    auxSampleSize,
                    sigData,
                    config3);
        }
    }
}
