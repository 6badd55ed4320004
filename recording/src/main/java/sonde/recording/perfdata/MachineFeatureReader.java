package sonde.recording.perfdata;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import sonde.binary.FieldCursor;
import sonde.binary.MalformedInputException;
import sonde.recording.perfdata.MachineFeatures.AuxTrace;
import sonde.recording.perfdata.MachineFeatures.CpuCache;
import sonde.recording.perfdata.MachineFeatures.CpuPlace;
import sonde.recording.perfdata.MachineFeatures.CpuTopology;
import sonde.recording.perfdata.MachineFeatures.EventGroup;
import sonde.recording.perfdata.MachineFeatures.MemoryBlocks;
import sonde.recording.perfdata.MachineFeatures.MemoryNode;
import sonde.recording.perfdata.MachineFeatures.NumaNode;
import sonde.recording.perfdata.MachineFeatures.RecordCompression;
import sonde.recording.perfdata.MachineFeatures.RecordedBpfProgram;

/** Decodes what {@link MachineFeatures} holds, each feature by the writer of the same name. */
final class MachineFeatureReader {
    private static final int MOST_ENTRIES = 1 << 16;

    private String cpuid = "";
    private long totalMemoryKib;
    private Optional<CpuTopology> topology = Optional.empty();
    private final List<NumaNode> numa = new ArrayList<>();
    private boolean branchStack;
    private boolean stat;
    private final SortedMap<Long, String> pmus = new TreeMap<>();
    private final List<EventGroup> groups = new ArrayList<>();
    private final List<AuxTrace> auxTraces = new ArrayList<>();
    private final List<CpuCache> caches = new ArrayList<>();
    private Optional<MemoryBlocks> memory = Optional.empty();
    private long directoryVersion;
    private final List<RecordedBpfProgram> programs = new ArrayList<>();
    private final SortedMap<Long, Integer> btfBytes = new TreeMap<>();
    private Optional<RecordCompression> compression = Optional.empty();
    private final SortedMap<String, SortedMap<String, String>> capabilities = new TreeMap<>();
    private final SortedMap<String, String> hybridCpus = new TreeMap<>();

    MachineFeatures result() {
        return new MachineFeatures(
                cpuid,
                totalMemoryKib,
                topology,
                List.copyOf(numa),
                branchStack,
                stat,
                pmus,
                List.copyOf(groups),
                List.copyOf(auxTraces),
                List.copyOf(caches),
                memory,
                directoryVersion,
                List.copyOf(programs),
                btfBytes,
                compression,
                capabilities,
                hybridCpus);
    }

    /** Takes a feature; false when it is not known here. */
    boolean accept(int feature, FieldCursor in, int cpusAvailable) throws MalformedInputException {
        switch (feature) {
            case PerfFeatures.HEADER_CPUID -> cpuid = FeatureReader.string(in);
            case PerfFeatures.HEADER_TOTAL_MEM -> totalMemoryKib = in.u64("total memory");
            case PerfFeatures.HEADER_CPU_TOPOLOGY -> topology = topology(in, cpusAvailable);
            case PerfFeatures.HEADER_NUMA_TOPOLOGY -> numa(in);
            case PerfFeatures.HEADER_BRANCH_STACK -> branchStack = true;
            case PerfFeatures.HEADER_PMU_MAPPINGS -> pmus(in);
            case PerfFeatures.HEADER_GROUP_DESC -> groups(in);
            case PerfFeatures.HEADER_AUXTRACE -> auxTraces(in);
            case PerfFeatures.HEADER_STAT -> stat = true;
            case PerfFeatures.HEADER_CACHE -> caches(in);
            case PerfFeatures.HEADER_MEM_TOPOLOGY -> memory = memory(in);
            case PerfFeatures.HEADER_DIR_FORMAT -> directoryVersion = in.u64("dir format");
            case PerfFeatures.HEADER_BPF_PROG_INFO -> programs(in);
            case PerfFeatures.HEADER_BPF_BTF -> btf(in);
            case PerfFeatures.HEADER_COMPRESSED -> compression = compression(in);
            case PerfFeatures.HEADER_CPU_PMU_CAPS ->
                    capabilities.computeIfAbsent("cpu", p -> new TreeMap<>()).putAll(pairs(in));
            case PerfFeatures.HEADER_HYBRID_TOPOLOGY -> hybridCpus.putAll(pairs(in));
            case PerfFeatures.HEADER_PMU_CAPS -> capabilities(in);
            default -> {
                return false;
            }
        }
        return true;
    }

    private static int count(FieldCursor in, String field) throws MalformedInputException {
        return in.bounded(field, in.u32(field), MOST_ENTRIES);
    }

    /** Up to 3.x the siblings alone; then core and socket of each CPU; since 5.3 dies. */
    private static Optional<CpuTopology> topology(FieldCursor in, int cpusAvailable)
            throws MalformedInputException {
        List<String> packages = FeatureReader.strings(in);
        List<String> threads = FeatureReader.strings(in);
        List<String> dies = List.of();
        List<int[]> places = new ArrayList<>();
        int cpus = Math.clamp(cpusAvailable, 0, MOST_ENTRIES);
        if (in.remaining() >= 8L * cpus) {
            for (int i = 0; i < cpus; i++) {
                places.add(new int[] {in.s32("core id"), in.s32("socket id"), -1});
            }
        }
        if (in.remaining() >= 4) {
            dies = FeatureReader.strings(in);
            for (int i = 0; i < places.size() && in.remaining() >= 4; i++) {
                places.get(i)[2] = in.s32("die id");
            }
        }
        List<CpuPlace> each = places.stream().map(p -> new CpuPlace(p[0], p[1], p[2])).toList();
        return Optional.of(new CpuTopology(packages, threads, dies, each));
    }

