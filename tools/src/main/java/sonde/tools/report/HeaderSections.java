package sonde.tools.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Unit;
import sonde.format.perfdata.AttrEntry;
import sonde.format.perfdata.AttrText;
import sonde.format.perfdata.BuildId;
import sonde.format.perfdata.MachineFeatures;
import sonde.format.perfdata.PerfDataRecording;
import sonde.format.perfdata.RecordedFeatures;

/** What the header of a perf.data says, as {@code perf script --header -I} does. */
final class HeaderSections {
    // include/uapi/linux/time.h
    private static final List<String> CLOCKS =
            List.of("realtime", "monotonic", "", "", "monotonic_raw", "", "", "boottime");

    private final PerfDataRecording perf;
    private final Rows rows =
            new Rows("header").column("what", Unit.TEXT).column("value", Unit.TEXT);

    private HeaderSections(PerfDataRecording perf) {
        this.perf = perf;
    }

    /** Of every perf.data in a source; events are not read. */
    static Report of(ReportSource source) {
        List<Result> sections = new ArrayList<>();
        source.recordings()
                .forEach(recording -> {
                    if (recording instanceof PerfDataRecording perf) {
                        sections.addAll(new HeaderSections(perf).all());
                    }
                });
        List<String> notes = new ArrayList<>(source.notes());
        if (sections.isEmpty()) {
            notes.add("No perf.data in it, whose header could be shown.");
        }
        return new Report(source.name(), notes, sections);
    }

    private List<Result> all() {
        RecordedFeatures features = perf.features();
        machine(features);
        topology(features.machine());
        memory(features.machine());
        recording(features);
        List<Result> all = new ArrayList<>();
        all.add(rows.table());
        all.add(events());
        all.add(buildIds(features));
        MachineFeatures machine = features.machine();
        if (!machine.auxTraces().isEmpty()) {
            Rows areas =
                    new Rows("AUX areas")
                            .column("record at", Unit.BYTES)
                            .column("size", Unit.BYTES);
            machine.auxTraces().forEach(aux -> areas.add(aux.fileOffset(), aux.sizeBytes()));
            all.add(areas.table());
        }
        return all;
    }

    private void put(String what, String value) {
        if (!value.isEmpty()) {
            rows.add(what, value);
        }
    }

    private void machine(RecordedFeatures features) {
        MachineFeatures machine = features.machine();
        put("hostname", features.hostname());
        put("os release", features.osRelease());
        put("perf version", features.version());
        put("arch", features.arch());
        if (features.cpusAvailable() > 0) {
            put("nrcpus online", Integer.toString(features.cpusOnline()));
            put("nrcpus avail", Integer.toString(features.cpusAvailable()));
        }
        put("cpudesc", features.cpuDescription());
        put("cpuid", machine.cpuid());
        if (machine.totalMemoryKib() > 0) {
            put("total memory", machine.totalMemoryKib() + " kB");
        }
        put("cmdline", String.join(" ", features.commandLine()));
    }

    private void topology(MachineFeatures machine) {
        machine.topology()
                .ifPresent(topology -> {
                    topology.packages().forEach(cpus -> put("sibling sockets", cpus));
                    topology.dies().forEach(cpus -> put("sibling dies", cpus));
                    topology.threads().forEach(cpus -> put("sibling threads", cpus));
                    for (int i = 0; i < topology.cpus().size(); i++) {
                        MachineFeatures.Cpu cpu = topology.cpus().get(i);
                        String die = cpu.die() < 0 ? "" : ", Die ID " + cpu.die();
                        put(
                                "CPU " + i,
                                "Core ID " + cpu.core() + die + ", Socket ID " + cpu.socket());
                    }
                });
        for (MachineFeatures.NumaNode node : machine.numa()) {
            put(
                    "node" + node.node() + " meminfo",
                    "total = " + node.totalKib() + " kB, free = " + node.freeKib() + " kB");
            put("node" + node.node() + " cpu list", node.cpus());
        }
        machine.hybridCpus().forEach((pmu, cpus) -> put(pmu + " cpu list", cpus));
        StringJoiner pmus = new StringJoiner(", ");
        machine.pmus().forEach((type, name) -> pmus.add(name + " = " + type));
        put("pmu mappings", pmus.toString());
        machine.capabilities()
                .forEach((pmu, caps) -> {
                    StringJoiner all = new StringJoiner(", ");
                    caps.forEach((key, value) -> all.add(key + "=" + value));
                    put(pmu + " pmu capabilities", all.toString());
                });
        machine.groups()
                .forEach(group ->
                        put(
                                "group",
                                group.name()
                                        + ": "
                                        + group.members()
                                        + " events from event "
                                        + group.leader()));
    }

