package sonde.recording.tracedat;

import java.util.Optional;
import sonde.binary.FieldCursor;
import sonde.binary.MalformedInputException;
import sonde.event.Clock;
import sonde.recording.ftrace.TimeMap;

/**
 * What the options do to the times in the ring, in trace-cmd's order: a guest's clock to its
 * host's, then cycles to nanoseconds. DATE and OFFSET come last and are the listing's matter.
 */
record TimeCorrection(Optional<TimeShift> shift, Optional<Tsc> tsc) {
    static final TimeCorrection NONE = new TimeCorrection(Optional.empty(), Optional.empty());

    /**
     * Option TSC2NSEC: nanoseconds = cycles * mult >> shift. The offset that stands there too is
     * that of perf's clock and not added.
     */
    record Tsc(long mult, int shift, long offset) {
        static Tsc read(FieldCursor option) throws MalformedInputException {
            long mult = option.u32("tsc2nsec: multiplier");
            int shift = option.bounded("tsc2nsec: shift", option.u32("tsc2nsec: shift"), 63);
            return new Tsc(mult, shift, option.u64("tsc2nsec: offset"));
        }

        long nanos(long cycles) {
            long high = Math.unsignedMultiplyHigh(cycles, mult);
            long low = cycles * mult;
            return shift == 0 ? low : high << 64 - shift | low >>> shift;
        }
    }

    TimeCorrection with(TimeShift added) {
        return new TimeCorrection(Optional.of(added), tsc);
    }

    TimeCorrection with(Tsc added) {
        return new TimeCorrection(shift, Optional.of(added));
    }

    /** For the rows of a CPU. */
    TimeMap of(int cpu) {
        TimeShift shifting = shift.orElse(null);
        Tsc cycles = tsc.filter(one -> one.mult != 0).orElse(null);
        if (shifting == null) {
            return cycles == null ? TimeMap.SAME : cycles::nanos;
        }
        return cycles == null
                ? time -> shifting.toHost(cpu, time)
                : time -> cycles.nanos(shifting.toHost(cpu, time));
    }

    /** The clock that results: cycles turned to nanoseconds are no clock of the kernel's. */
    Clock clock(Clock recorded) {
        boolean turned = !recorded.isNanos() && tsc.filter(one -> one.mult != 0).isPresent();
        return turned ? Clock.LOCAL : recorded;
    }
}
