package sonde.binary.dwarf.section;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import sonde.binary.MalformedInputException;

/**
 * A table of {@code .debug_abbrev} (DWARF 5, 7.5.3) in two arrays: what attributes an entry has,
 * and how to come to its end without looking at them.
 */
public final class AbbreviationTable {
    /** What the walk over entries does with one. */
    public static final int OTHER = 0;

    public static final int FUNCTION = 1;
    public static final int INLINED = 2;
    public static final int SCOPE = 3;

    /** Operations of {@link #skips}: a number of bytes, or the negative of a form. */
    public static final int END = Integer.MIN_VALUE;

    /** Added to the negative of the form of DW_AT_sibling. */
    public static final int SIBLING = -0x10_0000;

    private static final int MOST = 1 << 20;
    private static final int MOST_ATTRIBUTES = 1 << 10;
    private static final int MOST_DENSE = 1 << 16;

    private final UnitHeader unit;
    private final Map<Long, Integer> sparse = new HashMap<>();
    private int[] dense = new int[64];
    private int[] specs = new int[512];
    private int specCount = 1;
    private int[] skips = new int[512];
    private int skipCount;
    private long[] constants = new long[4];
    private int constantCount;
    private final long sizeBytes;

    public AbbreviationTable(SectionCursor cursor, UnitHeader unit) throws MalformedInputException {
        this.unit = unit;
        cursor.seek(unit.abbreviations());
        read(cursor);
        sizeBytes = cursor.position() - unit.abbreviations();
        specs = Arrays.copyOf(specs, specCount);
        skips = Arrays.copyOf(skips, skipCount);
        constants = Arrays.copyOf(constants, constantCount);
    }

    private void read(SectionCursor cursor) throws MalformedInputException {
        int count = 0;
        while (cursor.position() < cursor.size()) {
            long code = cursor.uleb();
            if (code == 0) {
                return;
            }
            if (++count > MOST) {
                throw cursor.malformed("too many abbreviations");
            }
            int at = specCount;
            one(cursor);
            if (code > 0 && code < MOST_DENSE) {
                if (code >= dense.length) {
                    dense = Arrays.copyOf(dense, Math.max(2 * dense.length, (int) code + 1));
                }
                dense[(int) code] = at;
            } else {
                sparse.put(code, at);
            }
        }
    }

    /** How many bytes of the section it is. */
    long sizeBytes() {
        return sizeBytes;
    }

    /**
     * An abbreviation in {@code specs}: tag, kind and children, skips, number of places of
     * attributes, attributes up to 0.
     */
    private void one(SectionCursor cursor) throws MalformedInputException {
        int tag = cursor.smallUleb();
        boolean children = cursor.u8() != 0;
        spec(tag);
        spec(kindOf(tag) << 1 | (children ? 1 : 0));
        spec(skipCount);
        int places = specCount;
        spec(0);
        int pending = 0;
        for (int count = 0; ; count++) {
            int attribute = cursor.smallUleb();
            int form = cursor.smallUleb();
            if (form == AttributeForms.IMPLICIT_CONST) {
                constant(cursor.sleb());
            }
            if (attribute == 0 && form == 0) {
                break;
            }
            if (count >= MOST_ATTRIBUTES || form > 0xffff) {
                throw cursor.malformed("attributes that make no sense");
            }
            // A constant is found by its place: its index stands behind the attribute.
            spec(Math.min(attribute, 0x7fff) << 16 | form);
            if (form == AttributeForms.IMPLICIT_CONST) {
                spec(constantCount - 1);
            }
            int fixed = AttributeForms.fixedBytes(form, unit);
            if (attribute == 0x01 || fixed < 0) {
                skip(pending);
                pending = 0;
                skipOperation(attribute == 0x01 ? SIBLING - form : -form);
            } else {
                pending += fixed;
            }
        }
        specs[places] = specCount - places - 1;
        spec(0);
        skip(pending);
        skipOperation(END);
    }

