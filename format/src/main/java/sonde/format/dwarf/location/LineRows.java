package sonde.format.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import sonde.format.MalformedInputException;

/**
 * The rows of a unit's line program (DWARF versions 2 to 5, section 6.2), in the order in which the
 * program makes them. Rows before a damage are kept.
 */
public final class LineRows {
    private static final int MOST_FILES = 1 << 18;
    private static final int MOST_FORMATS = 64;
    private static final int MOST_ROWS = 20_000_000;
    private static final int STATEMENT = 1;
    private static final int END = 2;
    private static final int PROLOGUE_END = 4;

    /** DW_LNCT_path and DW_LNCT_directory_index. */
    private static final int PATH = 1;

    private static final int DIRECTORY = 2;

    private final EntryUnit unit;
    private final List<String> folders = new ArrayList<>();
    private final List<String> files = new ArrayList<>();
    private long[] addresses = new long[256];
    private int[] lines = new int[256];
    private int[] fileIndexes = new int[256];
    private byte[] flags = new byte[256];
    private int count;

    private LineRows(EntryUnit unit) {
        this.unit = unit;
    }

    /** Of a unit; without rows when it has none. */
    public static LineRows of(EntryUnit unit) throws MalformedInputException {
        LineRows rows = new LineRows(unit);
        Entry base = unit.base();
        MemorySegment section = unit.file.addresses().section(".debug_line");
        if (base.has(Attribute.STMT_LIST) && section.byteSize() > 0) {
            long at = base.constant(Attribute.STMT_LIST, 0);
            EntryCursor cursor =
                    new EntryCursor(section, unit.file.order(), at, section.byteSize());
            try {
                rows.new Program(cursor, section).run();
            } catch (MalformedInputException e) {
                if (rows.count == 0) {
                    throw e;
                }
            }
        }
        return rows;
    }

    /** How many rows there are. */
    public int count() {
        return count;
    }

    /** As stated in the ELF. */
    public long address(int row) {
        return addresses[row];
    }

    /** From 1; 0 for code that no line made. */
    public int line(int row) {
        return lines[row];
    }

    /** The source file of a row, absolute where the compiler's folder is known. */
    public String file(int row) {
        return fileName(fileIndexes[row]);
    }

    int fileIndex(int row) {
        return fileIndexes[row];
    }

    /** Whether a stop is recommended there. */
    public boolean isStatement(int row) {
        return (flags[row] & STATEMENT) != 0;
    }

    /** Whether it only says where a run of rows ends. */
    public boolean isEnd(int row) {
        return (flags[row] & END) != 0;
    }

    /** Whether the function's frame is complete there. */
    public boolean endsPrologue(int row) {
        return (flags[row] & PROLOGUE_END) != 0;
    }

    /** The file that DW_AT_decl_file and DW_AT_call_file mean; empty for none. */
    public String fileName(long index) {
        return index >= 0 && index < files.size() ? files.get((int) index) : "";
    }

    /** All files it speaks of, with their folders. */
    public List<String> files() {
        return files;
    }

    private void add(long address, long line, long file, int flag) {
        if (count == addresses.length) {
            int more = 2 * count;
            addresses = Arrays.copyOf(addresses, more);
            lines = Arrays.copyOf(lines, more);
            fileIndexes = Arrays.copyOf(fileIndexes, more);
            flags = Arrays.copyOf(flags, more);
        }
        addresses[count] = address;
        lines[count] = Math.clamp(line, 0, Integer.MAX_VALUE);
        fileIndexes[count] = Math.clamp(file, -1, Integer.MAX_VALUE);
        flags[count++] = (byte) flag;
    }

    private static String join(String folder, String name) {
        return name.startsWith("/") || folder.isEmpty() ? name : folder + "/" + name;
    }

    /** The header and the registers of the state machine. */
    private final class Program {
        private final EntryCursor cursor;
        private final MemorySegment section;
        private int version;
        private int offsetBytes = 4;
        private int step;
        private boolean defaultStatement;
        private int lineBase;
        private int lineRange;
        private int opcodeBase;
        private int[] operands = {};
        private long end;
        private long address;
        private long file;
        private long line;
        private boolean statement;
        private boolean prologueEnd;

        Program(EntryCursor cursor, MemorySegment section) {
            this.cursor = cursor;
            this.section = section;
        }

        void run() throws MalformedInputException {
            header();
            reset();
            while (cursor.position() < end && count < MOST_ROWS) {
                int opcode = cursor.u8();
                if (opcode >= opcodeBase) {
                    int adjusted = opcode - opcodeBase;
                    address += (long) (adjusted / lineRange) * step;
                    line += lineBase + adjusted % lineRange;
                    emit(0);
                } else if (opcode == 0) {
                    extended();
                } else {
                    standard(opcode);
                }
            }
        }

