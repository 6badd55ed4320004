package sonde.sys;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A line of {@code /proc/PID/maps} (proc_pid_maps(5)).
 *
 * @param end the first address behind it
 * @param permissions {@code "r-xp"}; the last is {@code s} for a shared mapping
 * @param offset in the file
 * @param major of the file's device
 * @param minor of the file's device
 * @param path also {@code "[vdso]"}, {@code "/memfd:x (deleted)"}; empty for anonymous memory
 */
public record MappedRange(
        long start,
        long end,
        String permissions,
        long offset,
        int major,
        int minor,
        long inode,
        String path) {
    private static final int MOST_BYTES = 64 << 20;
    private static final int FIELDS = 6;

    /**
     * The mappings of a process, by address.
     *
     * @throws SyscallException when it has ended, or may not be looked into
     */
    public static List<MappedRange> of(int pid) throws SyscallException {
        byte[] text = FileCalls.readAll("/proc/" + pid + "/maps", MOST_BYTES);
        return parse(new String(text, StandardCharsets.UTF_8));
    }

    /** Those of a text; a line of another form is left out. */
    static List<MappedRange> parse(String text) {
        List<MappedRange> all = new ArrayList<>();
        for (String line : text.split("\n", -1)) {
            String[] fields = line.split(" +", FIELDS);
            int dash = line.indexOf('-');
            boolean isWhole = fields.length >= FIELDS - 1 && fields[1].length() == 4;
            int colon = isWhole ? fields[3].indexOf(':') : -1;
            if (dash > 0 && colon > 0) {
                try {
                    all.add(
                            new MappedRange(
                                    Long.parseUnsignedLong(line, 0, dash, 16),
                                    Long.parseUnsignedLong(fields[0].substring(dash + 1), 16),
                                    fields[1],
                                    Long.parseUnsignedLong(fields[2], 16),
                                    Integer.parseUnsignedInt(fields[3], 0, colon, 16),
                                    Integer.parseUnsignedInt(fields[3].substring(colon + 1), 16),
                                    Long.parseUnsignedLong(fields[4]),
                                    fields.length < FIELDS ? "" : fields[5]));
                } catch (NumberFormatException e) {
                    // A line that was cut off.
                    continue;
                }
            }
        }
        return all;
    }

    /** Whether code in it can run. */
    public boolean isExecutable() {
        return permissions.charAt(2) == 'x';
    }

    /** Its device as the kernel's {@code dev_t} halves, major in the upper 32 bits. */
    public long device() {
        return (long) major << 32 | minor & 0xffff_ffffL;
    }
}
