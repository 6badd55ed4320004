package sonde.format.dwarf;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import sonde.format.Cursor;
import sonde.format.MalformedInputException;
import sonde.format.elf.ElfFile;
import sonde.format.elf.Section;

/**
 * Finds a line of source in {@code .debug_line} (DWARF versions 2 to 5, section 6.2). Nothing is
 * kept: the line programs are run until a unit has the line.
 */
public final class SourceLines {
    private static final int MOST_NAME = 4096;
    private static final int MOST_ENTRIES = 1 << 16;
    private static final int MOST_FORMATS = 32;
    private static final long WIDE = 0xffff_ffffL;

    private final Cursor in;
    private final ElfFile elf;
    private final String file;
    private final int line;
    private final int column;
    private final Map<String, Cursor> strings = new HashMap<>();
    private boolean wide;
    private boolean fileSeen;

    private SourceLines(ElfFile elf, Section section, String file, int line, int column)
            throws MalformedInputException {
        this.elf = elf;
        this.in = new Cursor("DWARF", elf.content(section), elf.order());
        this.file = file;
        this.line = line;
        this.column = column;
    }

    /**
     * What was found.
     *
     * @param hasLines whether the file says anything of lines
     * @param hasFile whether there is a source file of that name
     * @param address as stated in the ELF, the lowest of the first unit that has the line
     */
    public record Answer(boolean hasLines, boolean hasFile, OptionalLong address) {}

    /**
     * Looks for a line.
     *
     * @param file the last parts of its path: {@code "readline.c"}, {@code "lib/readline.c"}
     * @param column 0 for any
     * @throws MalformedInputException when a table is damaged before the line was found
     */
    public static Answer find(ElfFile elf, String file, int line, int column)
            throws MalformedInputException {
        Optional<Section> section = elf.section(".debug_line");
        if (section.isEmpty()) {
            return new Answer(false, false, OptionalLong.empty());
        }
        SourceLines lines = new SourceLines(elf, section.get(), file, line, column);
        OptionalLong address = OptionalLong.empty();
        while (address.isEmpty() && lines.in.remaining() > 4) {
            address = lines.unit();
        }
        return new Answer(true, lines.fileSeen, address);
    }

    /** The header of a unit up to its tables. */
    private record Header(
            int version, int step, int lineBase, int lineRange, int[] operands, long program) {}

    private OptionalLong unit() throws MalformedInputException {
        long length = in.u32("unit_length");
        wide = length == WIDE;
        if (wide) {
            length = in.u64("unit_length");
        }
        if (length < 0 || length > in.remaining()) {
            throw in.malformed("unit_length", length + " of " + in.remaining());
        }
        long end = in.position() + length;
        Header header = header(end);
        OptionalLong found = OptionalLong.empty();
        if (header != null) {
            boolean[] wanted = header.version() >= 5 ? newFiles() : oldFiles();
            boolean any = false;
            for (boolean one : wanted) {
                any |= one;
            }
            fileSeen |= any;
            if (any) {
                in.seek("line program", header.program());
                found = run(header, wanted, end);
            }
        }
        in.seek("next unit", end);
        return found;
    }

    /** Null for a version that is not known. */
    private @Nullable Header header(long end) throws MalformedInputException {
        int version = in.u16("version");
        if (version < 2 || version > 5) {
            return null;
        }
        if (version >= 5) {
            in.u8("address_size");
            in.u8("segment_selector_size");
        }
        long headerLength = word("header_length");
        long program = in.position() + headerLength;
        if (headerLength < 0 || program > end) {
            throw in.malformed("header_length", "" + headerLength);
        }
        int step = in.u8("minimum_instruction_length");
        if (version >= 4) {
            in.u8("maximum_operations_per_instruction");
        }
        in.u8("default_is_stmt");
        int lineBase = (byte) in.u8("line_base");
        int lineRange = in.u8("line_range");
        if (lineRange == 0) {
            throw in.malformed("line_range", "0");
        }
        int opcodeBase = in.u8("opcode_base");
        int[] operands = new int[Math.max(1, opcodeBase)];
        for (int i = 1; i < opcodeBase; i++) {
            operands[i] = in.u8("standard_opcode_lengths");
        }
        return new Header(version, step, lineBase, lineRange, operands, program);
    }

    private long word(String field) throws MalformedInputException {
        return wide ? in.u64(field) : in.u32(field);
    }

