package sonde.probe.plan;

import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_HW_CPU_CYCLES;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_CPU_CLOCK;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_DUMMY;
import static sonde.recording.perfdata.PerfAbi.PERF_COUNT_SW_PAGE_FAULTS;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_HARDWARE;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_SOFTWARE;
import static sonde.recording.perfdata.PerfAbi.PERF_TYPE_TRACEPOINT;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import sonde.probe.plan.EventCatalogue.PerfEventNumber;
import sonde.probe.plan.RingSizes.PresentRings;
import sonde.recording.bundle.RecordingMeta.EventOwner;
import sonde.recording.bundle.RecordingMeta.TargetMode;
import sonde.sys.Arch;

/**
 * Makes a plan: equal input, equal output. Each event type gets one owner.
 *
 * <p>Dense events without a stack go to ftrace's rings (about 180 ns an event against 820 ns in
 * perf's); what needs a stack goes to perf. sched_switch is taken once, by perf with its call
 * chain: docs/decisions/0001-sched-switch-owner.md.
 */
public final class RecordPlanner {
    /** About how often a second page faults are sampled: most programs' faults come one by one. */
    private static final int FAULT_FREQUENCY_HZ = 4000;

    /** Events of one {@code -e} that are sampled with their stacks: globs name hundreds. */
    private static final int MOST_WITH_STACK = 16;

    /** Events of one {@code -e} whose stacks were asked for: each has a descriptor on each CPU. */
    private static final int MOST_ASKED_STACKS = 512;

    private static final String PERF_DATA = "perf.data";
    private static final String TRACE_DAT = "trace.dat";

    /** Systems whose events fire in interrupts and kernel threads, not in the target's context. */
    private static final Set<String> OUTSIDE_SYSTEMS =
            Set.of(
                    "block",
                    "irq",
                    "irq_vectors",
                    "napi",
                    "nvme",
                    "scsi",
                    "timer",
                    "power",
                    "tick_stop");

    private final RecordSpec spec;
    private final KernelFeatures features;
    private final EventCatalogue catalogue;
    private final List<SampledEvent> sampled = new ArrayList<>();
    private final TreeSet<String> task = new TreeSet<>();
    private final TreeSet<String> outside = new TreeSet<>();
    private final TreeMap<String, EventOwner> owners = new TreeMap<>();
    private final TreeMap<String, List<String>> filters = new TreeMap<>();
    private final Set<String> optional = new TreeSet<>();
    private final Set<String> stacked = new TreeSet<>();
    private final List<RecordingGap> gaps = new ArrayList<>();
    private final boolean systemWide;
    private final boolean perf;
    private final boolean ftrace;

    private RecordPlanner(RecordSpec spec, KernelFeatures features) {
        this.spec = spec.unwinding(callGraph(spec, features));
        this.features = features;
        this.catalogue = new EventCatalogue(features.tracepoints());
        boolean dense = spec.traceDatOnly() || spec.tracer().isSet();
        this.systemWide = features.has(Feature.PERF_SYSTEM_WIDE) && !dense;
        boolean ofTasks = features.has(Feature.PERF_TASK) && spec.mode() != TargetMode.ALL;
        this.perf = systemWide || ofTasks && !dense;
        this.ftrace = features.has(Feature.TRACEFS);
    }

    /**
     * Makes the plan.
     *
     * @throws UnknownEventException when an event of the spec is none of this machine
     */
    public static RecordPlan plan(RecordSpec spec, KernelFeatures features, MachineSize machine)
            throws UnknownEventException {
        return new RecordPlanner(spec, features).plan(machine);
    }

    /** Unwinding in the kernel needs BPF, samples of all tasks, rings in order, and our tables. */
    private static CallGraph callGraph(RecordSpec spec, KernelFeatures features) {
        boolean possible =
                features.has(Feature.BPF)
                        && features.has(Feature.PERF_SYSTEM_WIDE)
                        && !spec.flightRecorder()
                        && Arch.current() == Arch.X86_64;
        boolean wanted = spec.callGraph().kind() == CallGraph.Kind.BPF;
        return wanted && !possible ? CallGraph.FP : spec.callGraph();
    }

