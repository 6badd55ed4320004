package sonde.binary.dwarf.location;

import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.section.AttributeForms;
import sonde.binary.dwarf.section.LineFiles;
import sonde.binary.dwarf.section.LineProgram;
import sonde.binary.dwarf.section.LineProgram.LineProgramUnit;
import sonde.binary.dwarf.section.ProgramRows;
import sonde.binary.dwarf.section.SectionCursor;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;

/**
 * Finds a line of source in {@code .debug_line} (DWARF versions 2 to 5, section 6.2). Nothing is
 * kept: the line programs are run until a unit has the line.
 */
public final class LineSearch {
    private static final int WINDOW = 1 << 14;
    private static final int SMALL_WINDOW = 1 << 8;

    private final ElfFile elf;
    private final SectionCursor lines;
    private final Map<String, SectionCursor> names = new HashMap<>();
    private final String file;
    private final int line;
    private final int column;
    private boolean fileSeen;

    private LineSearch(ElfFile elf, ElfSection section, String file, int line, int column)
            throws MalformedInputException {
        this.elf = elf;
        lines = cursor(section, WINDOW);
        this.file = file;
        this.line = line;
        this.column = column;
    }

    private SectionCursor cursor(ElfSection section, int window) throws MalformedInputException {
        boolean big = elf.order() == ByteOrder.BIG_ENDIAN;
        return new SectionCursor(elf.content(section), big, window);
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
        Optional<ElfSection> section = elf.section(".debug_line");
        if (section.isEmpty()) {
            return new Answer(false, false, OptionalLong.empty());
        }
        LineSearch lines = new LineSearch(elf, section.get(), file, line, column);
        OptionalLong address = OptionalLong.empty();
        long at = 0;
        while (address.isEmpty() && lines.lines.size() - at > 4) {
            lines.lines.seek(at);
            long end = lines.lines.length();
            end += lines.lines.position();
            int version = lines.lines.u16();
            if (version >= 2 && version <= 5) {
                address = lines.unit(at);
            }
            at = end;
        }
        return new Answer(true, lines.fileSeen, address);
    }

    private OptionalLong unit(long at) throws MalformedInputException {
        LineProgramUnit start = new LineProgramUnit(at, "", 8, 0);
        LineProgram program =
                new LineProgram(lines, (form, value, _, _) -> name(form, value), start);
        boolean[] wanted = wanted(program.files());
        boolean any = false;
        for (boolean one : wanted) {
            any |= one;
        }
        fileSeen |= any;
        Lowest lowest = new Lowest(wanted);
        if (any) {
            program.run(lowest);
            lowest.take(program.rows());
        }
        return lowest.address;
    }

    private String name(int form, long value) throws MalformedInputException {
        return switch (form) {
            case AttributeForms.STRING -> name(".debug_line", value);
            case AttributeForms.STRP -> name(".debug_str", value);
            case AttributeForms.LINE_STRP -> name(".debug_line_str", value);
            default -> "";
        };
    }

    private String name(String sectionName, long value) throws MalformedInputException {
        SectionCursor known = names.get(sectionName);
        if (known == null) {
            Optional<ElfSection> section = elf.section(sectionName);
            if (section.isEmpty()) {
                return "";
            }
            known = cursor(section.get(), SMALL_WINDOW);
            names.put(sectionName, known);
        }
        return known.text(value);
    }

    private boolean[] wanted(LineFiles files) throws MalformedInputException {
        boolean[] wanted = new boolean[files.count()];
        for (int i = 0; i < wanted.length; i++) {
            String path = files.path(i);
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

    /** The lowest address of the rows that are of the line. */
    private final class Lowest implements LineProgram.Sink {
        private final boolean[] wanted;
        private OptionalLong address = OptionalLong.empty();

        Lowest(boolean[] wanted) {
            this.wanted = wanted;
        }

        @Override
        public void sequence(ProgramRows rows, long end) {
            take(rows);
        }

        void take(ProgramRows rows) {
            if (rows.count() == 0 || !elf.isCode(rows.address(0))) {
                return; // the linker has left it out
            }
            for (int i = 0; i < rows.count(); i++) {
                int index = rows.file(i);
                boolean here =
                        rows.line(i) == line
                                && (column == 0 || rows.column(i) == column)
                                && index < wanted.length
                                && wanted[index];
                long at = rows.address(i);
                if (here
                        && (address.isEmpty()
                                || Long.compareUnsigned(at, address.getAsLong()) < 0)) {
                    address = OptionalLong.of(at);
                }
            }
        }
    }
}
