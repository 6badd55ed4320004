package sonde.recording.perfdata;

import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Header features about the machine, its PMUs and how the file was made (tools/perf/util/header.c,
 * 6.18). Empty where the file says nothing.
 *
 * @param cpuid CPUID: vendor, family, model, stepping as perf joins them
 * @param totalMemoryKib TOTAL_MEM, 0 when unknown
 * @param topology CPU_TOPOLOGY
 * @param numa NUMA_TOPOLOGY, a node each
 * @param branchStack BRANCH_STACK: samples have branches
 * @param stat STAT: made by {@code perf stat record}
 * @param pmus PMU_MAPPINGS: what attr.type of other PMUs means
 * @param groups GROUP_DESC
 * @param auxTraces AUXTRACE: where AUX areas lie in the file
 * @param caches CACHE
 * @param memory MEM_TOPOLOGY
 * @param directoryVersion DIR_FORMAT, 0 when it is not a folder
 * @param bpfPrograms BPF_PROG_INFO
 * @param btfBytes BPF_BTF: bytes of BTF by its id
 * @param compression COMPRESSED
 * @param capabilities CPU_PMU_CAPS and PMU_CAPS: by PMU, {@code "cpu"} for the first form
 * @param hybridCpus HYBRID_TOPOLOGY: CPUs of each core PMU
 */
public record MachineFeatures(
        String cpuid,
        long totalMemoryKib,
        Optional<CpuTopology> topology,
        List<NumaNode> numa,
        boolean branchStack,
        boolean stat,
        SortedMap<Long, String> pmus,
        List<EventGroup> groups,
        List<AuxTrace> auxTraces,
        List<CpuCache> caches,
        Optional<MemoryBlocks> memory,
        long directoryVersion,
        List<RecordedBpfProgram> bpfPrograms,
        SortedMap<Long, Integer> btfBytes,
        Optional<RecordCompression> compression,
        SortedMap<String, SortedMap<String, String>> capabilities,
        SortedMap<String, String> hybridCpus) {

    /**
     * Lists of CPUs that share something.
     *
     * @param cpus of each CPU: core, package and (5.3) die, -1 when not said
     */
    public record CpuTopology(
            List<String> packages, List<String> threads, List<String> dies, List<CpuPlace> cpus) {}

    /** Where a CPU sits. */
    public record CpuPlace(int core, int socket, int die) {}

    /** A node with its memory and its CPUs as a list. */
    public record NumaNode(long node, long totalKib, long freeKib, String cpus) {}

    /**
     * A group of events.
     *
     * @param leader index of its first event among the attrs
     */
    public record EventGroup(String name, int leader, int members) {}

    /** A PERF_RECORD_AUXTRACE: the place of the record and its size without the area. */
    public record AuxTrace(long fileOffset, long sizeBytes) {}

    /** A cache. {@code size} and {@code cpus} as sysfs states them: "32K", "0-1". */
    public record CpuCache(
            long level,
            long lineBytes,
            long sets,
            long ways,
            String type,
            String size,
            String cpus) {}

    /** Memory blocks, and which of them each node has. */
    public record MemoryBlocks(long blockBytes, List<MemoryNode> nodes) {}

    /** A node's blocks. */
    public record MemoryNode(long node, long blocks) {}

    /** A loaded BPF program. */
    public record RecordedBpfProgram(long id, String name, String tag) {}

    /** How records were compressed; type 1 is zstd, ratio is that reached. */
    public record RecordCompression(
            long version, long type, long level, long ratio, long mmapBytes) {}
}
