package sonde.symbol.line;

import java.util.Arrays;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.code.UnitCode;

/**
 * What one unit gives to the tables. Runs are intervals, or rows, without a gap between them: units
 * lie between each other by whole runs.
 *
 * @param starts of intervals, from the base of the tables
 * @param owners node of this unit, {@link LineTables#NONE} for a gap
 * @param nodes as in the tables, parents counted in this unit
 * @param rowStarts of rows, from the base of the tables
 * @param rows as in the tables
 */
record UnitPart(int[] starts, int[] owners, int[] nodes, int[] rowStarts, int[] rows) {
    /** Whether an address is one that the unit may have. */
    interface UnitSpan {
        boolean holds(long address);
    }

    static UnitPart of(UnitCode unit, long base, TextPool texts, UnitSpan span)
            throws MalformedInputException {
        int[] starts = new int[unit.intervalCount()];
        int[] owners = new int[starts.length];
        int count = 0;
        for (int i = 0; i < starts.length; i++) {
            long delta = unit.intervalStart(i) - base;
            if (delta >= 0 && delta <= 0xffff_ffffL) {
                starts[count] = (int) delta;
                owners[count++] = unit.intervalNode(i);
            }
        }
        UnitFiles files = new UnitFiles(unit, texts);
        int[] nodes = new int[LineTables.NODE_WORDS * unit.nodeCount()];
        for (int i = 0; i < unit.nodeCount(); i++) {
            int at = LineTables.NODE_WORDS * i;
            nodes[at] = unit.parent(i);
            nodes[at + 1] = texts.add(unit.name(i));
            nodes[at + 2] = files.offset(unit.callFile(i));
            nodes[at + 3] = unit.callLine(i);
            nodes[at + 4] = unit.callColumn(i);
        }
        return rows(
                unit,
                base,
                files,
                span,
                new int[][] {Arrays.copyOf(starts, count), Arrays.copyOf(owners, count), nodes});
    }

    private static UnitPart rows(
            UnitCode unit, long base, UnitFiles files, UnitSpan span, int[][] before)
            throws MalformedInputException {
        int[] rowStarts = new int[unit.rowCount()];
        int[] rows = new int[LineTables.ROW_WORDS * rowStarts.length];
        int count = 0;
        boolean held = false;
        boolean first = true;
        for (int i = 0; i < rowStarts.length; i++) {
            long delta = unit.rowStart(i) - base;
            int file = unit.rowFile(i);
            if (first) {
                held = delta >= 0 && delta <= 0xffff_ffffL && span.holds(unit.rowStart(i));
            }
            first = file == UnitCode.NONE;
            if (held && delta <= 0xffff_ffffL) {
                int at = LineTables.ROW_WORDS * count;
                rowStarts[count++] = (int) delta;
                rows[at] = first ? LineTables.NONE : files.offset(file);
                rows[at + 1] = unit.rowLine(i);
                rows[at + 2] = unit.rowColumn(i);
            }
        }
        return new UnitPart(
                before[0],
                before[1],
                before[2],
                Arrays.copyOf(rowStarts, count),
                Arrays.copyOf(rows, LineTables.ROW_WORDS * count));
    }

    /** Files of a unit as offsets of texts. */
    private static final class UnitFiles {
        private final UnitCode unit;
        private final TextPool texts;
        private int[] offsets = new int[64];

        UnitFiles(UnitCode unit, TextPool texts) {
            this.unit = unit;
            this.texts = texts;
            Arrays.fill(offsets, LineTables.NONE);
        }

        int offset(int file) throws MalformedInputException {
            if (file < 0 || file > 1 << 20) {
                return 0;
            }
            if (file >= offsets.length) {
                int old = offsets.length;
                offsets = Arrays.copyOf(offsets, Math.max(2 * old, file + 1));
                Arrays.fill(offsets, old, offsets.length, LineTables.NONE);
            }
            if (offsets[file] == LineTables.NONE) {
                offsets[file] = texts.add(unit.path(file));
            }
            return offsets[file];
        }
    }
}
