package sonde.probe.perf;

import static sonde.recording.perfdata.PerfAbi.FLAG_BPF_EVENT;
import static sonde.recording.perfdata.PerfAbi.FLAG_COMM;
import static sonde.recording.perfdata.PerfAbi.FLAG_COMM_EXEC;
import static sonde.recording.perfdata.PerfAbi.FLAG_CONTEXT_SWITCH;
import static sonde.recording.perfdata.PerfAbi.FLAG_DISABLED;
import static sonde.recording.perfdata.PerfAbi.FLAG_EXCLUDE_CALLCHAIN_USER;
import static sonde.recording.perfdata.PerfAbi.FLAG_EXCLUDE_HV;
import static sonde.recording.perfdata.PerfAbi.FLAG_EXCLUDE_IDLE;
import static sonde.recording.perfdata.PerfAbi.FLAG_EXCLUDE_KERNEL;
import static sonde.recording.perfdata.PerfAbi.FLAG_EXCLUDE_USER;
import static sonde.recording.perfdata.PerfAbi.FLAG_INHERIT;
import static sonde.recording.perfdata.PerfAbi.FLAG_KSYMBOL;
import static sonde.recording.perfdata.PerfAbi.FLAG_MMAP;
import static sonde.recording.perfdata.PerfAbi.FLAG_MMAP2;
import static sonde.recording.perfdata.PerfAbi.FLAG_MMAP_DATA;
import static sonde.recording.perfdata.PerfAbi.FLAG_SAMPLE_ID_ALL;
import static sonde.recording.perfdata.PerfAbi.FLAG_TASK;
import static sonde.recording.perfdata.PerfAbi.FLAG_WRITE_BACKWARD;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_BPF_OUTPUT;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_DUMMY;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_ID;
import static sonde.recording.perfdata.PerfAbi.PERF_FORMAT_LOST;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CALLCHAIN;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_CPU;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_IDENTIFIER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_IP;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_PERIOD;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_RAW;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_REGS_USER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_STACK_USER;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TID;
import static sonde.recording.perfdata.PerfAbi.PERF_SAMPLE_TIME;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_SOFTWARE;

import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.probe.plan.CallGraph;
import sonde.probe.plan.RecordPlan;
import sonde.probe.plan.SampledEvent;
import sonde.probe.snapshot.ThreadRows;
import sonde.probe.stack.StackPrograms;
import sonde.recording.perfdata.AttrEntry;
import sonde.recording.perfdata.PerfAttr;
import sonde.sys.Arch;
import sonde.sys.Clocks;

/** Makes the attrs of a plan's events. */
public final class AttrFactory {
    /** The event that counts nothing and carries the life of processes. */
    static final String DUMMY = "dummy";

    /** What every record carries, so that all can be told apart, ordered and attributed. */
    private static final long SAMPLE =
            PERF_SAMPLE_IDENTIFIER
                    | PERF_SAMPLE_IP
                    | PERF_SAMPLE_TID
                    | PERF_SAMPLE_TIME
                    | PERF_SAMPLE_CPU
                    | PERF_SAMPLE_PERIOD;

    /** All general registers: asm/perf_regs.h without ds, es, fs, gs; arm64 x0..x30, sp, pc. */
    private static final long REGISTERS =
            Arch.current() == Arch.AARCH64 ? (1L << 33) - 1 : 0xff0fffL;

    /** Bytes of stack beside each unwound stack, by which perf can check it (bench/stacks). */
    private static final int CHECKED_BYTES = checkedBytes();

    private final RecordPlan plan;
    private final boolean systemWide;
    private final @Nullable StackPrograms unwound;
    private final boolean flight;
    private final int watermark;

    /**
     * @param unwound programs that unwind user stacks, so that the kernel need not; or null
     */
    AttrFactory(RecordPlan plan, boolean systemWide, @Nullable StackPrograms unwound) {
        this.plan = plan;
        this.unwound = unwound;
        this.systemWide = systemWide;
        this.flight = plan.rings().lifeBytes() > 0;
        long drained = flight ? plan.rings().lifeBytes() : plan.rings().perfBytes();
        this.watermark = (int) (drained / 4);
    }

    private static int checkedBytes() {
        String bytes = System.getenv("SONDE_CHECKED_STACK_BYTES");
        boolean isNumber = bytes != null && bytes.matches("[1-9]\\d{0,4}");
        return isNumber ? Math.min(Integer.parseInt(bytes) & ~7, CallGraph.MOST_STACK_BYTES) : 0;
    }