    private RecordPlan plan(MachineSize machine) throws UnknownEventException {
        if (perf) {
            life();
            cpu();
            switches();
            faults();
        }
        if (ftrace) {
            defaultTracepoints();
        }
        for (AskedEvent event : spec.events()) {
            asked(event);
        }
        if (spec.tracer().isSet()) {
            tracer();
        } else {
            accessGaps();
        }
        RingSizes sizes =
                RingSizes.share(
                        machine,
                        spec.limits().ringBytes(),
                        new PresentRings(
                                perf,
                                spec.flightRecorder(),
                                !task.isEmpty() || spec.tracer().isSet(),
                                !outside.isEmpty()),
                        systemWide ? Long.MAX_VALUE : features.unprivilegedRingBytes());
        List<TraceBuffer> buffers = new ArrayList<>();
        if (!task.isEmpty() || !outside.isEmpty() || spec.tracer().isSet()) {
            boolean targetOnly = spec.mode() != TargetMode.ALL;
            buffers.add(new TraceBuffer("", List.copyOf(task), targetOnly, sizes.taskBytes()));
        }
        if (!outside.isEmpty()) {
            buffers.add(
                    new TraceBuffer(
                            TraceBuffer.OUTSIDE,
                            List.copyOf(outside),
                            false,
                            sizes.outsideBytes()));
        }
        return new RecordPlan(
                spec,
                systemWide,
                sampled,
                buffers,
                names(),
                sizes,
                List.copyOf(owners.values()),
                gaps,
                features.has(Feature.PERF_LOST),
                new EventExtras(filters, optional, stacked));
    }

    /** The cap that led to these sizes, for showing other machines. */
    static long perfCap(boolean systemWide, RingSizes sizes) {
        return systemWide
                ? Long.MAX_VALUE
                : Math.max(sizes.perfBytes() + 2 * sizes.lifeBytes(), 4096);
    }

    private void life() {
        SampledEvent dummy =
                new SampledEvent(
                        "dummy",
                        PERF_TYPE_SOFTWARE,
                        PERF_COUNT_SW_DUMMY,
                        1,
                        false,
                        false,
                        false,
                        side());
        sampled.add(dummy);
        for (String record : List.of("mmap2", "comm", "fork", "exit")) {
            own(record, PERF_DATA, "", "the life of processes, in order with the samples");
        }
        if (systemWide) {
            own(
                    "ksymbol",
                    PERF_DATA,
                    "",
                    "what is loaded into the kernel, in order with the samples");
            own(
                    "bpf_event",
                    PERF_DATA,
                    "",
                    "what is loaded into the kernel, in order with the samples");
        }
    }

    private void cpu() {
        if (!spec.wants(Topic.CPU)) {
            return;
        }
        boolean counters = features.has(Feature.HARDWARE_COUNTERS);
        sampled.add(
                new SampledEvent(
                        counters ? "cycles" : "cpu-clock",
                        counters ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
                        counters ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
                        spec.frequencyHz(),
                        true,
                        spec.callGraph().hasChains(),
                        false,
                        side()));
        own(
                counters ? "cycles" : "cpu-clock",
                PERF_DATA,
                "",
                counters
                        ? "hardware counter"
                        : "timer: " + reason(Feature.HARDWARE_COUNTERS, "no hardware counters"));
    }

    private void switches() {
        if (!spec.wants(Topic.SCHED)) {
            return;
        }
        boolean stacks = spec.callGraph().hasChains();
        if (systemWide && features.hasTracepoint("sched:sched_switch")) {
            sampled.add(
                    new SampledEvent(
                            "sched:sched_switch",
                            PERF_TYPE_TRACEPOINT,
                            -1,
                            1,
                            false,
                            stacks,
                            true,
                            SampledEvent.Side.ALL));
            own(
                    "sched:sched_switch",
                    PERF_DATA,
                    "",
                    "one record carries the switch and both stacks");
            return;
        }
        own("switch", PERF_DATA, "", "records of perf's dummy event: no tracepoints for this user");
        gaps.add(
                new RecordingGap(
                        "stacks of switches",
                        "sched:sched_switch is not open here",
                        features.finding(Feature.PERF_SYSTEM_WIDE).remedy()));
    }

