package sonde.recording.text;

import org.jspecify.annotations.Nullable;

/**
 * Lines of {@code kprobe_profile} ({@code " %-44s %15lu %15lu"}: event, hits, misses) and {@code
 * uprobe_profile} ({@code " %s %-44s %15lu"}: file, event, hits) of tracefs
 * (probes_profile_seq_show of kernel/trace/trace_kprobe.c and trace_uprobe.c).
 */
final class ProfileItems extends CountItems {
    private static final int NAME_COLUMNS = 44;
    private static final int NUMBER_COLUMNS = 15;
    private static final byte[] EVENT = KeyValueTokens.bytes("event");
    private static final byte[] FILE = KeyValueTokens.bytes("file");
    private static final byte[] HITS = KeyValueTokens.bytes("hits");
    private static final byte[] MISSES = KeyValueTokens.bytes("misses");

    private final LineScan scan = new LineScan();

    ProfileItems(CountText model, LineWindow lines) {
        super(model, lines);
    }

    /** The columns of a line. */
    private static final class Columns {
        private int nameFrom;
        private int nameTo;
        private int fileTo;
        private int hitsFrom;
        private int hitsTo;
        private int missesFrom = -1;
    }

    static boolean is(byte[] b, int from, int to) {
        return columns(b, from, to) != null;
    }

    private static @Nullable Columns columns(byte[] b, int from, int to) {
        int last = number(b, from, to);
        if (last < 0 || to - from < 2 || b[from] != ' ' || b[from + 1] != ' ') {
            return null;
        }
        Columns columns = new Columns();
        int before = number(b, from, last);
        columns.hitsFrom = before < 0 ? last : before;
        columns.hitsTo = before < 0 ? to : last;
        columns.missesFrom = before < 0 ? -1 : last;
        columns.nameTo = LineScan.trimEnd(b, from, columns.hitsFrom);
        int name = columns.nameTo;
        while (name > from + 2 && !LineScan.isBlank(b[name - 1])) {
            name--;
        }
        columns.nameFrom = name;
        columns.fileTo = LineScan.trimEnd(b, from + 2, name);
        boolean padded = name < columns.nameTo && columns.hitsFrom - name >= NAME_COLUMNS;
        boolean file = columns.fileTo > from + 2;
        return padded && file == before < 0 ? columns : null;
    }

    /** Where the blank before a number of 15 columns is; -1 where none ends there. */
    private static int number(byte[] b, int from, int to) {
        int at = to;
        while (at > from && LineScan.isDigit(b[at - 1])) {
            at--;
        }
        if (at == to || to - at > 19) {
            return -1;
        }
        int start = Math.min(at, to - NUMBER_COLUMNS);
        for (int i = start; i < at; i++) {
            if (i < from || b[i] != ' ') {
                return -1;
            }
        }
        return start > from && b[start - 1] == ' ' ? start - 1 : -1;
    }

    @Override
    Verdict parse() {
        byte[] b = lines.bytes();
        Columns columns = columns(b, lines.from, lines.to);
        if (columns == null) {
            return LineScan.trimEnd(b, lines.from, lines.to) == lines.from
                    ? Verdict.NOTHING
                    : Verdict.BAD;
        }
        lineOffset = lines.offset;
        lineBytes = lines.to - lines.from;
        tokens.pairs(b, lines.from, lines.from);
        tokens.add(EVENT, columns.nameFrom, columns.nameTo);
        if (columns.missesFrom < 0) {
            tokens.add(FILE, lines.from + 2, columns.fileTo);
        }
        scan.over(b, columns.hitsFrom, columns.hitsTo).blanks();
        tokens.add(HITS, scan.at, columns.hitsTo);
        scan.decimal();
        weight = scan.value;
        if (columns.missesFrom >= 0) {
            scan.over(b, columns.missesFrom, lines.to).blanks();
            tokens.add(MISSES, scan.at, lines.to);
        }
        return Verdict.ITEM;
    }
}