    /** The attr of an event; {@code tracepointId} where the plan left it open. */
    PerfAttr of(SampledEvent event, int tracepointId) {
        PerfAttr.Builder attr =
                tracepointId >= 0
                        ? PerfAttr.tracepoint(tracepointId)
                        : PerfAttr.of(event.type(), event.config());
        common(attr);
        if (event.frequency()) {
            attr.frequency(event.rate());
        } else {
            attr.period(event.rate());
        }
        switch (event.side()) {
            case USER -> attr.flags(FLAG_EXCLUDE_KERNEL | FLAG_EXCLUDE_HV);
            case KERNEL -> attr.flags(FLAG_EXCLUDE_USER);
            case ALL -> {
                // nothing left out
            }
        }
        if (event.raw()) {
            attr.sampleType(PERF_SAMPLE_RAW);
        }
        if (event.callChain()) {
            attr.sampleType(PERF_SAMPLE_CALLCHAIN);
            if (unwound != null && unwound.unwinds(plan.sampled().indexOf(event))) {
                attr.flags(FLAG_EXCLUDE_CALLCHAIN_USER);
                if (CHECKED_BYTES > 0) {
                    attr.sampleType(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
                    attr.userStack(REGISTERS, CHECKED_BYTES);
                }
            }
            CallGraph graph = plan.spec().callGraph();
            if (graph.kind() == CallGraph.Kind.DWARF) {
                attr.sampleType(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
                attr.userStack(REGISTERS, graph.stackBytes()).flags(FLAG_EXCLUDE_CALLCHAIN_USER);
            }
        }
        boolean clock = event.type() == PERF_TYPE_SOFTWARE && event.config() <= 1;
        if (clock && systemWide && !event.name().equals(DUMMY)) {
            // The timer of cpu-clock runs on idle CPUs too; what it finds there is not wanted.
            attr.flags(FLAG_EXCLUDE_IDLE);
        }
        if (event.name().equals(DUMMY)) {
            dummy(attr);
        } else if (flight) {
            attr.flags(FLAG_WRITE_BACKWARD);
        }
        return attr.build();
    }

    /**
     * The records of switches that perf's dummy makes for a user without tracepoints, apart from
     * the life of processes, because a flight recorder overwrites them.
     */
    Optional<PerfAttr> flightSwitches() {
        if (!flight || plan.owner("switch").isEmpty()) {
            return Optional.empty();
        }
        PerfAttr.Builder attr = PerfAttr.software(PERF_COUNT_SW_DUMMY);
        common(attr);
        attr.period(1).flags(FLAG_CONTEXT_SWITCH | FLAG_WRITE_BACKWARD);
        if (!plan.sampled().getFirst().side().equals(SampledEvent.Side.ALL)) {
            attr.flags(FLAG_EXCLUDE_KERNEL | FLAG_EXCLUDE_HV);
        }
        return Optional.of(attr.build());
    }

    /** Samples that a BPF program writes. */
    PerfAttr bpfOutput() {
        PerfAttr.Builder attr = PerfAttr.software(PERF_COUNT_SW_BPF_OUTPUT);
        common(attr);
        return attr.period(1).sampleType(PERF_SAMPLE_RAW).build();
    }

    /**
     * The entry of {@link ThreadRows}, which no descriptor of the kernel makes.
     *
     * @param other an entry of the file, whose clock it has
     */
    public static AttrEntry threads(AttrEntry other) {
        PerfAttr attr =
                PerfAttr.tracepoint(ThreadRows.ID)
                        .period(1)
                        .sampleType(SAMPLE | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)
                        .readFormat(other.attr().readFormat())
                        .flags(FLAG_SAMPLE_ID_ALL)
                        .clockid(Clocks.CLOCK_MONOTONIC)
                        .build();
        // The kernel counts ids up from 1.
        return new AttrEntry(attr, new long[] {1L << 48 | ThreadRows.ID}, ThreadRows.EVENT);
    }

    private void common(PerfAttr.Builder attr) {
        attr.sampleType(SAMPLE)
                .readFormat(PERF_FORMAT_ID | (plan.exactLosses() ? PERF_FORMAT_LOST : 0))
                .flags(FLAG_DISABLED | FLAG_SAMPLE_ID_ALL)
                .watermark(watermark)
                .clockid(Clocks.CLOCK_MONOTONIC);
        if (!systemWide) {
            attr.flags(FLAG_INHERIT);
        }
    }

    private void dummy(PerfAttr.Builder attr) {
        attr.flags(FLAG_MMAP | FLAG_MMAP2 | FLAG_COMM | FLAG_COMM_EXEC | FLAG_TASK);
        if (plan.spec().callGraph().kind() == CallGraph.Kind.DWARF || CHECKED_BYTES > 0) {
            // perf looks for .eh_frame, which is mapped beside the code, in these alone.
            attr.flags(FLAG_MMAP_DATA);
        }
        if (systemWide) {
            attr.flags(FLAG_KSYMBOL | FLAG_BPF_EVENT);
        }
        if (!flight && plan.owner("switch").isPresent()) {
            attr.flags(FLAG_CONTEXT_SWITCH);
        }
    }
}