    private void faults() {
        if (!spec.wants(Topic.FAULTS)) {
            return;
        }
        sampled.add(
                new SampledEvent(
                        "page-faults",
                        PERF_TYPE_SOFTWARE,
                        PERF_COUNT_SW_PAGE_FAULTS,
                        FAULT_FREQUENCY_HZ,
                        true,
                        spec.callGraph().hasChains(),
                        false,
                        side()));
        own("page-faults", PERF_DATA, "", "stacks are needed; sampled, each with its weight");
    }

    private SampledEvent.Side side() {
        return systemWide || features.has(Feature.PERF_KERNEL)
                ? SampledEvent.Side.ALL
                : SampledEvent.Side.USER;
    }

    /** ftrace's own events, whose names begin as the tracer's; the kernel enables them. */
    private void tracer() {
        String reason = "the tracer " + spec.tracer().name();
        boolean graph = spec.tracer().name().equals("function_graph");
        for (String event :
                graph ? List.of("funcgraph_entry", "funcgraph_exit") : List.of("function")) {
            own("ftrace:" + event, TRACE_DAT, "", reason);
        }
        if (!ftrace) {
            FeatureFinding finding = features.finding(Feature.TRACEFS);
            gaps.add(new RecordingGap(reason, finding.reason(), finding.remedy()));
        }
    }

    private void defaultTracepoints() {
        String life = "dense and without a stack: ftrace's ring is the cheapest";
        for (String name : List.of("fork", "exec", "exit")) {
            trace("sched:sched_process_" + name, life);
        }
        if (spec.tracer().isSet()) {
            return;
        }
        if (spec.wants(Topic.SCHED) && spec.traceDatOnly()) {
            trace("sched:sched_switch", "all events are in one trace.dat");
        }
        if (spec.wants(Topic.SCHED)) {
            String why = "who woke whom; the pid filter looks at the woken task too";
            trace("sched:sched_wakeup", why);
            trace("sched:sched_wakeup_new", why);
        }
        if (spec.wants(Topic.SYSCALLS)) {
            trace("raw_syscalls:sys_enter", life);
            trace("raw_syscalls:sys_exit", life);
        }
        if (spec.wants(Topic.SIGNALS)) {
            sentSignals(life);
            trace("signal:signal_deliver", life);
        }
        if (spec.wants(Topic.BLOCK)) {
            String why = "completions fire in interrupts, where no pid filter matches";
            for (String name : List.of("rq_insert", "rq_issue", "rq_complete")) {
                trace("block:block_" + name, why);
            }
            trace("block:block_bio_queue", why);
        }
    }

    /** The stack of a signal tells where a program crashed, or which function sent it. */
    private void sentSignals(String life) {
        String event = "signal:signal_generate";
        boolean chains = spec.callGraph().hasChains() && !spec.traceDatOnly();
        if (!perf || !systemWide || !chains || !features.hasTracepoint(event)) {
            trace(event, life);
            return;
        }
        sampled.add(
                new SampledEvent(
                        event,
                        PERF_TYPE_TRACEPOINT,
                        -1,
                        1,
                        false,
                        true,
                        true,
                        SampledEvent.Side.ALL));
        own(event, PERF_DATA, "", "its stack tells where a program crashed");
    }

    private void trace(String event, String reason) {
        if (!features.hasTracepoint(event)) {
            gaps.add(new RecordingGap(event, "this kernel has no such tracepoint", ""));
            return;
        }
        if (owners.containsKey(event)) {
            return;
        }
        // Also when everything is recorded: the first buffer leaves out what fires in the context
        // of our own threads, and an interrupt that completes a request may hit one of them.
        // One buffer is what KernelShark shows best.
        boolean single =
                spec.tracer().isSet() || spec.traceDatOnly() && spec.mode() == TargetMode.ALL;
        boolean apart = isOutside(event) && !single;
        (apart ? outside : task).add(event);
        own(event, TRACE_DAT, apart ? TraceBuffer.OUTSIDE : "", reason);
    }