        private void reset() {
            address = 0;
            file = 1;
            line = 1;
            statement = defaultStatement;
            prologueEnd = false;
        }

        private void emit(int flag) {
            add(
                    address,
                    line,
                    file,
                    flag | (statement ? STATEMENT : 0) | (prologueEnd ? PROLOGUE_END : 0));
            prologueEnd = false;
        }

        private void header() throws MalformedInputException {
            long length = cursor.u32();
            if (length == 0xffff_ffffL) {
                length = cursor.u64();
                offsetBytes = 8;
            }
            if (length < 0 || length > cursor.end() - cursor.position()) {
                throw cursor.malformed("a line table of " + length + " bytes");
            }
            end = cursor.position() + length;
            version = cursor.u16();
            if (version < 2 || version > 5) {
                throw cursor.malformed("a line table of version " + version);
            }
            cursor.skip(version >= 5 ? 2 : 0); // address_size, segment_selector_size
            long headerBytes = cursor.unsigned(offsetBytes);
            long program = cursor.position() + headerBytes;
            if (headerBytes < 0 || program > end) {
                throw cursor.malformed("a header of " + headerBytes + " bytes");
            }
            step = cursor.u8();
            cursor.skip(version >= 4 ? 1 : 0); // maximum_operations_per_instruction
            defaultStatement = cursor.u8() != 0;
            lineBase = (byte) cursor.u8();
            lineRange = Math.max(1, cursor.u8());
            opcodeBase = cursor.u8();
            operands = new int[Math.max(1, opcodeBase)];
            for (int i = 1; i < opcodeBase; i++) {
                operands[i] = cursor.u8();
            }
            String folder = unit.folder();
            if (version >= 5) {
                folders.addAll(entries(folder));
                files.addAll(entries(folder));
            } else {
                named(folder);
            }
            cursor.seek(program);
        }

        /** Before DWARF 5: texts up to an empty one; files count from 1. */
        private void named(String folder) throws MalformedInputException {
            folders.add(folder);
            for (String name = text(); !name.isEmpty(); name = text()) {
                folders.add(join(folder, name));
                bound(folders.size());
            }
            files.add(join(folder, unit.base().text(Attribute.NAME)));
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

        private void bound(int size) throws MalformedInputException {
            if (size > MOST_FILES) {
                throw cursor.malformed("too many files");
            }
        }

        private String text() throws MalformedInputException {
            long from = cursor.position();
            cursor.skipText();
            return unit.file.addresses().lineText(unit, section, Form.STRING, from);
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
            long rows = cursor.uleb();
            List<String> names = new ArrayList<>();
            for (long row = 0; row < rows && formats > 0; row++) {
                String name = "";
                long directory = -1;
                for (int i = 0; i < formats; i++) {
                    if (Form.isBlock(forms[i])) {
                        cursor.skip(Form.blockBytes(cursor, forms[i])); // MD5
                        continue;
                    }
                    long value = Form.value(cursor, forms[i], unit);
                    if (kinds[i] == PATH) {
                        name = unit.file.addresses().lineText(unit, section, forms[i], value);
                    }
                    directory = kinds[i] == DIRECTORY ? value : directory;
                }
                boolean first = folders.isEmpty() && names.isEmpty();
                String in = first || directory < 0 ? folder : folder(directory);
                names.add(join(in, name));
                bound(names.size());
            }
            return names;
        }

        /** Operations of one operand or none (6.2.5.2). */
        private void standard(int opcode) throws MalformedInputException {
            switch (opcode) {
                case 1 -> emit(0); // copy
                case 2 -> address += cursor.uleb() * step; // advance_pc
                case 3 -> line += cursor.sleb(); // advance_line
                case 4 -> file = cursor.uleb(); // set_file
                case 6 -> statement = !statement; // negate_stmt
                case 7 -> {
                    // set_basic_block
                }
                // const_add_pc: as the special opcode 255 would
                case 8 -> address += (long) ((255 - opcodeBase) / lineRange) * step;
                case 9 -> address += cursor.u16(); // fixed_advance_pc
                case 10 -> prologueEnd = true; // set_prologue_end
                default -> {
                    for (int i = 0; i < operands[opcode]; i++) {
                        cursor.uleb();
                    }
                }
            }
        }

        /** Operations that say their length (6.2.5.3). */
        private void extended() throws MalformedInputException {
            long length = cursor.uleb();
            long behind = cursor.position() + length;
            if (length <= 0 || behind > end) {
                throw cursor.malformed("an operation of " + length + " bytes");
            }
            switch (cursor.u8()) {
                case 1 -> { // end_sequence
                    emit(END);
                    reset();
                }
                case 2 -> address = cursor.unsigned((int) length - 1); // set_address
                case 3 -> file(text()); // define_file
                default -> {}
            }
            cursor.seek(behind);
        }
    }
}