    private static int kindOf(int tag) {
        return switch (tag) {
            case 0x2e -> FUNCTION; // subprogram
            case 0x1d -> INLINED; // inlined_subroutine
            // lexical_block, module, catch_block, try_block, namespace
            case 0x0b, 0x1e, 0x25, 0x32, 0x39 -> SCOPE;
            default -> OTHER;
        };
    }

    private void spec(int value) {
        if (specCount == specs.length) {
            specs = Arrays.copyOf(specs, 2 * specCount);
        }
        specs[specCount++] = value;
    }

    private void skip(int bytes) {
        if (bytes > 0) {
            skipOperation(bytes);
        }
    }

    private void skipOperation(int operation) {
        if (skipCount == skips.length) {
            skips = Arrays.copyOf(skips, 2 * skipCount);
        }
        skips[skipCount++] = operation;
    }

    private void constant(long value) {
        if (constantCount == constants.length) {
            constants = Arrays.copyOf(constants, 2 * constantCount);
        }
        constants[constantCount++] = value;
    }

    /** Where an abbreviation begins. */
    public int find(SectionCursor place, long code) throws MalformedInputException {
        int at;
        if (code >= 0 && code < dense.length) {
            at = dense[(int) code];
        } else {
            at = sparse.getOrDefault(code, 0);
        }
        if (at == 0) {
            throw place.malformed("there is no abbreviation " + code);
        }
        return at;
    }

    /** DW_TAG_*. */
    public int tag(int abbreviation) {
        return specs[abbreviation];
    }

    public int kind(int abbreviation) {
        return specs[abbreviation + 1] >> 1;
    }

    public boolean hasChildren(int abbreviation) {
        return (specs[abbreviation + 1] & 1) != 0;
    }

    /** The first attribute. */
    public static int first(int abbreviation) {
        return abbreviation + 4;
    }

    /** How many places its attributes take; one with a constant takes two. */
    public int places(int abbreviation) {
        return specs[abbreviation + 3];
    }

    /** How many places an attribute stands behind the first; -1 where it is not there. */
    public int index(int abbreviation, int attribute) {
        int first = first(abbreviation);
        for (int at = first; specs[at] != 0; at++) {
            if (specs[at] >>> 16 == attribute) {
                return at - first;
            }
            at += (specs[at] & 0xffff) == AttributeForms.IMPLICIT_CONST ? 1 : 0;
        }
        return -1;
    }

    /** Whether entries of a tag have an attribute by a form that may leave their unit. */
    public boolean leaves(int tag, int attribute) {
        return Arrays.stream(dense).anyMatch(at -> leaves(at, tag, attribute))
                || sparse.values().stream().anyMatch(at -> leaves(at, tag, attribute));
    }

    private boolean leaves(int abbreviation, int tag, int attribute) {
        int index =
                abbreviation > 0 && tag(abbreviation) == tag ? index(abbreviation, attribute) : -1;
        return index >= 0 && !AttributeForms.isLocal(specs[first(abbreviation) + index] & 0xffff);
    }

    /** Attribute and form, 0 behind the last. */
    public int attribute(int place) {
        return specs[place];
    }

    /** The value of the DW_FORM_implicit_const that stands at a place. */
    public long constant(int place) {
        return constants[specs[place + 1]];
    }

    /** Goes to the end of an entry; gives the value of DW_AT_sibling, 0 for none. */
    public long skip(SectionCursor cursor, int abbreviation) throws MalformedInputException {
        long sibling = 0;
        for (int i = specs[abbreviation + 2]; ; i++) {
            int operation = skips[i];
            if (operation >= 0) {
                cursor.skip(operation);
            } else if (operation == END) {
                return sibling;
            } else if (operation <= SIBLING) {
                int form = AttributeForms.direct(cursor, SIBLING - operation);
                long value = AttributeForms.value(cursor, form, 0, unit);
                sibling = AttributeForms.isLocal(form) ? value : 0;
            } else {
                AttributeForms.skip(cursor, -operation, unit);
            }
        }
    }
}
