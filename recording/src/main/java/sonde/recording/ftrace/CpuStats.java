package sonde.recording.ftrace;

/**
 * {@code per_cpu/cpuN/stats} of an instance.
 *
 * @param entries in the ring, not read yet
 * @param overrun overwritten before they were read
 * @param commitOverrun lost because an interrupting writer outran the ring
 * @param dropped not taken because the ring was full (option overwrite off)
 * @param read taken out
 */
public record CpuStats(long entries, long overrun, long commitOverrun, long dropped, long read) {
    /** Reads the file's text; lines not known are skipped, missing ones count as 0. */
    public static CpuStats parse(String text) {
        long entries = 0;
        long overrun = 0;
        long commitOverrun = 0;
        long dropped = 0;
        long read = 0;
        for (String line : text.split("\n")) {
            int colon = line.lastIndexOf(':');
            String number = colon < 0 ? "" : line.substring(colon + 1).strip();
            if (!number.matches("\\d{1,18}")) {
                continue;
            }
            long value = Long.parseLong(number);
            switch (line.substring(0, colon)) {
                case "entries" -> entries = value;
                case "overrun" -> overrun = value;
                case "commit overrun" -> commitOverrun = value;
                case "dropped events" -> dropped = value;
                case "read events" -> read = value;
                default -> {
                    // bytes, oldest event ts, now ts
                }
            }
        }
        return new CpuStats(entries, overrun, commitOverrun, dropped, read);
    }
}
