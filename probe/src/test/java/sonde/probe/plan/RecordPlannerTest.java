package sonde.probe.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import sonde.event.result.Table;
import sonde.recording.bundle.RecordingMeta.TargetMode;

class RecordPlannerTest {
    private static final List<String> TRACEPOINTS =
            List.of(
                    "block:block_bio_queue",
                    "block:block_rq_complete",
                    "block:block_rq_insert",
                    "block:block_rq_issue",
                    "irq:irq_handler_entry",
                    "raw_syscalls:sys_enter",
                    "raw_syscalls:sys_exit",
                    "sched:sched_migrate_task",
                    "sched:sched_process_exec",
                    "sched:sched_process_exit",
                    "sched:sched_process_fork",
                    "sched:sched_switch",
                    "sched:sched_wakeup",
                    "sched:sched_wakeup_new",
                    "signal:signal_deliver",
                    "signal:signal_generate",
                    "syscalls:sys_enter_openat",
                    "syscalls:sys_exit_openat");
    private static final long GIB = 1L << 30;
    private static final MachineSize SMALL = new MachineSize(2, 24 * GIB);

    private static KernelFeatures root() {
        Map<Feature, FeatureFinding> findings = new EnumMap<>(Feature.class);
        for (Feature feature : Feature.values()) {
            findings.put(feature, FeatureFinding.yes());
        }
        findings.put(Feature.HARDWARE_COUNTERS, FeatureFinding.no("no counters", "bare metal"));
        return new KernelFeatures("6.18.0", "x86_64", findings, TRACEPOINTS, 1 << 19);
    }

    private static KernelFeatures user() {
        Map<Feature, FeatureFinding> findings = new EnumMap<>(Feature.class);
        for (Feature feature : Feature.values()) {
            findings.put(feature, FeatureFinding.no("refused", "run as root"));
        }
        findings.put(Feature.PERF_TASK, FeatureFinding.yes());
        findings.put(Feature.PERF_LOST, FeatureFinding.yes());
        return new KernelFeatures("6.18.0", "x86_64", findings, List.of(), 512 << 10);
    }

