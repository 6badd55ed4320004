package sonde.format.perfdata;

import java.util.HexFormat;

/**
 * Build id of a file that was mapped (feature HEADER_BUILD_ID).
 *
 * @param pid process it belongs to, -1 for all of the host
 * @param kernel whether it is the kernel or one of its modules
 * @param id hexadecimal, at most 40 digits
 * @param path as in the mapping: {@code "[kernel.kallsyms]"}, {@code "/usr/bin/dd"}
 */
public record BuildId(int pid, boolean kernel, String id, String path) {
    /** Most bytes of a build id in a perf.data. */
    static final int MAX_BYTES = 20;

    public BuildId {
        if (id.length() > 2 * MAX_BYTES) {
            throw new IllegalArgumentException("build id of " + id.length() + " digits");
        }
    }

    /**
     * Whether a PERF_RECORD_MMAP2 has a build id where others have device and inode. The bit alone
     * does not tell: where another event of the machine asks for build ids the kernel leaves it set
     * for those that do not (perf_event_mmap_output() of kernel/events/core.c restores size and
     * type of the record, not misc).
     *
     * @param misc of the header
     * @param record from {@code at} on the 24 bytes that begin with maj, or the size of the id
     */
    public static boolean isIn(long misc, byte[] record, int at) {
        if ((misc & PerfEvent.PERF_RECORD_MISC_MMAP_BUILD_ID) == 0 || record.length - at < 24) {
            return false;
        }
        int size = record[at] & 0xff;
        boolean fits = size > 0 && size <= MAX_BYTES;
        for (int i = 1; i < 24 && fits; i++) {
            boolean filled = i >= 4 && i < 4 + size;
            fits = filled || record[at + i] == 0;
        }
        return fits;
    }

    byte[] bytes() {
        return HexFormat.of().parseHex(id);
    }
}