    private boolean names() {
        if (!spec.wants(Topic.NAMES) || spec.traceDatOnly() || spec.tracer().isSet()) {
            return false;
        }
        if (!features.has(Feature.BPF) || !systemWide) {
            FeatureFinding finding = features.finding(Feature.BPF);
            gaps.add(
                    new RecordingGap(
                            "file names and socket addresses",
                            finding.reason().isEmpty()
                                    ? "BPF programs need perf events of all tasks"
                                    : finding.reason(),
                            finding.remedy()));
            return false;
        }
        return true;
    }

    private void asked(AskedEvent asked) throws UnknownEventException {
        String text = asked.pattern();
        Optional<PerfEventNumber> own = EventCatalogue.perf(text);
        if (own.isPresent()) {
            if (!asked.filters().isEmpty()) {
                throw new UnknownEventException(
                        "a filter needs the fields of a tracepoint; " + text + " has none");
            }
            askedPerf(own.get());
            return;
        }
        List<String> tracepoints = catalogue.tracepoints(text);
        if (tracepoints.isEmpty()) {
            if (features.tracepoints().isEmpty() && text.matches("[\\w*?]+(:[\\w*?]+)?")) {
                gaps.add(
                        new RecordingGap(
                                "event " + text,
                                "tracepoints cannot be read: "
                                        + reason(Feature.TRACEFS, "no tracefs"),
                                features.finding(Feature.TRACEFS).remedy()));
                return;
            }
            throw new UnknownEventException(text, catalogue.nearest(text));
        }
        if (!ftrace) {
            gaps.add(
                    new RecordingGap(
                            "event " + text,
                            reason(Feature.TRACEFS, "no ftrace instances"),
                            features.finding(Feature.TRACEFS).remedy()));
            return;
        }
        boolean named = asked.stacks() && perf;
        boolean few = tracepoints.size() <= (named ? MOST_ASKED_STACKS : MOST_WITH_STACK);
        boolean stacks = named || perf && spec.callGraph().kind() == CallGraph.Kind.DWARF;
        for (String tracepoint : tracepoints) {
            if (!stacks || !few || !withStack(tracepoint, text, named)) {
                trace(tracepoint, "asked for with -e " + text);
                if (asked.stacks() && !perf) {
                    stacked.add(tracepoint);
                }
            }
            filtered(tracepoint, asked, tracepoints.size() > 1);
        }
        lackingStacks(text, tracepoints, stacks);
    }

    /** The last filter of an event counts; a glob means those that have the filter's fields. */
    private void filtered(String tracepoint, AskedEvent asked, boolean ofMany) {
        if (asked.filters().isEmpty()) {
            return;
        }
        filters.put(tracepoint, asked.filters());
        if (ofMany) {
            optional.add(tracepoint);
        } else {
            optional.remove(tracepoint);
        }
    }

    /**
     * Takes an event with its stack, which only perf's samples hold; whether it can.
     *
     * @param named whether the stack was asked for, so that an event of ftrace goes over to perf
     */
    private boolean withStack(String tracepoint, String text, boolean named) {
        EventOwner owner = owners.get(tracepoint);
        boolean dense = owner != null && owner.source().equals(TRACE_DAT);
        if (!perf || !systemWide || !named && (owner != null || isOutside(tracepoint))) {
            return false;
        }
        String reason = "asked for with -e " + text + ", and its stack";
        owners.put(
                tracepoint, new EventOwner(tracepoint, PERF_DATA, "", reason, named, "", Map.of()));
        task.remove(tracepoint);
        outside.remove(tracepoint);
        SampledEvent event =
                new SampledEvent(
                        tracepoint,
                        PERF_TYPE_TRACEPOINT,
                        -1,
                        1,
                        false,
                        true,
                        true,
                        SampledEvent.Side.ALL);
        if (owner == null || dense) { // sched_switch has its stack already
            sampled.add(event);
        }
        return true;
    }

