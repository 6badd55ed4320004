package sonde.binary.dwarf.section;

import sonde.binary.MalformedInputException;

/** Where the names stand that the head of a line program has. */
public interface LineTexts {
    /**
     * A name.
     *
     * @param value as {@link AttributeForms#value} gives it; of a text in place, where it begins in
     *     the section of line programs
     * @param offsetsBase where indexes of {@code .debug_str_offsets} count from
     * @return empty for none
     */
    String text(int form, long value, long offsetsBase, int offsetBytes)
            throws MalformedInputException;
}