    private void memory(MachineFeatures machine) {
        machine.caches()
                .forEach(cache ->
                        put(
                                "L" + cache.level() + " " + cache.type(),
                                cache.size() + " [" + cache.cpus() + "]"));
        machine.memory()
                .ifPresent(memory -> {
                    put("memory block size", memory.blockBytes() + " bytes");
                    memory.nodes()
                            .forEach(node ->
                                    put("memory node " + node.node(), node.blocks() + " blocks"));
                });
    }

    private void recording(RecordedFeatures features) {
        MachineFeatures machine = features.machine();
        features.sampleTime()
                .ifPresent(time -> {
                    put("time of first sample", seconds(time.first()));
                    put("time of last sample", seconds(time.last()));
                    put("sample duration", seconds(time.last() - time.first()) + " s");
                });
        features.clockResolutionNanos().ifPresent(nanos -> put("clock resolution", nanos + " ns"));
        features.clockData()
                .ifPresent(clock -> {
                    int id = clock.clockid();
                    boolean known = id >= 0 && id < CLOCKS.size();
                    put("clockid", (known ? CLOCKS.get(id) : "") + " (" + id + ")");
                    put(
                            "reference time",
                            seconds(clock.wallNanos())
                                    + " (wall) = "
                                    + seconds(clock.clockNanos())
                                    + " (clock)");
                });
        machine.compression()
                .ifPresent(how ->
                        put(
                                "compressed",
                                (how.type() == 1 ? "Zstd" : "type " + how.type())
                                        + ", level = "
                                        + how.level()
                                        + ", ratio = "
                                        + how.ratio()));
        put("contains", machine.branchStack() ? "samples with branch stack" : "");
        put("contains", machine.stat() ? "stat data" : "");
        put("directory format", number(machine.directoryVersion()));
        machine.bpfPrograms()
                .forEach(program ->
                        put("bpf_prog " + program.id(), program.name() + " tag " + program.tag()));
        machine.btfBytes().forEach((id, bytes) -> put("btf " + id, bytes + " bytes"));
        features.tracingData()
                .ifPresent(tracing ->
                        put("tracing data", tracing.formats().size() + " event formats"));
        put("records", perf.dataBytes() + " bytes" + (perf.isFinished() ? "" : ", not finished"));
    }

    private static String number(long value) {
        return value == 0 ? "" : Long.toString(value);
    }

    private static String seconds(long nanos) {
        return String.format(
                Locale.ROOT, "%d.%06d", nanos / 1_000_000_000, nanos / 1000 % 1_000_000);
    }

    private Result events() {
        Rows events =
                new Rows("events")
                        .column("event", Unit.TEXT)
                        .column("ids", Unit.COUNT)
                        .column("attr", Unit.TEXT);
        for (AttrEntry entry : perf.attrs()) {
            events.add(entry.name(), (long) entry.ids().length, AttrText.of(entry.attr()));
        }
        return events.table();
    }

    private static Result buildIds(RecordedFeatures features) {
        Rows ids = new Rows("build ids").column("build id", Unit.TEXT).column("file", Unit.TEXT);
        for (BuildId id : features.buildIds()) {
            ids.add(id.id(), id.path());
        }
        return ids.table();
    }

    /** How many records of each kind a perf.data has, as {@code perf report --stats} counts. */
    static List<Result> records(ReportSource source) {
        List<Result> tables = new ArrayList<>();
        source.recordings()
                .forEach(recording -> {
                    if (recording instanceof PerfDataRecording perf) {
                        Rows counts =
                                new Rows("records")
                                        .column("record", Unit.TEXT)
                                        .column("count", Unit.COUNT);
                        long[] total = {0};
                        perf.recordCounts()
                                .forEach((name, count) -> {
                                    counts.add(name, count);
                                    total[0] += count;
                                });
                        counts.add("TOTAL", total[0]);
                        tables.add(counts.table());
                    }
                });
        return tables;
    }
}
