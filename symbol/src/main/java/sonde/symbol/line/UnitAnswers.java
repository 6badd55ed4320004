package sonde.symbol.line;

import java.util.ArrayList;
import java.util.List;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.code.UnitCode;

/** Frames of addresses from a unit that was read. */
final class UnitAnswers {
    /** Calls inlined into each other; real ones stay below 100. */
    private static final int MOST_FRAMES = 1 << 10;

    private UnitAnswers() {}

    /** Innermost first; empty when the unit says nothing of the address. */
    static List<SourceFrame> frames(UnitCode unit, long address) throws MalformedInputException {
        int node = unit.nodeAt(address);
        int row = unit.rowAt(address);
        if (node == UnitCode.NONE && row == UnitCode.NONE) {
            return List.of();
        }
        String file = row == UnitCode.NONE ? "" : unit.path(unit.rowFile(row));
        int line = row == UnitCode.NONE ? 0 : unit.rowLine(row);
        int column = row == UnitCode.NONE ? 0 : unit.rowColumn(row);
        if (node == UnitCode.NONE) {
            return List.of(new SourceFrame("", file, line, column, false));
        }
        List<SourceFrame> frames = new ArrayList<>();
        while (node != UnitCode.NONE && frames.size() < MOST_FRAMES) {
            int parent = unit.parent(node);
            boolean inlined = parent != UnitCode.NONE;
            frames.add(new SourceFrame(unit.name(node), file, line, column, inlined));
            file = unit.path(unit.callFile(node));
            line = unit.callLine(node);
            column = unit.callColumn(node);
            node = parent;
        }
        return frames;
    }
}
