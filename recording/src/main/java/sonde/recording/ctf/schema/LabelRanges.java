package sonde.recording.ctf.schema;

import java.util.List;

/** A name for values of an integer, or for bits of a bit map. */
public record LabelRanges(String label, List<ValueRange> ranges) {
    public LabelRanges {
        ranges = List.copyOf(ranges);
    }

    /** Whether the name holds for a value. */
    public boolean contains(long value, boolean signed) {
        for (ValueRange range : ranges) {
            if (range.contains(value, signed)) {
                return true;
            }
        }
        return false;
    }
}
