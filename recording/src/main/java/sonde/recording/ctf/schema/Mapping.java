package sonde.recording.ctf.schema;

import java.util.List;

/** A name for values of an integer, or for bits of a bit map. */
public record Mapping(String label, List<Range> ranges) {
    public Mapping {
        ranges = List.copyOf(ranges);
    }

    /** Whether the name holds for a value. */
    public boolean contains(long value, boolean signed) {
        for (Range range : ranges) {
            if (range.contains(value, signed)) {
                return true;
            }
        }
        return false;
    }
}
