package sonde.exchange.export;

import sonde.event.Clock;
import sonde.recording.perfdata.PerfAttr;
import sonde.recording.perfdata.PerfEvent;
import sonde.recording.perfdata.PerfSampleRest;

/** The attrs of a perf.data whose times are those of one clock. */
final class PerfAttrs {
    private static final long SAMPLE =
            PerfEvent.PERF_SAMPLE_IDENTIFIER
                    | PerfEvent.PERF_SAMPLE_IP
                    | PerfEvent.PERF_SAMPLE_TID
                    | PerfEvent.PERF_SAMPLE_TIME
                    | PerfEvent.PERF_SAMPLE_PERIOD;

    /** What is kept of a source's flags: how often and of what it sampled. */
    private static final long KEPT =
            PerfEvent.FLAG_FREQ
                    | PerfEvent.FLAG_PRECISE_IP
                    | PerfEvent.FLAG_EXCLUDE_USER
                    | PerfEvent.FLAG_EXCLUDE_KERNEL
                    | PerfEvent.FLAG_EXCLUDE_HV
                    | PerfEvent.FLAG_EXCLUDE_IDLE
                    | PerfEvent.FLAG_EXCLUDE_HOST
                    | PerfEvent.FLAG_EXCLUDE_GUEST;

    private final int clockid;

    PerfAttrs(Clock clock) {
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
        attr.sampleType(SAMPLE | more).readFormat(PerfEvent.PERF_FORMAT_ID);
        attr.flags(PerfEvent.FLAG_SAMPLE_ID_ALL);
        return clockid < 0 ? attr : attr.clockid(clockid);
    }

    /** The one whose layout records have that are no samples. */
    PerfAttr dummy() {
        PerfAttr.Builder attr = PerfAttr.software(PerfEvent.PERF_COUNT_SW_DUMMY).period(1);
        attr.flags(
                PerfEvent.FLAG_MMAP
                        | PerfEvent.FLAG_MMAP2
                        | PerfEvent.FLAG_COMM
                        | PerfEvent.FLAG_COMM_EXEC
                        | PerfEvent.FLAG_TASK);
        return common(attr, PerfEvent.PERF_SAMPLE_CPU).build();
    }

    PerfAttr tracepoint(int id, long more) {
        return common(PerfAttr.tracepoint(id).period(1), more | PerfEvent.PERF_SAMPLE_RAW).build();
    }

    /** That of a counter whose own attr is not known. */
    PerfAttr clock(long more) {
        PerfAttr.Builder attr = PerfAttr.software(PerfEvent.PERF_COUNT_SW_CPU_CLOCK).period(1);
        return common(attr, more).build();
    }

    /** As another one, with the parts that are written and what they need. */
    PerfAttr like(PerfAttr other, long parts) {
        long rest = other.sampleType() & PerfSampleRest.PARTS;
        long more = parts | rest;
        PerfAttr.Builder attr = PerfAttr.of(other.type(), other.config());
        if (other.has(PerfEvent.FLAG_FREQ)) {
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
        if (other.samples(PerfEvent.PERF_SAMPLE_READ)) {
            attr.readFormat(other.readFormat());
        }
        return common(attr, more).build();
    }
}