    /** Versions 2 to 4: texts up to an empty one; files count from 1, folder 0 is not named. */
    private boolean[] oldFiles() throws MalformedInputException {
        List<String> folders = new ArrayList<>();
        folders.add("");
        for (String name = name(); !name.isEmpty(); name = name()) {
            add(folders, name);
        }
        List<String> files = new ArrayList<>();
        files.add("");
        for (String name = name(); !name.isEmpty(); name = name()) {
            long folder = unsigned("directory");
            unsigned("time");
            unsigned("length");
            add(files, path(folders, folder, name));
        }
        return wanted(files);
    }

    private String name() throws MalformedInputException {
        return in.text("name", MOST_NAME);
    }

    private void add(List<String> list, String name) throws MalformedInputException {
        if (list.size() >= MOST_ENTRIES) {
            throw in.malformed("file table", "more than " + MOST_ENTRIES);
        }
        list.add(name);
    }

    /** Version 5: entries whose forms are described; both count from 0. */
    private boolean[] newFiles() throws MalformedInputException {
        List<String> folders = new ArrayList<>();
        for (Entry entry : entries()) {
            folders.add(folders.isEmpty() ? entry.name() : path(folders, 0, entry.name()));
        }
        List<String> files = new ArrayList<>();
        for (Entry entry : entries()) {
            files.add(path(folders, entry.folder(), entry.name()));
        }
        return wanted(files);
    }

    private record Entry(String name, long folder) {}

