package sonde.binary.dwarf.section;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.MalformedInputException;

/** Files of a line program (DWARF 5, 6.2.4.1); their names are read when asked for. */
public final class LineFiles {
    private static final int MOST = 1 << 20;
    private static final int MOST_FORMATS = 64;

    /** Characters of the paths that are kept: many entries may have one long name. */
    private static final int MOST_KEPT = 1 << 24;

    /** DW_LNCT_path and DW_LNCT_directory_index. */
    private static final int PATH = 1;

    private static final int DIRECTORY = 2;

    private final LineTexts texts;
    private final String folder;
    private final UnitHeader sizes;
    private final boolean five;
    private final List<long[]> folders = new ArrayList<>();
    private final Map<Integer, String> paths = new HashMap<>();
    private int kept;
    private long[] names = new long[64];
    private int[] forms = new int[64];
    private int[] places = new int[64];
    private int count;
    private long stringsBase;

    /**
     * @param folder the compiler's, where relative names begin
     * @param sizes of the numbers in the head of the program
     */
    public LineFiles(LineTexts texts, String folder, UnitHeader sizes) {
        this.texts = texts;
        this.folder = folder;
        this.sizes = sizes;
        five = sizes.version() >= 5;
        stringsBase = sizes.offsetBytes() == 8 ? 16 : 8;
    }

    public void stringsBase(long base) {
        stringsBase = base;
    }

    /** Reads the two tables of a head. */
    public void read(SectionCursor cursor) throws MalformedInputException {
        if (five) {
            table(cursor, true);
            table(cursor, false);
            return;
        }
        folders.add(new long[] {0, 0});
        while (true) {
            long from = cursor.position();
            if (cursor.u8() == 0) {
                break;
            }
            cursor.skipText();
            folder(cursor, AttributeForms.STRING, from);
        }
        add(0, 0, 0, cursor);
        while (true) {
            long from = cursor.position();
            if (cursor.u8() == 0) {
                break;
            }
            cursor.seek(from);
            named(cursor);
        }
    }

    /** An entry of the older tables, also that of DW_LNE_define_file. */
    public void named(SectionCursor cursor) throws MalformedInputException {
        long from = cursor.position();
        cursor.skipText();
        int place = cursor.smallUleb();
        cursor.skipLeb(); // modification time
        cursor.skipLeb(); // length
        add(AttributeForms.STRING, from, place, cursor);
    }

    private void folder(SectionCursor cursor, int form, long value) throws MalformedInputException {
        if (folders.size() >= MOST) {
            throw cursor.malformed("too many folders");
        }
        folders.add(new long[] {form, value});
    }

    private void add(int form, long name, int place, SectionCursor cursor)
            throws MalformedInputException {
        if (count == names.length) {
            if (count >= MOST) {
                throw cursor.malformed("too many files");
            }
            names = Arrays.copyOf(names, 2 * count);
            forms = Arrays.copyOf(forms, 2 * count);
            places = Arrays.copyOf(places, 2 * count);
        }
        names[count] = name;
        forms[count] = form;
        places[count++] = place;
    }

    private void table(SectionCursor cursor, boolean ofFolders) throws MalformedInputException {
        int columns = cursor.u8();
        if (columns > MOST_FORMATS) {
            throw cursor.malformed("too many columns");
        }
        int[] kinds = new int[columns];
        int[] columnForms = new int[columns];
        for (int i = 0; i < columns; i++) {
            kinds[i] = cursor.smallUleb();
            columnForms[i] = cursor.smallUleb();
        }
        long rows = cursor.uleb();
        for (long row = 0; row < rows && columns > 0; row++) {
            int form = 0;
            long name = 0;
            int place = 0;
            for (int i = 0; i < columns; i++) {
                if (kinds[i] == PATH) {
                    form = AttributeForms.direct(cursor, columnForms[i]);
                    name = AttributeForms.value(cursor, form, 0, sizes);
                } else if (kinds[i] == DIRECTORY) {
                    long value = AttributeForms.value(cursor, columnForms[i], 0, sizes);
                    place = Math.clamp(value, 0, MOST);
                } else {
                    // MD5, sizes, times, embedded source
                    AttributeForms.skip(cursor, columnForms[i], sizes);
                }
            }
            if (ofFolders) {
                folder(cursor, form, name);
            } else {
                add(form, name, place, cursor);
            }
        }
    }

    /** Number of entries. */
    public int count() {
        return count;
    }

    /** The whole path of a file by its index, as the program counts; empty for none. */
    public String path(int index) throws MalformedInputException {
        if (index < 0 || index >= count) {
            return "";
        }
        String known = paths.get(index);
        if (known == null) {
            String name = text(forms[index], names[index]);
            known = name.isEmpty() ? "" : join(folder(places[index]), name);
            if (kept > MOST_KEPT) {
                paths.clear();
                kept = 0;
            }
            paths.put(index, known);
            kept += known.length() + 1;
        }
        return known;
    }

    private String folder(int index) throws MalformedInputException {
        if (index < 0 || index >= folders.size()) {
            return folder;
        }
        long[] entry = folders.get(index);
        String name = text((int) entry[0], entry[1]);
        if (index == 0) {
            // It is the compiler's folder itself, which may be relative (DWARF 5, 6.2.4).
            return five && !name.equals(folder) ? join(folder, name) : folder;
        }
        return join(five ? folder(0) : folder, name);
    }

    private String text(int form, long value) throws MalformedInputException {
        return texts.text(form, value, stringsBase, sizes.offsetBytes());
    }

    private static String join(String folder, String name) {
        if (name.isEmpty()) {
            return folder;
        }
        boolean whole = name.startsWith("/") || folder.isEmpty();
        return whole ? name : folder.endsWith("/") ? folder + name : folder + "/" + name;
    }
}