    private void lackingStacks(String text, List<String> tracepoints, boolean wanted) {
        List<String> without =
                owners.values().stream()
                        .filter(owner -> owner.source().equals(TRACE_DAT))
                        .map(EventOwner::event)
                        .filter(tracepoints::contains)
                        .toList();
        if (wanted && !without.isEmpty()) {
            boolean one = without.size() == 1;
            gaps.add(
                    new RecordingGap(
                            "stacks of " + (one ? without.getFirst() : "events " + text),
                            !systemWide
                                    ? "perf's tracepoints are not open to this user"
                                    : without.size() > MOST_WITH_STACK
                                            ? "they are more than " + MOST_WITH_STACK + " events"
                                            : "ftrace's rings take "
                                                    + (one ? "it" : "them")
                                                    + ", without",
                            ""));
        }
    }

    private static boolean isOutside(String event) {
        return OUTSIDE_SYSTEMS.contains(event.substring(0, event.indexOf(':')));
    }

    private void askedPerf(PerfEventNumber event) {
        if (owners.containsKey(event.name())) {
            return;
        }
        if (!perf) {
            gaps.add(
                    new RecordingGap(
                            "event " + event.name(),
                            reason(Feature.PERF_TASK, "no perf events"),
                            features.finding(Feature.PERF_TASK).remedy()));
            return;
        }
        boolean hardware = event.type() != PERF_TYPE_SOFTWARE;
        if (hardware && !features.has(Feature.HARDWARE_COUNTERS)) {
            FeatureFinding finding = features.finding(Feature.HARDWARE_COUNTERS);
            gaps.add(new RecordingGap("event " + event.name(), finding.reason(), finding.remedy()));
            return;
        }
        SampledEvent.Side side = event.side() == SampledEvent.Side.ALL ? side() : event.side();
        sampled.add(
                new SampledEvent(
                        event.name(),
                        event.type(),
                        event.config(),
                        spec.frequencyHz(),
                        true,
                        spec.callGraph().hasChains(),
                        false,
                        side));
        own(event.name(), PERF_DATA, "", "asked for with -e");
    }

    private void accessGaps() {
        if (spec.traceDatOnly()) {
            gaps.add(
                    new RecordingGap(
                            "CPU samples, page faults and file names",
                            "a trace.dat has no place for them",
                            "record without --format trace.dat"));
        } else if (!perf) {
            boolean all = spec.mode() == TargetMode.ALL;
            FeatureFinding finding =
                    features.finding(all ? Feature.PERF_SYSTEM_WIDE : Feature.PERF_TASK);
            gaps.add(
                    new RecordingGap(
                            "CPU samples, switches and page faults",
                            finding.reason(),
                            finding.remedy()));
        } else if (!systemWide) {
            FeatureFinding finding = features.finding(Feature.PERF_SYSTEM_WIDE);
            gaps.add(
                    new RecordingGap(
                            "events after a set-id or privileged exec",
                            "task-bound perf events end there",
                            finding.remedy()));
        }
        if (perf && side() == SampledEvent.Side.USER) {
            FeatureFinding finding = features.finding(Feature.PERF_KERNEL);
            gaps.add(
                    new RecordingGap("kernel code in samples", finding.reason(), finding.remedy()));
        }
        if (!ftrace) {
            FeatureFinding finding = features.finding(Feature.TRACEFS);
            gaps.add(
                    new RecordingGap(
                            "system calls, wake-ups, block I/O and signals",
                            finding.reason(),
                            finding.remedy()));
        }
    }

    private String reason(Feature feature, String otherwise) {
        String reason = features.finding(feature).reason();
        return reason.isEmpty() ? otherwise : reason;
    }

    private void own(String event, String source, String buffer, String reason) {
        owners.putIfAbsent(event, new EventOwner(event, source, buffer, reason));
    }
}
