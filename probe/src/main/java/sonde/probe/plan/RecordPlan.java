package sonde.probe.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Column;
import sonde.event.result.Report;
import sonde.event.result.Table;
import sonde.event.result.Unit;
import sonde.probe.plan.RingSizes.PresentRings;
import sonde.recording.bundle.RecordingMeta.EventOwner;
import sonde.recording.bundle.RecordingMeta.RecordedRing;

/**
 * What a recording will do: which source takes which event, and what it will not have.
 *
 * @param systemWide perf events count all tasks (and are reduced to the target when reading); else
 *     they are bound to the target's tasks and inherited
 * @param sampled events of perf.data; empty when there is none
 * @param buffers of trace.dat, the first with the empty name; empty when there is none
 * @param names whether file names and addresses are asked for through BPF
 * @param owners each event type once
 * @param exactLosses whether the kernel counts perf's losses per event (PERF_FORMAT_LOST)
 * @param extras filters and stacks of single events
 */
public record RecordPlan(
        RecordSpec spec,
        boolean systemWide,
        List<SampledEvent> sampled,
        List<TraceBuffer> buffers,
        boolean names,
        RingSizes rings,
        List<EventOwner> owners,
        List<RecordingGap> gaps,
        boolean exactLosses,
        EventExtras extras) {
    public RecordPlan {
        sampled = List.copyOf(sampled);
        buffers = List.copyOf(buffers);
        owners = List.copyOf(owners);
        gaps = List.copyOf(gaps);
    }

    /** Whether anything at all will be recorded. */
    public boolean isEmpty() {
        return sampled.isEmpty() && buffers.isEmpty();
    }

    /** Rings as {@code meta.json} has them. */
    public List<RecordedRing> ringList() {
        List<RecordedRing> list = new ArrayList<>();
        if (!sampled.isEmpty()) {
            list.add(new RecordedRing("perf.data", "", rings.perfBytes(), spec.flightRecorder()));
            if (rings.lifeBytes() > 0) {
                list.add(new RecordedRing("perf.data", "life", rings.lifeBytes(), false));
            }
        }
        for (TraceBuffer buffer : buffers) {
            list.add(
                    new RecordedRing(
                            "trace.dat",
                            buffer.name(),
                            buffer.bytesPerCpu(),
                            spec.flightRecorder()));
        }
        return list;
    }

    /** The owner of an event. */
    public Optional<EventOwner> owner(String event) {
        return owners.stream().filter(owner -> owner.event().equals(event)).findFirst();
    }

    /**
     * This with filters in the kernel's spelling.
     *
     * @param absent events that cannot fit their filter and are not recorded
     */
    public RecordPlan filtered(
            Map<String, List<String>> kernel, Set<String> absent, List<RecordingGap> more) {
        List<RecordingGap> all = new ArrayList<>(gaps);
        all.addAll(more);
        return new RecordPlan(
                spec,
                systemWide,
                sampled.stream().filter(one -> !absent.contains(one.name())).toList(),
                buffers.stream().map(one -> one.without(absent)).toList(),
                names,
                rings,
                owners.stream()
                        .filter(one -> !absent.contains(one.event()))
                        .map(one -> {
                            List<String> filter = kernel.getOrDefault(one.event(), List.of());
                            return one.withFilter(String.join(" && ", filter));
                        })
                        .toList(),
                all,
                exactLosses,
                new EventExtras(kernel, Set.of(), extras.ringStacks()));
    }

    /** For {@code --plan}: sources, what is missing, ring memory here and on other machines. */
    public Report toResult(MachineSize here) {
        List<String> notes = new ArrayList<>();
        notes.add(
                systemWide
                        ? "perf events count every task and are reduced to the target when read"
                        : "perf events are bound to the target's tasks");
        if (!sampled.isEmpty()) {
            notes.add(spec.callGraph().sentence());
        }
        gaps.forEach(gap -> notes.add(gap.sentence()));
        List<List<@Nullable Object>> events = new ArrayList<>();
        for (EventOwner owner : owners) {
            String source =
                    owner.buffer().isEmpty()
                            ? owner.source()
                            : owner.source() + ", " + owner.buffer();
            String only = owner.filter().isEmpty() ? "" : "; only where " + owner.filter();
            events.add(List.of(owner.event(), source, owner.reason() + only));
        }
        Table eventTable =
                new Table(
                        "Events",
                        List.of(Column.text("event"), Column.text("source"), Column.text("why")),
                        events);
        return new Report("Plan", notes, List.of(eventTable, ringTable(here)));
    }

    private Table ringTable(MachineSize here) {
        List<MachineSize> machines =
                List.of(
                        here,
                        new MachineSize(1, here.memoryBytes()),
                        new MachineSize(64, here.memoryBytes()),
                        new MachineSize(512, here.memoryBytes()));
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (MachineSize machine : machines) {
            RingSizes sizes =
                    RingSizes.share(
                            machine,
                            spec.limits().ringBytes(),
                            new PresentRings(
                                    rings.perfBytes() > 0,
                                    spec.flightRecorder(),
                                    rings.taskBytes() > 0,
                                    rings.outsideBytes() > 0),
                            RecordPlanner.perfCap(systemWide, rings));
            rows.add(
                    List.of(
                            (machine.equals(here) && rows.isEmpty() ? "this machine, " : "")
                                    + machine.cpus()
                                    + (machine.cpus() == 1 ? " CPU" : " CPUs"),
                            sizes.perfBytes() + sizes.lifeBytes(),
                            sizes.taskBytes(),
                            sizes.outsideBytes(),
                            sizes.perCpuBytes() * machine.cpus()));
        }
        return new Table(
                "Ring memory",
                List.of(
                        Column.text("machine"),
                        new Column("perf per CPU", Unit.BYTES),
                        new Column("target per CPU", Unit.BYTES),
                        new Column("outside per CPU", Unit.BYTES),
                        new Column("total", Unit.BYTES)),
                rows);
    }
}
