package sonde.binary.dwarf.location;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.LineFiles;
import sonde.binary.dwarf.section.LineProgram;
import sonde.binary.dwarf.section.LineProgram.LineProgramUnit;
import sonde.binary.dwarf.section.ProgramRows;
import sonde.binary.dwarf.section.SectionCursor;
import sonde.binary.elf.ElfFile;

/**
 * The rows of a unit's line program (DWARF versions 2 to 5, section 6.2), in the order in which the
 * program makes them. Rows before a damage are kept.
 */
public final class LineRows {
    private static final int WINDOW = 1 << 12;
    private static final int MOST_ROWS = 20_000_000;

    private final ProgramRows rows = new ProgramRows();
    private List<String> files = List.of();

    private final ElfFile elf;

    private LineRows(ElfFile elf) {
        this.elf = elf;
    }

    /** The rows of a unit; none when it has no line program. */
    public static LineRows of(EntryUnit unit) throws MalformedInputException {
        LineRows lines = new LineRows(unit.file.elf());
        LineProgram program = program(unit);
        if (program != null) {
            lines.run(program);
            lines.files = paths(program.files());
            if (program.version() < 5) {
                // There files count from 1; 0 is what was compiled (DWARF 4, 6.2.2).
                lines.files.set(0, join(unit.folder(), unit.base().text(DwarfAttribute.NAME)));
            }
        }
        return lines;
    }

    /**
     * The files that the head of a unit's program names, with their folders, without running it; in
     * place of one that has no name is an empty text.
     */
    public static List<String> files(EntryUnit unit) throws MalformedInputException {
        LineProgram program = program(unit);
        return program == null ? List.of() : paths(program.files());
    }

    private static @Nullable LineProgram program(EntryUnit unit) throws MalformedInputException {
        DebugEntry base = unit.base();
        DebugEntries file = unit.file.addresses();
        MemorySegment section = file.section(".debug_line");
        if (!base.has(DwarfAttribute.STMT_LIST) || section.byteSize() == 0) {
            return null;
        }
        return new LineProgram(
                new SectionCursor(section, file.isBig(), WINDOW),
                (form, value, _, _) -> file.lineText(unit, section, form, value),
                new LineProgramUnit(
                        base.constant(DwarfAttribute.STMT_LIST, 0),
                        unit.folder(),
                        unit.addressBytes(),
                        0));
    }

    private static List<String> paths(LineFiles all) throws MalformedInputException {
        List<String> paths = new ArrayList<>();
        for (int i = 0; i < all.count(); i++) {
            paths.add(all.path(i));
        }
        return paths;
    }

    private static String join(String folder, String name) {
        return name.startsWith("/") || folder.isEmpty() ? name : folder + "/" + name;
    }

    private void run(LineProgram program) throws MalformedInputException {
        try {
            program.run((sequence, end) -> {
                if (rows.count() > MOST_ROWS) {
                    throw new MalformedInputException("DWARF", "lines", -1, "too many rows");
                }
                int last = sequence.count() - 1;
                if (last >= 0) {
                    rows.addAll(sequence);
                    rows.add(end, sequence.file(last), sequence.line(last), 0, ProgramRows.END);
                }
            });
        } catch (MalformedInputException e) {
            if (rows.count() == 0 && program.rows().count() == 0) {
                throw e;
            }
        }
        rows.addAll(program.rows());
    }

    /**
     * The lowest address of a line, of code that the linker kept.
     *
     * @param path one of {@link #files}
     * @param column 0 for any
     * @return as stated in the ELF; empty for none
     */
    public OptionalLong lowest(String path, int line, int column) {
        OptionalLong lowest = OptionalLong.empty();
        boolean isLinked = false;
        for (int i = 0; i < count(); i++) {
            isLinked = i == 0 || isEnd(i - 1) ? elf.isCode(address(i)) : isLinked;
            boolean fits =
                    isLinked
                            && line(i) == line
                            && !isEnd(i)
                            && (column == 0 || column(i) == column)
                            && file(i).equals(path);
            boolean isFirst =
                    lowest.isEmpty() || Long.compareUnsigned(address(i), lowest.getAsLong()) < 0;
            if (fits && isFirst) {
                lowest = OptionalLong.of(address(i));
            }
        }
        return lowest;
    }

    /** Whether a row goes on with the line of the row before it. */
    public boolean continues(int row) {
        return row > 0
                && !isEnd(row - 1)
                && line(row) == line(row - 1)
                && file(row).equals(file(row - 1));
    }

    /** How many rows there are. */
    public int count() {
        return rows.count();
    }

    /** As stated in the ELF. */
    public long address(int row) {
        return rows.address(row);
    }

    /** From 1; 0 for code that no line made. */
    public int line(int row) {
        return Math.max(0, rows.line(row));
    }

    /** From 1; 0 where it is not said. */
    public int column(int row) {
        return rows.column(row);
    }

    /** The source file of a row, absolute where the compiler's folder is known. */
    public String file(int row) {
        return fileName(rows.file(row));
    }

    /** Whether a stop is recommended there. */
    public boolean isStatement(int row) {
        return rows.is(row, ProgramRows.STATEMENT);
    }

    /** Whether it only says where a run of rows ends. */
    public boolean isEnd(int row) {
        return rows.is(row, ProgramRows.END);
    }

    /** Whether the function's frame is complete there. */
    public boolean endsPrologue(int row) {
        return rows.is(row, ProgramRows.PROLOGUE_END);
    }

    /** The first row of those that begin at an address and make code; -1 for none. */
    public int rowAt(long address) {
        for (int i = 0; i < count(); i++) {
            if (address(i) == address && !isEnd(i) && line(i) > 0) {
                return i;
            }
        }
        return -1;
    }

    /** The file that DW_AT_decl_file and DW_AT_call_file mean; empty for none. */
    public String fileName(long index) {
        return index >= 0 && index < files.size() ? files.get((int) index) : "";
    }

    /** All files it speaks of, with their folders. */
    public List<String> files() {
        return files;
    }
}
