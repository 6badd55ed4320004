package sonde.format.dwarf;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import sonde.format.MalformedInputException;

/** Which lines of which files a unit's instructions come from (DWARF 5, 6.2). */
public final class LineTable {
    private static final int MOST_FILES = 1 << 18;
    private static final int MOST_FORMATS = 64;

    /** Rows of one table: more than the largest unit has. */
    private static final int MOST_ROWS = 50_000_000;

    /** DW_LNCT_path and DW_LNCT_directory_index. */
    private static final int PATH = 1;

    private static final int DIRECTORY = 2;

    private final Texts texts;
    private final DwarfCursor cursor;
    private final List<String> folders = new ArrayList<>();
    private final List<String> files = new ArrayList<>();
    private int version;
    private int offsetBytes = 4;
    private int instructionBytes;
    private int lineBase;
    private int lineRange;
    private int opcodeBase;
    private int[] operands = {};
    private long program;
    private long end;

    /** Texts that forms refer to. */
    interface Texts {
        /** The text, empty for none. */
        String text(int form, long value);
    }

    /**
     * @param folder the compiler's, where relative names begin
     */
    LineTable(DwarfCursor cursor, String folder, Texts texts) throws MalformedInputException {
        this.cursor = cursor;
        this.texts = texts;
        header(folder);
    }

    private void header(String folder) throws MalformedInputException {
        long length = cursor.u32();
        if (length == 0xffff_ffffL) {
            length = cursor.u64();
            offsetBytes = 8;
        }
        if (length < 0 || length > cursor.remaining()) {
            throw cursor.malformed("a table of " + length + " bytes");
        }
        end = cursor.position() + length;
        version = cursor.u16();
        if (version < 2 || version > 5) {
            throw cursor.malformed("line table of version " + version);
        }
        if (version >= 5) {
            cursor.skip(2); // address_size, segment_selector_size
        }
        long headerBytes = cursor.offset(offsetBytes);
        program = cursor.position() + headerBytes;
        if (headerBytes < 0 || program > end) {
            throw cursor.malformed("a header of " + headerBytes + " bytes");
        }
        instructionBytes = cursor.u8();
        if (version >= 4) {
            cursor.skip(1); // maximum_operations_per_instruction: 1 but for VLIW
        }
        cursor.skip(1); // default_is_stmt
        lineBase = (byte) cursor.u8();
        lineRange = cursor.u8();
        opcodeBase = cursor.u8();
        operands = new int[Math.max(1, opcodeBase)];
        for (int i = 1; i < opcodeBase; i++) {
            operands[i] = cursor.u8();
        }
        if (version >= 5) {
            folders.addAll(entries(folder));
            files.addAll(entries(folder));
        } else {
            named(folder);
        }
    }

    /** Before DWARF 5: texts up to an empty one; files count from 1, folder 0 is the compiler's. */
    private void named(String folder) throws MalformedInputException {
        folders.add(folder);
        for (String name = text(); !name.isEmpty(); name = text()) {
            folders.add(join(folder, name));
            bound(folders.size());
        }
        files.add("");
        for (String name = text(); !name.isEmpty(); name = text()) {
            file(name);
        }
    }

    private void file(String name) throws MalformedInputException {
        long directory = cursor.uleb();
        cursor.uleb(); // modification time
        cursor.uleb(); // length
        files.add(join(folder(directory), name));
        bound(files.size());
    }

    private String folder(long index) {
        return index >= 0 && index < folders.size() ? folders.get((int) index) : "";
    }

    private void bound(int count) throws MalformedInputException {
        if (count > MOST_FILES) {
            throw cursor.malformed("too many files");
        }
    }

    private String text() throws MalformedInputException {
        long from = cursor.position();
        cursor.skipText();
        return texts.text(DieReader.STRING, from);
    }

    private static String join(String folder, String name) {
        return name.startsWith("/") || folder.isEmpty() ? name : folder + "/" + name;
    }