    private static RecordPlan plan(RecordSpec spec, KernelFeatures features, MachineSize machine) {
        try {
            return RecordPlanner.plan(spec, features, machine);
        } catch (UnknownEventException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void eachEventHasOneOwner() {
        RecordSpec spec =
                RecordSpec.of(TargetMode.COMMAND)
                        .withEvents(List.of("sched:*", "sched_switch", "cpu-clock", "irq:*"));
        RecordPlan plan = plan(spec, root(), SMALL);
        Set<String> events = new HashSet<>();
        plan.owners().forEach(owner -> assertThat(events.add(owner.event())).isTrue());
        assertThat(plan.owner("sched:sched_switch").orElseThrow().source()).isEqualTo("perf.data");
        assertThat(plan.owner("sched:sched_migrate_task").orElseThrow().source())
                .isEqualTo("trace.dat");
        assertThat(plan.owner("irq:irq_handler_entry").orElseThrow().buffer())
                .isEqualTo(TraceBuffer.OUTSIDE);
        for (TraceBuffer buffer : plan.buffers()) {
            assertThat(buffer.events()).doesNotContain("sched:sched_switch");
        }
        assertThat(plan.sampled().stream().filter(e -> e.name().equals("cpu-clock"))).hasSize(1);
    }

    /** Rings of ftrace hold no registers: what was asked for by name is sampled by perf. */
    @Test
    void stacksOfProbesAreSampled() {
        List<String> events = List.of("syscalls:sys_enter_openat", "irq:irq_handler_entry");
        RecordSpec dwarf =
                RecordSpec.of(TargetMode.COMMAND).withEvents(events).unwinding(CallGraph.DWARF);
        RecordPlan plan = plan(dwarf, root(), SMALL);
        assertThat(plan.owner("syscalls:sys_enter_openat").orElseThrow().source())
                .isEqualTo("perf.data");
        assertThat(plan.sampled())
                .filteredOn(event -> event.name().equals("syscalls:sys_enter_openat"))
                .singleElement()
                .satisfies(event -> assertThat(event.callChain() && event.raw()).isTrue());
        assertThat(plan.gaps())
                .extracting(RecordingGap::sentence)
                .containsExactly(
                        "no stacks of irq:irq_handler_entry: ftrace's rings take it, without");
        RecordPlan pointers =
                plan(RecordSpec.of(TargetMode.COMMAND).withEvents(events), root(), SMALL);
        assertThat(pointers.owner("syscalls:sys_enter_openat").orElseThrow().source())
                .isEqualTo("trace.dat");
        assertThat(pointers.gaps()).isEmpty();
    }

    /** A topic that changes nothing in the plan has no events in {@link RecordPlanner}. */
    @Test
    void everyTopicHasEvents() {
        RecordPlan all = plan(RecordSpec.of(TargetMode.COMMAND), root(), SMALL);
        for (Topic topic : Topic.values()) {
            RecordSpec without = RecordSpec.of(TargetMode.COMMAND).leavingOut(topic);
            RecordPlan plan = plan(without, root(), SMALL);
            assertThat(plan.owners().size() < all.owners().size() || plan.names() != all.names())
                    .as("RecordPlanner takes events for %s", topic)
                    .isTrue();
        }
    }

    @Test
    void equalInputGivesEqualPlans() {
        RecordSpec spec = RecordSpec.of(TargetMode.PID).withEvents(List.of("syscalls:*openat"));
        assertThat(plan(spec, root(), SMALL)).isEqualTo(plan(spec, root(), SMALL));
    }

    @Test
    void everythingIsUnfiltered() {
        RecordPlan plan = plan(RecordSpec.of(TargetMode.ALL), root(), SMALL);
        assertThat(plan.buffers())
                .hasSize(2)
                .allSatisfy(buffer -> assertThat(buffer.targetOnly()).isFalse());
        assertThat(plan.buffers().getLast().events()).contains("block:block_rq_complete");
    }

    @Test
    void ringsKeepTheirLimitsOnEveryMachine() {
        for (int cpus : new int[] {1, 2, 64, 512}) {
            for (long memory : new long[] {GIB, 24 * GIB, 1024 * GIB}) {
                RecordPlan plan =
                        plan(
                                RecordSpec.of(TargetMode.COMMAND),
                                root(),
                                new MachineSize(cpus, memory));
                RingSizes rings = plan.rings();
                assertThat(rings.perCpuBytes()).isLessThanOrEqualTo(RingSizes.MAX_PER_CPU);
                assertThat(rings.perCpuBytes() * cpus)
                        .isLessThanOrEqualTo(Math.min(memory / 20, RingSizes.MAX_TOTAL));
                assertThat(Long.bitCount(rings.perfBytes())).isEqualTo(1);
                assertThat(rings.perfBytes()).isGreaterThanOrEqualTo(4096);
            }
        }
        assertThat(plan(RecordSpec.of(TargetMode.COMMAND), root(), SMALL).rings().perfBytes())
                .isGreaterThanOrEqualTo(4 << 20);
    }

    @Test
    void aFlightRecorderHasASecondRingWithinTheSameLimits() {
        RecordSpec spec = RecordSpec.of(TargetMode.COMMAND).keepingTheEnd();
        RingSizes rings = plan(spec, root(), SMALL).rings();
        assertThat(rings.perCpuBytes()).isLessThanOrEqualTo(RingSizes.MAX_PER_CPU);
        assertThat(Long.bitCount(rings.lifeBytes())).isEqualTo(1);
        assertThat(rings.lifeBytes()).isLessThan(rings.perfBytes());
        RingSizes small = plan(spec, user(), SMALL).rings();
        assertThat(small.perfBytes() + small.lifeBytes()).isLessThanOrEqualTo(508 << 10);
        assertThat(plan(RecordSpec.of(TargetMode.COMMAND), root(), SMALL).rings().lifeBytes())
                .isZero();
    }

    @Test
    void withoutRootTasksAreBoundAndEachGapIsSaid() {
        RecordPlan plan = plan(RecordSpec.of(TargetMode.COMMAND), user(), SMALL);
        assertThat(plan.systemWide()).isFalse();
        assertThat(plan.buffers()).isEmpty();
        assertThat(plan.rings().perfBytes()).isLessThanOrEqualTo(512 << 10);
        assertThat(plan.sampled())
                .allSatisfy(e -> assertThat(e.side()).isEqualTo(SampledEvent.Side.USER));
        assertThat(plan.owner("switch")).isPresent();
        assertThat(plan.gaps())
                .extracting(RecordingGap::what)
                .contains(
                        "system calls, wake-ups, block I/O and signals",
                        "kernel code in samples",
                        "events after a set-id or privileged exec",
                        "file names and socket addresses");
        assertThat(plan(RecordSpec.of(TargetMode.ALL), user(), SMALL).isEmpty()).isTrue();
    }

    @Test
    void whatIsNotWantedIsNotRecorded() {
        RecordPlan plan =
                plan(
                        RecordSpec.of(TargetMode.COMMAND)
                                .leavingOut(Topic.BLOCK, Topic.SCHED, Topic.CPU, Topic.NAMES),
                        root(),
                        SMALL);
        assertThat(plan.owner("sched:sched_switch")).isEmpty();
        assertThat(plan.owner("cpu-clock")).isEmpty();
        assertThat(plan.buffers()).hasSize(1);
        assertThat(plan.names()).isFalse();
    }

    @Test
    void anUnknownEventNamesTheNearest() {
        RecordSpec spec = RecordSpec.of(TargetMode.ALL);
        for (Map.Entry<String, String> wrong :
                Map.of(
                                "sched:sched_swich",
                                "sched:sched_switch",
                                "shed_switch",
                                "sched:sched_switch",
                                "cpu-clok",
                                "cpu-clock",
                                "xyzzy",
                                "")
                        .entrySet()) {
            assertThatThrownBy(() ->
                            RecordPlanner.plan(
                                    spec.withEvents(List.of(wrong.getKey())), root(), SMALL))
                    .isInstanceOfSatisfying(
                            UnknownEventException.class,
                            e -> assertThat(e.nearest()).isEqualTo(wrong.getValue()));
        }
    }

    @Test
    void thePlanShowsRingsOfOtherMachines() {
        RecordPlan plan = plan(RecordSpec.of(TargetMode.COMMAND), root(), SMALL);
        Table rings = (Table) plan.toResult(SMALL).sections().getLast();
        assertThat(rings.rows().stream().map(row -> row.getFirst()))
                .containsExactly("this machine, 2 CPUs", "1 CPU", "64 CPUs", "512 CPUs");
        assertThat(rings.rows())
                .allSatisfy(row ->
                        assertThat((Long) row.getLast())
                                .isPositive()
                                .isLessThanOrEqualTo(RingSizes.MAX_TOTAL));
    }
}
