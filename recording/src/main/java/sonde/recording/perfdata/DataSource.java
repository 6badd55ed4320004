package sonde.recording.perfdata;

/**
 * union perf_mem_data_src (perf_event.h) as {@code perf script} words it
 * (tools/perf/util/mem-events.c, 6.1).
 */
final class DataSource {
    private static final String[] OPERATIONS = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};
    private static final String[] LEVELS = {
        "N/A",
        "HIT",
        "MISS",
        "L1",
        "LFB/MAB",
        "L2",
        "L3",
        "Local RAM",
        "Remote RAM (1 hop)",
        "Remote RAM (2 hops)",
        "Remote Cache (1 hop)",
        "Remote Cache (2 hops)",
        "I/O",
        "Uncached",
    };
    private static final String[] SNOOPS = {"N/A", "None", "Hit", "Miss", "HitM"};
    private static final String[] TLBS = {
        "N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault",
    };

    private DataSource() {}

    /** {@code "|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK N/A"}. */
    static String text(long value) {
        StringBuilder out = new StringBuilder("|OP ");
        out.append(operation(value & 0x1f));
        out.append("|LVL ").append(level(value));
        out.append("|SNP ").append(joined(SNOOPS, value >>> 19 & 0x1f, " or "));
        out.append("|TLB ").append(hitOrMiss(TLBS, value >>> 26 & 0x7f));
        long lock = value >>> 24 & 3;
        out.append("|LCK ").append((lock & 2) != 0 ? "Yes" : (lock & 1) != 0 ? "N/A" : "No");
        long blocked = value >>> 40 & 7;
        out.append("|BLK ").append((blocked & 1) != 0 || blocked == 0 ? " N/A" : "");
        out.append((blocked & 2) != 0 ? " Data" : "").append((blocked & 4) != 0 ? " Addr" : "");
        return out.toString();
    }

    private static String operation(long bits) {
        return bits == 0 ? "N/A" : joined(OPERATIONS, bits, " or ");
    }

    private static String level(long value) {
        long bits = value >>> 5 & 0x3fff;
        return bits == 0 ? "N/A" : hitOrMiss(LEVELS, bits);
    }

    /** Bits 1 and 2 say whether it was found; the others where. */
    private static String hitOrMiss(String[] names, long bits) {
        if ((bits & 1) != 0 || bits == 0) {
            return "N/A";
        }
        String where = joined(names, bits & ~7, " or ");
        String found = (bits & 2) != 0 ? " hit" : (bits & 4) != 0 ? " miss" : "";
        return where + found;
    }

    private static String joined(String[] names, long bits, String between) {
        StringBuilder out = new StringBuilder();
        for (int bit = 0; bit < names.length; bit++) {
            if ((bits >>> bit & 1) != 0) {
                out.append(out.isEmpty() ? "" : between).append(names[bit]);
            }
        }
        return out.isEmpty() ? "N/A" : out.toString();
    }
}
