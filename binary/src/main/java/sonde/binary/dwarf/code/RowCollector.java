package sonde.binary.dwarf.code;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.dwarf.section.LineProgram;
import sonde.binary.dwarf.section.ProgramRows;

/** Takes the rows of a line program that are of use, in the order of addresses. */
final class RowCollector implements LineProgram.Sink {
    /** A sequence as it lies in {@link #all}. */
    private record LineSequence(long start, long end, int from, int to) {}

    private final CodeLayout layout;
    private final ProgramRows into;
    private final long @Nullable [] wanted;
    private final boolean[] found;
    private final ProgramRows all = new ProgramRows();
    private final List<LineSequence> sequences = new ArrayList<>();

    /**
     * @param wanted ascending: a row is kept for each of them, and begins there; null for all rows
     */
    RowCollector(CodeLayout layout, ProgramRows into, long @Nullable [] wanted) {
        this.layout = layout;
        this.into = into;
        this.wanted = wanted;
        found = new boolean[wanted == null ? 0 : wanted.length];
    }

    @Override
    public void sequence(ProgramRows rows, long end) {
        if (rows.count() == 0) {
            return;
        }
        rows.sort();
        long start = rows.address(0);
        if (Long.compareUnsigned(start, end) >= 0 || !layout.isCode(start)) {
            return;
        }
        if (wanted == null) {
            keep(rows, start, end);
        } else {
            pick(wanted, rows, start, end);
        }
    }

    private void pick(long[] addresses, ProgramRows rows, long start, long end) {
        int at = Arrays.binarySearch(addresses, start);
        for (at = at < 0 ? -at - 1 : at; at < addresses.length; at++) {
            long address = addresses[at];
            if (Long.compareUnsigned(address, end) >= 0) {
                return;
            }
            int row = rows.floor(address);
            if (row >= 0 && !found[at]) {
                found[at] = true;
                into.add(address, rows.file(row), rows.line(row), rows.column(row), 0);
            }
        }
    }

    private void keep(ProgramRows rows, long start, long end) {
        int from = all.count();
        for (int i = 0; i < rows.count(); i++) {
            long address = rows.address(i);
            boolean last = i + 1 == rows.count() || rows.address(i + 1) != address;
            // Of several rows of one address the last one counts.
            if (last && Long.compareUnsigned(address, end) < 0) {
                all.add(rows, i);
            }
        }
        sequences.add(new LineSequence(start, end, from, all.count()));
    }

    /** Puts what was taken in order. */
    void finish() {
        if (wanted != null) {
            into.sort();
            return;
        }
        sequences.sort((a, b) -> Long.compareUnsigned(a.start, b.start));
        long covered = 0;
        boolean any = false;
        for (LineSequence one : sequences) {
            if (any && Long.compareUnsigned(one.end, covered) <= 0) {
                continue; // the same code once more
            }
            for (int i = one.from; i < one.to; i++) {
                if (!any || Long.compareUnsigned(all.address(i), covered) >= 0) {
                    into.merge(all.address(i), all.file(i), all.line(i), all.column(i));
                }
            }
            into.merge(one.end, UnitCode.NONE, 0, 0);
            covered = one.end;
            any = true;
        }
    }
}
