package sonde.bpf;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Kinds of maps; the codes are enum bpf_map_type (Linux 6.18), the names bpftool's. */
public enum MapType {
    /** Any key to a value. */
    HASH(1, "hash"),
    /** Key u32 below the size; values are zero from the start. */
    ARRAY(2, "array"),
    /** Slot to a program that can be called in place of the running one; value u32 descriptor. */
    PROG_ARRAY(3, "prog_array"),
    /** Slot per CPU with a perf event that takes what programs emit; value u32 descriptor. */
    PERF_EVENT_ARRAY(4, "perf_event_array"),
    /** Hash whose values are one per possible CPU. */
    PER_CPU_HASH(5, "percpu_hash"),
    /** Array whose values are one per possible CPU. */
    PER_CPU_ARRAY(6, "percpu_array"),
    /** Call chains by their number; value 8 bytes a frame. */
    STACK_TRACE(7, "stack_trace"),
    CGROUP_ARRAY(8, "cgroup_array"),
    /** Hash that drops the least recently used entries when full. */
    LRU_HASH(9, "lru_hash"),
    LRU_PER_CPU_HASH(10, "lru_percpu_hash"),
    /** Longest prefix wins; key u32 of prefix bits, then the bytes. */
    LPM_TRIE(11, "lpm_trie"),
    /** Values are maps: written as descriptors, read as numbers. */
    ARRAY_OF_MAPS(12, "array_of_maps"),
    HASH_OF_MAPS(13, "hash_of_maps"),
    DEVMAP(14, "devmap"),
    SOCKMAP(15, "sockmap"),
    CPUMAP(16, "cpumap"),
    XSKMAP(17, "xskmap"),
    SOCKHASH(18, "sockhash"),
    CGROUP_STORAGE(19, "cgroup_storage"),
    REUSEPORT_SOCKARRAY(20, "reuseport_sockarray"),
    PER_CPU_CGROUP_STORAGE(21, "percpu_cgroup_storage"),
    /** First in, first out; no key. Since Linux 4.20, as stacks. */
    QUEUE(22, "queue"),
    STACK(23, "stack"),
    /** A value in each socket; key its descriptor here. Since Linux 5.2. */
    SK_STORAGE(24, "sk_storage"),
    DEVMAP_HASH(25, "devmap_hash"),
    STRUCT_OPS(26, "struct_ops"),
    /** Ring of records, its size a power of two of pages; no key, no value. Since Linux 5.8. */
    RING_BUFFER(27, "ringbuf"),
    /** A value in each inode; key a descriptor here. Since Linux 5.10, needs BPF_LSM. */
    INODE_STORAGE(28, "inode_storage"),
    /** A value in each task; key a pidfd here. Since Linux 5.11. */
    TASK_STORAGE(29, "task_storage"),
    /** Says "surely not" or "perhaps" of a value; no key. Since Linux 5.16. */
    BLOOM_FILTER(30, "bloom_filter"),
    /** Ring that user space fills and programs drain. Since Linux 6.1. */
    USER_RING_BUFFER(31, "user_ringbuf"),
    /** A value in each cgroup; key a descriptor of its folder. Since Linux 6.2. */
    CGROUP_LOCAL_STORAGE(32, "cgrp_storage"),
    /** Memory shared by programs and user space, its size in pages. Since Linux 6.9. */
    ARENA(33, "arena");

    /** BPF_F_NO_PREALLOC. */
    private static final int NO_PREALLOCATION = 1;

    /** BPF_F_MMAPABLE. */
    private static final int MAPPABLE = 1 << 10;

    private static final MapType[] ALL = values();

    private final int code;
    private final String kernelName;

    MapType(int code, String kernelName) {
        this.code = code;
        this.kernelName = kernelName;
    }

    /** The number of enum bpf_map_type. */
    public int code() {
        return code;
    }

    /** The name that bpftool prints: {@code "percpu_hash"}. */
    public String kernelName() {
        return kernelName;
    }

    /** The type of a number; null for one this enum does not have. */
    public static @Nullable MapType of(int code) {
        return code >= 1 && code <= ALL.length ? ALL[code - 1] : null;
    }

    /** {@link #kernelName} of a number, or {@code "type 99"}. */
    public static String nameOf(int code) {
        MapType type = of(code);
        return type == null ? "type " + code : type.kernelName;
    }

    /** Whether user space sees a value per possible CPU. */
    public boolean isPerCpu() {
        return switch (this) {
            case PER_CPU_HASH, PER_CPU_ARRAY, LRU_PER_CPU_HASH, PER_CPU_CGROUP_STORAGE -> true;
            default -> false;
        };
    }

    /** Whether values hang on kernel objects: such maps need BTF and have no size. */
    public boolean isLocalStorage() {
        return switch (this) {
            case SK_STORAGE, INODE_STORAGE, TASK_STORAGE, CGROUP_LOCAL_STORAGE -> true;
            default -> false;
        };
    }

    /**
     * Whether entries are places for objects of the kernel: there may be a key whose place is
     * empty, or whose object is not shown to user space.
     */
    public boolean isReadableBySlots() {
        return switch (this) {
            case PERF_EVENT_ARRAY,
                    CGROUP_ARRAY,
                    DEVMAP,
                    DEVMAP_HASH,
                    CPUMAP,
                    XSKMAP,
                    SOCKMAP,
                    SOCKHASH,
                    REUSEPORT_SOCKARRAY ->
                    true;
            default -> false;
        };
    }

    /** Whether entries are u32 numbers from 0 to the size, none of them ever missing. */
    public boolean isArray() {
        return switch (this) {
            case ARRAY, PER_CPU_ARRAY, PROG_ARRAY, PERF_EVENT_ARRAY, CGROUP_ARRAY, ARRAY_OF_MAPS ->
                    true;
            default -> false;
        };
    }

    /** Flags without which the kernel takes no map of this type. */
    int impliedFlags() {
        return switch (this) {
            case LPM_TRIE, SK_STORAGE, INODE_STORAGE, TASK_STORAGE, CGROUP_LOCAL_STORAGE ->
                    NO_PREALLOCATION;
            case ARENA -> MAPPABLE;
            default -> 0;
        };
    }

    /** The name as a flag on a command line takes it. */
    @Override
    public String toString() {
        return kernelName.toLowerCase(Locale.ROOT);
    }
}
