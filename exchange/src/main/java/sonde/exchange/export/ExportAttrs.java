package sonde.exchange.export;

import sonde.event.Clock;
import sonde.recording.perfdata.PerfAbi;
import sonde.recording.perfdata.PerfAttr;
import sonde.recording.perfdata.PerfSampleRest;

/** The attrs of a perf.data whose times are those of one clock. */
final class ExportAttrs {
    private static final long SAMPLE =
            PerfAbi.PERF_SAMPLE_IDENTIFIER
                    | PerfAbi.PERF_SAMPLE_IP
                    | PerfAbi.PERF_SAMPLE_TID
                    | PerfAbi.PERF_SAMPLE_TIME
                    | PerfAbi.PERF_SAMPLE_PERIOD;

    /** What is kept of a source's flags: how often and of what it sampled. */
    private static final long KEPT =
            PerfAbi.FLAG_FREQ
                    | PerfAbi.FLAG_PRECISE_IP
                    | PerfAbi.FLAG_EXCLUDE_USER
                    | PerfAbi.FLAG_EXCLUDE_KERNEL
                    | PerfAbi.FLAG_EXCLUDE_HV
                    | PerfAbi.FLAG_EXCLUDE_IDLE
                    | PerfAbi.FLAG_EXCLUDE_HOST
                    | PerfAbi.FLAG_EXCLUDE_GUEST;

    private final int clockid;

    ExportAttrs(Clock clock) {
        // include/uapi/linux/time.h; the others have no number, and perf's own needs none.
        clockid =
                switch (clock) {
                    case REALTIME -> 0;
                    case MONO -> 1;
                    case MONO_RAW -> 4;
                    case BOOT -> 7;
                    case TAI -> 11;
                    case LOCAL, GLOBAL, PERF, UPTIME, COUNTER, X86_TSC, UNKNOWN -> -1;
                };
    }

    private PerfAttr.Builder common(PerfAttr.Builder attr, long more) {
        attr.sampleType(SAMPLE | more).readFormat(PerfAbi.PERF_FORMAT_ID);
        attr.flags(PerfAbi.FLAG_SAMPLE_ID_ALL);
        return clockid < 0 ? attr : attr.clockid(clockid);
    }

    /** The one whose layout records have that are no samples. */
    PerfAttr dummy() {
        PerfAttr.Builder attr = PerfAttr.software(PerfAbi.PERF_COUNT_SW_DUMMY).period(1);
        attr.flags(
                PerfAbi.FLAG_MMAP
                        | PerfAbi.FLAG_MMAP2
                        | PerfAbi.FLAG_COMM
                        | PerfAbi.FLAG_COMM_EXEC
                        | PerfAbi.FLAG_TASK);
        return common(attr, PerfAbi.PERF_SAMPLE_CPU).build();
    }

    PerfAttr tracepoint(int id, long more) {
        return common(PerfAttr.tracepoint(id).period(1), more | PerfAbi.PERF_SAMPLE_RAW).build();
    }

    /** That of a counter whose own attr is not known. */
    PerfAttr clock(long more) {
        PerfAttr.Builder attr = PerfAttr.software(PerfAbi.PERF_COUNT_SW_CPU_CLOCK).period(1);
        return common(attr, more).build();
    }

    /** As another one, with the parts that are written and what they need. */
    PerfAttr like(PerfAttr other, long parts) {
        long rest = other.sampleType() & PerfSampleRest.PARTS;
        long more = parts | rest;
        PerfAttr.Builder attr = PerfAttr.of(other.type(), other.config());
        if (other.has(PerfAbi.FLAG_FREQ)) {
            attr.frequency(other.samplePeriod());
        } else {
            attr.period(other.samplePeriod());
        }
        attr.flags(other.flags() & KEPT).config1(other.config1()).config2(other.config2());
        if (rest != 0) {
            attr.branchSampleType(other.branchSampleType());
            attr.userStack(other.sampleRegsUser(), other.sampleStackUser());
            attr.sampleRegsIntr(other.sampleRegsIntr());
        }
        if (other.samples(PerfAbi.PERF_SAMPLE_READ)) {
            attr.readFormat(other.readFormat());
        }
        return common(attr, more).build();
    }
}