    private void numa(FieldCursor in) throws MalformedInputException {
        int nodes = count(in, "nodes");
        for (int i = 0; i < nodes; i++) {
            long node = in.u32("node");
            long total = in.u64("node memory");
            long free = in.u64("node free memory");
            numa.add(new NumaNode(node, total, free, FeatureReader.string(in)));
        }
    }

    private void pmus(FieldCursor in) throws MalformedInputException {
        int count = count(in, "PMUs");
        for (int i = 0; i < count; i++) {
            long type = in.u32("PMU type");
            pmus.put(type, FeatureReader.string(in));
        }
    }

    private void groups(FieldCursor in) throws MalformedInputException {
        int count = count(in, "groups");
        for (int i = 0; i < count; i++) {
            String name = FeatureReader.string(in);
            groups.add(new EventGroup(name, in.s32("group leader"), in.s32("group members")));
        }
    }

    private void auxTraces(FieldCursor in) throws MalformedInputException {
        long count = in.u64("AUX traces");
        for (long i = 0; i < in.bounded("AUX traces", count, MOST_ENTRIES); i++) {
            auxTraces.add(new AuxTrace(in.u64("AUX trace offset"), in.u64("AUX trace size")));
        }
    }

    private void caches(FieldCursor in) throws MalformedInputException {
        if (in.u32("cache version") != 1) {
            throw in.malformed("cache version", "not 1");
        }
        int count = count(in, "caches");
        for (int i = 0; i < count; i++) {
            long level = in.u32("cache level");
            long line = in.u32("cache line size");
            long sets = in.u32("cache sets");
            long ways = in.u32("cache ways");
            String type = FeatureReader.string(in);
            String size = FeatureReader.string(in);
            caches.add(new CpuCache(level, line, sets, ways, type, size, FeatureReader.string(in)));
        }
    }

    private static Optional<MemoryBlocks> memory(FieldCursor in) throws MalformedInputException {
        if (in.u64("memory topology version") != 1) {
            throw in.malformed("memory topology version", "not 1");
        }
        long blockBytes = in.u64("memory block size");
        int count = in.bounded("memory nodes", in.u64("memory nodes"), MOST_ENTRIES);
        List<MemoryNode> nodes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long node = in.u64("memory node");
            in.u64("memory node size");
            long bits = in.u64("memory bitmap");
            long blocks = 0;
            for (long word = 0; word < in.bounded("bitmap", bits, 1L << 30) + 63L >>> 6; word++) {
                blocks += Long.bitCount(in.u64("memory bitmap"));
            }
            nodes.add(new MemoryNode(node, blocks));
        }
        return Optional.of(new MemoryBlocks(blockBytes, List.copyOf(nodes)));
    }

    /** struct perf_bpil: u32 info_len, u32 data_len, u64 arrays; bpf_prog_info; data. */
    private void programs(FieldCursor in) throws MalformedInputException {
        int count = count(in, "BPF programs");
        for (int i = 0; i < count; i++) {
            long infoBytes = in.u32("BPF info size");
            long dataBytes = in.u32("BPF data size");
            in.u64("BPF arrays");
            long start = in.position();
            in.u32("BPF program type");
            long id = in.u32("BPF program id");
            String tag = HexFormat.of().formatHex(in.bytes("BPF program tag", 8));
            String name = "";
            if (infoBytes >= 80) { // since 4.15
                in.seek("BPF program name", start + 64);
                name = FeatureReader.untilNul(in.bytes("BPF program name", 16));
            }
            programs.add(new RecordedBpfProgram(id, name, tag));
            in.seek("BPF program", start + infoBytes + dataBytes);
        }
    }

    private void btf(FieldCursor in) throws MalformedInputException {
        int count = count(in, "BTF objects");
        for (int i = 0; i < count; i++) {
            long id = in.u32("BTF id");
            int size = in.bounded("BTF size", in.u32("BTF size"), in.remaining());
            btfBytes.put(id, size);
            in.seek("BTF", in.position() + size);
        }
    }

    private static Optional<RecordCompression> compression(FieldCursor in)
            throws MalformedInputException {
        return Optional.of(
                new RecordCompression(
                        in.u32("compression version"),
                        in.u32("compression type"),
                        in.u32("compression level"),
                        in.u32("compression ratio"),
                        in.u32("mmap size")));
    }

    private static SortedMap<String, String> pairs(FieldCursor in) throws MalformedInputException {
        SortedMap<String, String> pairs = new TreeMap<>();
        int count = count(in, "pairs");
        for (int i = 0; i < count; i++) {
            String key = FeatureReader.string(in);
            pairs.put(key, FeatureReader.string(in));
        }
        return pairs;
    }

    private void capabilities(FieldCursor in) throws MalformedInputException {
        int count = count(in, "PMUs");
        for (int i = 0; i < count; i++) {
            SortedMap<String, String> caps = pairs(in);
            capabilities.put(FeatureReader.string(in), caps);
        }
    }
}