    private List<Entry> entries() throws MalformedInputException {
        int formats = in.bounded("format_count", in.u8("format_count"), MOST_FORMATS);
        long[] kinds = new long[formats];
        long[] forms = new long[formats];
        for (int i = 0; i < formats; i++) {
            kinds[i] = unsigned("content type");
            forms[i] = unsigned("form");
        }
        int count = in.bounded("count", unsigned("count"), MOST_ENTRIES);
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String name = "";
            long folder = 0;
            for (int j = 0; j < formats; j++) {
                // DW_LNCT_path 1, DW_LNCT_directory_index 2.
                if (kinds[j] == 1) {
                    name = text(forms[j]);
                } else if (kinds[j] == 2) {
                    folder = number(forms[j]);
                } else {
                    skip(forms[j]);
                }
            }
            entries.add(new Entry(name, folder));
        }
        return entries;
    }

    private String text(long form) throws MalformedInputException {
        return switch ((int) form) {
            case 0x08 -> name();
            case 0x0e -> string(".debug_str", word("DW_FORM_strp"));
            case 0x1f -> string(".debug_line_str", word("DW_FORM_line_strp"));
            default -> throw in.malformed("form of a name", "" + form);
        };
    }

    private String string(String sectionName, long offset) throws MalformedInputException {
        Cursor known = strings.get(sectionName);
        if (known == null) {
            Optional<Section> section = elf.section(sectionName);
            if (section.isEmpty()) {
                return "";
            }
            known = new Cursor("DWARF", elf.content(section.get()), elf.order());
            strings.put(sectionName, known);
        }
        known.seek(sectionName, offset);
        return known.text("name", MOST_NAME);
    }

    private long number(long form) throws MalformedInputException {
        return switch ((int) form) {
            case 0x0b -> in.u8("DW_FORM_data1");
            case 0x05 -> in.u16("DW_FORM_data2");
            case 0x06 -> in.u32("DW_FORM_data4");
            case 0x07 -> in.u64("DW_FORM_data8");
            case 0x0f -> unsigned("DW_FORM_udata");
            default -> throw in.malformed("form of a number", "" + form);
        };
    }

    private void skip(long form) throws MalformedInputException {
        switch ((int) form) {
            case 0x08, 0x0e, 0x1f -> text(form);
            case 0x1e -> in.bytes("DW_FORM_data16", 16);
            case 0x09 -> in.bytes("DW_FORM_block", unsigned("block length"));
            default -> number(form);
        }
    }

    private static String path(List<String> folders, long folder, String name) {
        String before = folder >= 0 && folder < folders.size() ? folders.get((int) folder) : "";
        return name.startsWith("/") || before.isEmpty() ? name : before + "/" + name;
    }

    private boolean[] wanted(List<String> files) {
        boolean[] wanted = new boolean[files.size()];
        for (int i = 0; i < wanted.length; i++) {
            String path = files.get(i);
            wanted[i] =
                    !path.isEmpty()
                            && (endsWith(path, file)
                                    || !path.startsWith("/") && endsWith(file, path));
        }
        return wanted;
    }

    /** Whether the last parts of a path are those of another. */
    private static boolean endsWith(String path, String tail) {
        return path.equals(tail)
                || path.endsWith(tail)
                        && (tail.startsWith("/")
                                || path.charAt(path.length() - tail.length() - 1) == '/');
    }

    /** The registers of the machine that a line program is for (section 6.2.2). */
    private final class Machine {
        private final boolean[] wanted;
        private long address;
        private long fileIndex = 1;
        private long lineNumber = 1;
        private long columnNumber;
        private long lowest = -1;

        Machine(boolean[] wanted) {
            this.wanted = wanted;
        }

        void reset() {
            address = 0;
            fileIndex = 1;
            lineNumber = 1;
            columnNumber = 0;
        }

        void row() {
            boolean here =
                    lineNumber == line
                            && (column == 0 || columnNumber == column)
                            && fileIndex >= 0
                            && fileIndex < wanted.length
                            && wanted[(int) fileIndex];
            // Address 0 is code that the linker has left out.
            if (here
                    && address != 0
                    && (lowest == -1 || Long.compareUnsigned(address, lowest) < 0)) {
                lowest = address;
            }
        }
    }

    private OptionalLong run(Header header, boolean[] wanted, long end)
            throws MalformedInputException {
        Machine machine = new Machine(wanted);
        int base = header.operands().length;
        while (in.position() < end) {
            int opcode = in.u8("opcode");
            if (opcode >= base) {
                int adjusted = opcode - base;
                machine.address += (long) (adjusted / header.lineRange()) * header.step();
                machine.lineNumber += header.lineBase() + adjusted % header.lineRange();
                machine.row();
            } else if (opcode == 0) {
                extended(machine);
            } else {
                standard(opcode, header, machine);
            }
        }
        return machine.lowest == -1 ? OptionalLong.empty() : OptionalLong.of(machine.lowest);
    }

    private void extended(Machine machine) throws MalformedInputException {
        long length = unsigned("extended opcode");
        if (length <= 0 || length > in.remaining()) {
            throw in.malformed("extended opcode", length + " bytes");
        }
        long next = in.position() + length;
        switch (in.u8("extended opcode")) {
            // DW_LNE_end_sequence, DW_LNE_set_address; others change nothing that matters here.
            case 1 -> machine.reset();
            case 2 -> machine.address = length == 9 ? in.u64("address") : in.u32("address");
            default -> {}
        }
        in.seek("extended opcode", next);
    }

    private void standard(int opcode, Header header, Machine machine)
            throws MalformedInputException {
        switch (opcode) {
            // DW_LNS_copy, advance_pc, advance_line, set_file, set_column
            case 1 -> machine.row();
            case 2 -> machine.address += unsigned("advance_pc") * header.step();
            case 3 -> machine.lineNumber += signed("advance_line");
            case 4 -> machine.fileIndex = unsigned("set_file");
            case 5 -> machine.columnNumber = unsigned("set_column");
            // negate_stmt, set_basic_block, set_prologue_end, set_epilogue_begin
            case 6, 7, 10, 11 -> {}
            // const_add_pc, fixed_advance_pc
            case 8 -> {
                int adjusted = 255 - header.operands().length;
                machine.address += (long) (adjusted / header.lineRange()) * header.step();
            }
            case 9 -> machine.address += in.u16("fixed_advance_pc");
            default -> {
                for (int i = 0; i < header.operands()[opcode]; i++) {
                    unsigned("operand");
                }
            }
        }
    }

    /** ULEB128, its low 64 bits. */
    private long unsigned(String field) throws MalformedInputException {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            int b = in.u8(field);
            value |= shift < 64 ? (long) (b & 0x7f) << shift : 0;
            if (b < 0x80) {
                return value;
            }
        }
    }

    /** SLEB128. */
    private long signed(String field) throws MalformedInputException {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            int b = in.u8(field);
            value |= shift < 64 ? (long) (b & 0x7f) << shift : 0;
            if (b < 0x80) {
                int used = shift + 7;
                return used < 64 && (b & 0x40) != 0 ? value | -1L << used : value;
            }
        }
    }
}
