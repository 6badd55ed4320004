package sonde.bpf;

/** Kinds of maps; the codes are enum bpf_map_type. */
public enum MapType {
    /** Any key to a value. */
    HASH(1),
    /** Key u32 below the size; values are zero from the start. */
    ARRAY(2),
    /** Slot per CPU with a perf event that takes what programs emit; value u32 descriptor. */
    PERF_EVENT_ARRAY(4),
    /** Hash whose values are one per possible CPU. */
    PER_CPU_HASH(5),
    /** Array whose values are one per possible CPU. */
    PER_CPU_ARRAY(6),
    /** Hash that drops the least recently used entries when full. */
    LRU_HASH(9),
    /** Ring of records, its size a power of two of pages; no key, no value. Since Linux 5.8. */
    RING_BUFFER(27);

    private final int code;

    MapType(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }

    /** Whether user space sees a value per possible CPU. */
    boolean isPerCpu() {
        return this == PER_CPU_HASH || this == PER_CPU_ARRAY;
    }
}
