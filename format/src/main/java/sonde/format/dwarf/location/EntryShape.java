package sonde.format.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;

/**
 * What entries of one code are made of: an abbreviation (DWARF 5, 7.5.3).
 *
 * @param values those of DW_FORM_implicit_const
 * @param sibling index of DW_AT_sibling, -1 for none
 */
record EntryShape(
        int tag,
        boolean hasChildren,
        int[] attributes,
        int[] forms,
        long[] values,
        boolean hasBlocks,
        int sibling) {
    private static final int MOST = 1 << 20;
    private static final int MOST_ATTRIBUTES = 1 << 10;

    int index(int attribute) {
        for (int i = 0; i < attributes.length; i++) {
            if (attributes[i] == attribute) {
                return i;
            }
        }
        return -1;
    }

    /** A table of {@code .debug_abbrev}. */
    static final class Table {
        private EntryShape[] dense = new EntryShape[64];
        private final Map<Long, EntryShape> sparse = new HashMap<>();

        Table(MemorySegment section, ByteOrder order, long offset) throws MalformedInputException {
            EntryCursor cursor = new EntryCursor(section, order, offset, Long.MAX_VALUE);
            int count = 0;
            long code = cursor.hasMore() ? cursor.uleb() : 0;
            while (code != 0) {
                if (++count > MOST) {
                    throw cursor.malformed("too many abbreviations");
                }
                put(code, read(cursor));
                code = cursor.hasMore() ? cursor.uleb() : 0;
            }
        }

        private void put(long code, EntryShape shape) {
            if (code < 0 || code > 1 << 16) {
                sparse.put(code, shape);
                return;
            }
            if (code >= dense.length) {
                dense = Arrays.copyOf(dense, (int) Math.max(code + 1, 2L * dense.length));
            }
            dense[(int) code] = shape;
        }

        @Nullable EntryShape find(long code) {
            return code >= 0 && code < dense.length ? dense[(int) code] : sparse.get(code);
        }

        /** Whether entries of a tag refer to others by a form that may leave the unit. */
        boolean refersOutside(int tag, int attribute) {
            for (EntryShape shape : dense) {
                if (shape != null && shape.tag == tag && shape.leaves(attribute)) {
                    return true;
                }
            }
            return sparse.values().stream()
                    .anyMatch(shape -> shape.tag == tag && shape.leaves(attribute));
        }
    }

    private boolean leaves(int attribute) {
        int index = index(attribute);
        return index >= 0 && !Form.isLocalReference(forms[index]);
    }

    private static EntryShape read(EntryCursor cursor) throws MalformedInputException {
        int tag = (int) cursor.uleb();
        boolean children = cursor.u8() != 0;
        int[] attributes = new int[8];
        int[] forms = new int[8];
        long[] values = new long[8];
        int count = 0;
        boolean blocks = false;
        int sibling = -1;
        while (true) {
            int attribute = (int) cursor.uleb();
            int form = (int) cursor.uleb();
            long value = form == Form.IMPLICIT_CONST ? cursor.sleb() : 0;
            if (attribute == 0 && form == 0) {
                return new EntryShape(
                        tag,
                        children,
                        Arrays.copyOf(attributes, count),
                        Arrays.copyOf(forms, count),
                        Arrays.copyOf(values, count),
                        blocks,
                        sibling);
            }
            if (count >= MOST_ATTRIBUTES) {
                throw cursor.malformed("too many attributes");
            }
            if (count == forms.length) {
                attributes = Arrays.copyOf(attributes, 2 * count);
                forms = Arrays.copyOf(forms, 2 * count);
                values = Arrays.copyOf(values, 2 * count);
            }
            blocks |= Form.isBlock(form) || form == Form.INDIRECT;
            if (attribute == Attribute.SIBLING && Form.isLocalReference(form)) {
                sibling = count;
            }
            attributes[count] = attribute;
            forms[count] = form;
            values[count++] = value;
        }
    }
}