    /** Of DWARF 5: formats of the columns, then the rows (6.2.4.1). */
    private List<String> entries(String folder) throws MalformedInputException {
        int formats = cursor.u8();
        if (formats > MOST_FORMATS) {
            throw cursor.malformed("too many columns");
        }
        long[] kinds = new long[formats];
        int[] forms = new int[formats];
        for (int i = 0; i < formats; i++) {
            kinds[i] = cursor.uleb();
            forms[i] = (int) cursor.uleb();
        }
        long count = cursor.uleb();
        DieReader.Widths widths = new DieReader.Widths(offsetBytes, 8, version);
        List<String> names = new ArrayList<>();
        for (long row = 0; row < count && formats > 0; row++) {
            String name = "";
            long directory = -1;
            for (int i = 0; i < formats; i++) {
                long value = DieReader.value(cursor, forms[i], 0, widths);
                name = kinds[i] == PATH ? texts.text(forms[i], value) : name;
                directory = kinds[i] == DIRECTORY ? value : directory;
            }
            names.add(join(directory < 0 ? folder : folder(directory), name));
            bound(names.size());
        }
        return names;
    }

    /** The files it speaks of, with their folders. */
    public List<String> files() {
        return List.copyOf(files);
    }

    /** Where a row is. */
    private static final class Row {
        private long address;
        private long file = 1;
        private long line = 1;
        private long column;
    }

    /**
     * The lowest address of a line.
     *
     * @param path one of {@link #files}
     * @param column 0 for any
     * @return as stated in the ELF; empty for none
     */
    public OptionalLong address(String path, int line, int column) throws MalformedInputException {
        cursor.seek(program);
        long found = -1;
        Row row = new Row();
        int rows = 0;
        while (cursor.position() < end && rows < MOST_ROWS) {
            boolean isRow = false;
            int opcode = cursor.u8();
            if (opcode >= opcodeBase) {
                isRow = true;
                int adjusted = opcode - opcodeBase;
                int range = Math.max(1, lineRange);
                row.address += (long) (adjusted / range) * instructionBytes;
                row.line += lineBase + adjusted % range;
            } else if (opcode == 0) {
                row = extended(row);
            } else {
                isRow = standard(opcode, row);
            }
            if (isRow) {
                rows++;
                boolean fits =
                        row.line == line
                                && (column == 0 || row.column == column)
                                && row.file >= 0
                                && row.file < files.size()
                                && files.get((int) row.file).equals(path);
                boolean lower = found == -1 || Long.compareUnsigned(row.address, found) < 0;
                found = fits && lower ? row.address : found;
            }
        }
        return found == -1 ? OptionalLong.empty() : OptionalLong.of(found);
    }

    /** Operations of one operand or none (6.2.5.2); whether a row is made. */
    private boolean standard(int opcode, Row row) throws MalformedInputException {
        switch (opcode) {
            case 1 -> {
                return true; // copy
            }
            case 2 -> row.address += cursor.uleb() * instructionBytes; // advance_pc
            case 3 -> row.line += cursor.sleb(); // advance_line
            case 4 -> row.file = cursor.uleb(); // set_file
            case 5 -> row.column = cursor.uleb(); // set_column
            // const_add_pc: as the special opcode 255 would
            case 8 ->
                    row.address +=
                            (long) ((255 - opcodeBase) / Math.max(1, lineRange)) * instructionBytes;
            case 9 -> row.address += cursor.u16(); // fixed_advance_pc
            default -> {
                for (int i = 0; i < operands[opcode]; i++) {
                    cursor.uleb();
                }
            }
        }
        return false;
    }

    /** Operations that say their length (6.2.5.3). */
    private Row extended(Row row) throws MalformedInputException {
        long length = cursor.uleb();
        long behind = cursor.position() + length;
        if (length <= 0 || behind > end) {
            throw cursor.malformed("an operation of " + length + " bytes");
        }
        Row next = row;
        switch (cursor.u8()) {
            case 1 -> next = new Row(); // end_sequence
            case 2 -> row.address = cursor.unsigned((int) length - 1); // set_address
            case 3 -> file(text()); // define_file
            default -> {}
        }
        cursor.seek(behind);
        return next;
    }
}
