package sonde.bpf.inventory;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.LinkFacts;
import sonde.bpf.LoadedBtf;
import sonde.bpf.LoadedBtf.BtfFacts;
import sonde.bpf.MapFacts;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramFacts;
import sonde.bpf.ProgramType;
import sonde.sys.Clocks;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/**
 * Everything of BPF that this machine has, as maps from bpftool's JSON keys to values (Long,
 * String, Boolean, List, Map), where the meaning is equal.
 */
public final class BpfInventory {
    private final ObjectHolders holders;

    /** With those who hold what, as they were seen. */
    public BpfInventory(ObjectHolders holders) {
        this.holders = holders;
    }

    private interface ObjectOpening {
        Map<String, Object> of(int id) throws SyscallException;
    }

    /** What is there; what goes meanwhile is left out. */
    private static List<Map<String, Object>> all(List<Integer> ids, ObjectOpening opened)
            throws SyscallException {
        List<Map<String, Object>> all = new ArrayList<>();
        for (int id : ids) {
            try {
                all.add(opened.of(id));
            } catch (SyscallException e) {
                if (e.errno() != Errno.ENOENT && e.errno() != Errno.EINVAL) {
                    throw e;
                }
            }
        }
        return all;
    }

    /** All programs. */
    public List<Map<String, Object>> programs() throws SyscallException {
        return all(
                Program.ids(),
                id -> {
                    try (Program program = Program.openId(id)) {
                        return program(program);
                    }
                });
    }

    /** All maps of known types. */
    public List<Map<String, Object>> maps() throws SyscallException {
        return all(
                BpfMap.ids(),
                id -> {
                    try (BpfMap map = BpfMap.openId(id)) {
                        return map(map);
                    }
                });
    }

    /** All links. */
    public List<Map<String, Object>> links() throws SyscallException {
        return all(
                Link.ids(),
                id -> {
                    try (Link link = Link.openId(id)) {
                        return link(link);
                    }
                });
    }

    /** All BTF objects, with the programs and maps that refer to them. */
    public List<Map<String, Object>> types() throws SyscallException {
        Map<Long, List<Object>> programs = byTypes(programs());
        Map<Long, List<Object>> maps = byTypes(maps());
        return all(
                LoadedBtf.ids(),
                id -> {
                    try (LoadedBtf btf = LoadedBtf.openId(id)) {
                        BtfFacts facts = btf.facts();
                        Map<String, Object> row = new LinkedHashMap<>();
                        row.put("id", (long) id);
                        row.put("size", (long) facts.sizeBytes());
                        row.put("prog_ids", programs.getOrDefault((long) id, List.of()));
                        row.put("map_ids", maps.getOrDefault((long) id, List.of()));
                        row.put("kernel", facts.kernel());
                        if (!facts.name().isEmpty()) {
                            row.put("name", facts.name());
                        }
                        held(row, ObjectHolders.Kind.BTF, id);
                        return row;
                    }
                });
    }

    private static Map<Long, List<Object>> byTypes(List<Map<String, Object>> rows) {
        Map<Long, List<Object>> byTypes = new LinkedHashMap<>();
        for (Map<String, Object> row : rows) {
            if (row.get("btf_id") instanceof Long id && row.get("id") instanceof Long user) {
                byTypes.computeIfAbsent(id, key -> new ArrayList<>()).add(user);
            }
        }
        return byTypes;
    }

    /** One program. */
    public Map<String, Object> program(Program program) throws SyscallException {
        ProgramFacts facts = program.facts();
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", (long) facts.id());
        row.put("type", ProgramType.nameOf(facts.type()));
        if (!facts.name().isEmpty()) {
            row.put("name", facts.name());
        }
        row.put("tag", facts.tag());
        row.put("gpl_compatible", facts.gplCompatible());
        if (facts.runCount() != 0) {
            row.put("run_time_ns", facts.runNanos());
            row.put("run_cnt", facts.runCount());
        }
        if (facts.missed() != 0) {
            row.put("recursion_misses", facts.missed());
        }
        row.put("loaded_at", loadedAt(facts.loadedNanos()));
        row.put("uid", (long) facts.uid());
        row.put("bytes_xlated", (long) facts.translatedBytes());
        row.put("jited", facts.jitedBytes() != 0);
        if (facts.jitedBytes() != 0) {
            row.put("bytes_jited", (long) facts.jitedBytes());
        }
        memory(row, facts.memoryBytes());
        if (!facts.mapIds().isEmpty()) {
            row.put("map_ids", facts.mapIds().stream().map(Integer::longValue).toList());
        }
        if (facts.btfId() != 0) {
            row.put("btf_id", (long) facts.btfId());
        }
        held(row, ObjectHolders.Kind.PROGRAM, facts.id());
        return row;
    }

    /** Seconds since 1970, as bpftool: time of boot and what the kernel has counted since. */
    private static long loadedAt(long nanosSinceBoot) {
        long sinceEpoch = Clocks.nanos(Clocks.CLOCK_REALTIME);
        long sinceBoot = Clocks.nanos(Clocks.CLOCK_BOOTTIME);
        return (sinceEpoch - sinceBoot + nanosSinceBoot) / 1_000_000_000L;
    }

    private static void memory(Map<String, Object> row, long bytes) {
        if (bytes >= 0) {
            row.put("bytes_memlock", bytes);
        }
    }

    /** One map. */
    public Map<String, Object> map(BpfMap map) throws SyscallException {
        MapFacts facts = map.facts();
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", (long) facts.id());
        row.put("type", MapType.nameOf(facts.type()));
        if (!facts.name().isEmpty()) {
            row.put("name", facts.name());
        }
        row.put("flags", (long) facts.flags());
        row.put("bytes_key", (long) facts.keyBytes());
        row.put("bytes_value", (long) facts.valueBytes());
        row.put("max_entries", facts.maxEntries() & 0xffff_ffffL);
        memory(row, facts.memoryBytes());
        if (facts.ownerType() >= 0) {
            row.put("owner_prog_type", ProgramType.nameOf(facts.ownerType()));
            row.put("owner_jited", facts.ownerJited());
        }
        row.put("frozen", facts.frozen() ? 1L : 0L);
        if (facts.btfId() != 0) {
            row.put("btf_id", (long) facts.btfId());
        }
        held(row, ObjectHolders.Kind.MAP, facts.id());
        return row;
    }

    /** One link. */
    public Map<String, Object> link(Link link) throws SyscallException {
        LinkFacts facts = link.facts();
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", (long) facts.id());
        row.put("type", facts.typeName());
        row.put("prog_id", (long) facts.programId());
        row.putAll(facts.details());
        held(row, ObjectHolders.Kind.LINK, facts.id());
        return row;
    }

    private void held(Map<String, Object> row, ObjectHolders.Kind kind, int id) {
        List<String> pins = holders.pins(kind, id);
        if (!pins.isEmpty()) {
            row.put("pinned", pins);
        }
        List<Map<String, Object>> pids = new ArrayList<>();
        for (ObjectHolders.Holder holder : holders.processes(kind, id)) {
            Map<String, Object> entry = new LinkedHashMap<>();
            entry.put("pid", (long) holder.pid());
            entry.put("comm", holder.comm());
            pids.add(entry);
        }
        if (!pids.isEmpty()) {
            row.put("pids", pids);
        }
    }
}
