package sonde.recording.ftrace;

/** The build id in a PERF_RECORD_MMAP2, which stands where others have device and inode. */
public final class MappedBuildId {
    /** Most bytes of it. */
    public static final int MAX_BYTES = 20;

    /** PERF_RECORD_MISC_MMAP_BUILD_ID. */
    private static final int MISC = 1 << 14;

    private MappedBuildId() {}

    /**
     * Whether a record has one. The bit alone does not tell: where another event of the machine
     * asks for build ids the kernel leaves it set for those that do not (perf_event_mmap_output()
     * of kernel/events/core.c restores size and type of the record, not misc).
     *
     * @param misc of the header
     * @param record from {@code at} on the 24 bytes that begin with maj, or the size of the id
     */
    public static boolean isIn(long misc, byte[] record, int at) {
        if ((misc & MISC) == 0 || record.length - at < 24) {
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
}
