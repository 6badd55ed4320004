package sonde.tools.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.TableBuilder;
import sonde.open.ReportSource;
import sonde.recording.perfdata.AttrEntry;
import sonde.recording.perfdata.AttrText;
import sonde.recording.perfdata.BuildId;
import sonde.recording.perfdata.MachineFeatures;
import sonde.recording.perfdata.MachineFeatures.CpuPlace;
import sonde.recording.perfdata.PerfDescription;
import sonde.recording.perfdata.RecordedFeatures;

/** What the header of a perf.data says, as {@code perf script --header -I} does. */
final class HeaderSections {
    // include/uapi/linux/time.h
    private static final List<String> CLOCKS =
            List.of("realtime", "monotonic", "", "", "monotonic_raw", "", "", "boottime");

    private final PerfDescription perf;
    private final List<Map.Entry<String, String>> header = new ArrayList<>();

    private HeaderSections(PerfDescription perf) {
        this.perf = perf;
    }

    /** Describes every perf.data in a source; events are not read. */
    static Report of(ReportSource source) {
        List<Result> sections = new ArrayList<>();
        descriptions(source).forEach(perf -> sections.addAll(new HeaderSections(perf).all()));
        List<String> notes = new ArrayList<>(source.notes());
        if (sections.isEmpty()) {
            notes.add("The recording contains no perf.data, so there is no header to show.");
        }
        return new Report(source.name(), notes, sections);
    }

    private static List<PerfDescription> descriptions(ReportSource source) {
        return source.recordings().stream()
                .flatMap(one -> one.capability(PerfDescription.class).stream())
                .toList();
    }

    private List<Result> all() {
        RecordedFeatures features = perf.features();
        machine(features);
        topology(features.machine());
        memory(features.machine());
        recording(features);
        List<Result> all = new ArrayList<>();
        all.add(
                new TableBuilder<Map.Entry<String, String>>("header")
                        .text("what", Map.Entry::getKey)
                        .text("value", Map.Entry::getValue)
                        .table(header));
        all.add(events());
        all.add(buildIds(features));
        MachineFeatures machine = features.machine();
        if (!machine.auxTraces().isEmpty()) {
            all.add(
                    new TableBuilder<MachineFeatures.AuxTrace>("AUX areas")
                            .bytes("record at", MachineFeatures.AuxTrace::fileOffset)
                            .bytes("size", MachineFeatures.AuxTrace::sizeBytes)
                            .table(machine.auxTraces()));
        }
        return all;
    }

    private void put(String what, String value) {
        if (!value.isEmpty()) {
            header.add(Map.entry(what, value));
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
                        CpuPlace cpu = topology.cpus().get(i);
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
        return new TableBuilder<AttrEntry>("events")
                .text("event", AttrEntry::name)
                .count("ids", entry -> (long) entry.ids().length)
                .text("attr", entry -> AttrText.of(entry.attr()))
                .table(perf.attrs());
    }

    private static Result buildIds(RecordedFeatures features) {
        return new TableBuilder<BuildId>("build ids")
                .text("build id", BuildId::id)
                .text("file", BuildId::path)
                .table(features.buildIds());
    }

    /** How many records of each kind a perf.data has, as {@code perf report --stats} counts. */
    static List<Result> records(ReportSource source) {
        List<Result> tables = new ArrayList<>();
        for (PerfDescription perf : descriptions(source)) {
            Map<String, Long> counts = new LinkedHashMap<>(perf.recordCounts());
            counts.put("TOTAL", counts.values().stream().mapToLong(Long::longValue).sum());
            tables.add(
                    new TableBuilder<Map.Entry<String, Long>>("records")
                            .text("record", Map.Entry::getKey)
                            .count("count", Map.Entry::getValue)
                            .table(counts.entrySet()));
        }
        return tables;
    }
}
