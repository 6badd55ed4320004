package sonde.format.dwarf;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import sonde.format.MalformedInputException;

/** What the entries of a unit are made of: a table of {@code .debug_abbrev} (DWARF 5, 7.5.3). */
final class Abbreviations {
    private static final int MOST = 1 << 20;
    private static final int MOST_ATTRIBUTES = 1 << 10;

    /** DW_FORM_implicit_const: the value stands here. */
    private static final int IMPLICIT_CONST = 0x21;

    /** The parts of an entry; {@code values} are those of DW_FORM_implicit_const. */
    record Abbreviation(
            int tag, boolean hasChildren, int[] attributes, int[] forms, long[] values) {}

    private final Map<Long, Abbreviation> all = new HashMap<>();

    Abbreviations(MemorySegment section, ByteOrder order, long offset)
            throws MalformedInputException {
        DwarfCursor cursor = new DwarfCursor(section, order, offset, Long.MAX_VALUE);
        long code = cursor.remaining() > 0 ? cursor.uleb() : 0;
        while (code != 0) {
            if (all.size() >= MOST) {
                throw cursor.malformed("too many abbreviations");
            }
            all.put(code, one(cursor));
            code = cursor.remaining() > 0 ? cursor.uleb() : 0;
        }
    }

    private static Abbreviation one(DwarfCursor cursor) throws MalformedInputException {
        int tag = (int) cursor.uleb();
        boolean children = cursor.u8() != 0;
        int[] attributes = new int[8];
        int[] forms = new int[8];
        long[] values = new long[8];
        int count = 0;
        while (true) {
            int attribute = (int) cursor.uleb();
            int form = (int) cursor.uleb();
            long value = form == IMPLICIT_CONST ? cursor.sleb() : 0;
            if (attribute == 0 && form == 0) {
                return new Abbreviation(
                        tag,
                        children,
                        Arrays.copyOf(attributes, count),
                        Arrays.copyOf(forms, count),
                        Arrays.copyOf(values, count));
            }
            if (count >= MOST_ATTRIBUTES) {
                throw cursor.malformed("too many attributes");
            }
            if (count == forms.length) {
                attributes = Arrays.copyOf(attributes, 2 * count);
                forms = Arrays.copyOf(forms, 2 * count);
                values = Arrays.copyOf(values, 2 * count);
            }
            attributes[count] = attribute;
            forms[count] = form;
            values[count++] = value;
        }
    }

    Abbreviation find(DwarfCursor place, long code) throws MalformedInputException {
        Abbreviation found = all.get(code);
        if (found == null) {
            throw place.malformed("there is no abbreviation " + code);
        }
        return found;
    }
}
