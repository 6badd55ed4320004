package sonde.recording.perfdata;

import static sonde.recording.perfdata.PerfAbi.PERF_RECORD_SAMPLE;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_ADDR;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CALLCHAIN;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CPU;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_IDENTIFIER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_IP;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_PERIOD;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_RAW;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TIME;

import java.util.Arrays;
import sonde.recording.GrowableBytes;
import sonde.recording.perfdata.PerfRecords.SampleId;

/** Makes samples of one attr, of those parts that {@link #PARTS} names. */
public final class PerfSamples {
    /** What the attr's samples may have. */
    public static final long PARTS =
            PERF_SAMPLE_IDENTIFIER
                    | PERF_SAMPLE_IP
                    | PERF_SAMPLE_TID
                    | PERF_SAMPLE_TIME
                    | PERF_SAMPLE_ADDR
                    | PERF_SAMPLE_CPU
                    | PERF_SAMPLE_PERIOD
                    | PERF_SAMPLE_CALLCHAIN
                    | PERF_SAMPLE_RAW
                    | PerfSampleRest.PARTS;

    /** A record's size is a u16. */
    private static final int MOST_BYTES = 0xfff8;

    private final PerfAttr attr;

    /** Samples in the layout of this attr. */
    public PerfSamples(PerfAttr attr) {
        if ((attr.sampleType() & ~PARTS) != 0) {
            throw new IllegalArgumentException("sample_type " + attr.sampleType());
        }
        this.attr = attr;
    }

    /**
     * A sample; what the attr does not ask for is left out.
     *
     * @param stamp thread, time, id and CPU
     * @param misc PERF_RECORD_MISC_KERNEL or _USER
     * @param chain with markers, callee first
     * @param raw whose first {@code rawBytes} are taken
     * @param rest the parts that few attrs ask for
     */
    public record PerfSample(
            SampleId stamp,
            int misc,
            long ip,
            long address,
            long period,
            long[] chain,
            byte[] raw,
            int rawBytes,
            PerfSampleRest rest) {}

    /** The record; empty when it would be longer than 64 KiB. */
    public byte[] record(PerfSample sample) {
        SampleId stamp = sample.stamp();
        GrowableBytes out =
                GrowableBytes.littleEndian().u32(PERF_RECORD_SAMPLE).u16(sample.misc()).u16(0);
        if (attr.samples(PERF_SAMPLE_IDENTIFIER)) {
            out.u64(stamp.id());
        }
        if (attr.samples(PERF_SAMPLE_IP)) {
            out.u64(sample.ip());
        }
        if (attr.samples(PERF_SAMPLE_TID)) {
            out.u32(stamp.pid()).u32(stamp.tid());
        }
        if (attr.samples(PERF_SAMPLE_TIME)) {
            out.u64(stamp.time());
        }
        if (attr.samples(PERF_SAMPLE_ADDR)) {
            out.u64(sample.address());
        }
        if (attr.samples(PERF_SAMPLE_CPU)) {
            out.u32(stamp.cpu()).u32(0);
        }
        if (attr.samples(PERF_SAMPLE_PERIOD)) {
            out.u64(sample.period());
        }
        SampleRestBytes rest = new SampleRestBytes(sample.rest());
        rest.read(out, attr);
        if (attr.samples(PERF_SAMPLE_CALLCHAIN)) {
            out.u64(sample.chain().length);
            for (long entry : sample.chain()) {
                out.u64(entry);
            }
        }
        if (attr.samples(PERF_SAMPLE_RAW)) {
            // The size counts the padding that makes it and the bytes a multiple of 8.
            int padded = (sample.rawBytes() + 4 + 7 & ~7) - 4;
            out.u32(padded).raw(Arrays.copyOf(sample.raw(), sample.rawBytes()));
            out.raw(new byte[padded - sample.rawBytes()]);
        }
        rest.behindRaw(out, attr);
        if (out.size() > MOST_BYTES) {
            return new byte[0];
        }
        out.put(6, 2, out.size());
        return out.toBytes();
    }
}
