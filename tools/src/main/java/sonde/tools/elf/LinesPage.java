package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.HashMap;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.code.CodeReader;
import sonde.binary.dwarf.code.DwarfCode;
import sonde.binary.dwarf.code.UnitCode;
import sonde.event.result.ValueOutput;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.OpenDebug;
import sonde.symbol.files.OpenElf;
import sonde.symbol.files.RequiredContent;

/** The line tables: from each address on, file, line and column; of several units one by one. */
public final class LinesPage implements ElfPage {
    private final FilePlace binary;
    private final DebugSearch search;

    /** Shows the lines of a binary, in itself or in its debug file. */
    public LinesPage(FilePlace binary, DebugSearch search) {
        this.binary = binary;
        this.search = search;
    }

    @Override
    public String key() {
        return "lines";
    }

    /** Takes units and their rows. */
    private interface UnitRowsTaker {
        void unit(String compiled) throws IOException;

        void row(long address, String path, int line, int column) throws IOException;

        /** Where code ends that has lines. */
        void end(long address) throws IOException;
    }

    /** Whether there is a file that has the lines. */
    private boolean each(UnitRowsTaker taker) throws IOException {
        RequiredContent need = RequiredContent.DEBUG_INFORMATION;
        try (OpenElf file = OpenElf.asIs(binary);
                OpenDebug debug = OpenDebug.of(search, binary, file.elf(), need)) {
            if (!debug.found().isFound()) {
                return false;
            }
            DwarfCode code = DwarfCode.of(debug.elf(), debug);
            CodeReader reader = code.reader();
            for (int unit = 0; unit < code.unitCount(); unit++) {
                UnitCode read = code.mayHaveCode(unit) ? reader.read(unit, null, false) : null;
                if (read != null && read.rowCount() > 0) {
                    rows(read, taker);
                }
            }
            return true;
        }
    }

    private static void rows(UnitCode unit, UnitRowsTaker taker) throws IOException {
        Map<Integer, String> paths = new HashMap<>();
        taker.unit(ElfWording.name(unit.compiled()));
        for (int row = 0; row < unit.rowCount(); row++) {
            int file = unit.rowFile(row);
            if (file == UnitCode.NONE) {
                taker.end(unit.rowStart(row));
                continue;
            }
            String path = paths.get(file);
            if (path == null) {
                path = ElfWording.name(pathOf(unit, file));
                paths.put(file, path);
            }
            taker.row(unit.rowStart(row), path, unit.rowLine(row), unit.rowColumn(row));
        }
    }

    private static String pathOf(UnitCode unit, int file) {
        try {
            String path = unit.path(file);
            return path.isEmpty() ? "??" : path;
        } catch (MalformedInputException e) {
            return "??";
        }
    }

    @Override
    public void text(PrintWriter out) throws IOException {
        boolean found =
                each(
                        new UnitRowsTaker() {
                            @Override
                            public void unit(String compiled) {
                                out.println(compiled + ":");
                            }

                            @Override
                            public void row(long address, String path, int line, int column) {
                                out.printf(
                                        "  0x%016x  %s:%d%s%n",
                                        address, path, line, column == 0 ? "" : ":" + column);
                            }

                            @Override
                            public void end(long address) {
                                out.printf("  0x%016x  end%n", address);
                            }
                        });
        if (!found) {
            out.println(
                    "There are no line tables for this file; without options, it is said where"
                            + " they were looked for.");
        }
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        out.beginArray();
        boolean[] open = {false};
        each(
                new UnitRowsTaker() {
                    @Override
                    public void unit(String compiled) throws IOException {
                        close(out, open);
                        open[0] = true;
                        out.beginObject();
                        out.field("unit", compiled);
                        out.beginArray("rows");
                    }

                    @Override
                    public void row(long address, String path, int line, int column)
                            throws IOException {
                        out.beginObject();
                        out.field("address", ElfWording.hex(address));
                        out.field("file", path);
                        out.field("line", line);
                        out.field("column", column);
                        out.endObject();
                    }

                    @Override
                    public void end(long address) throws IOException {
                        out.beginObject();
                        out.field("address", ElfWording.hex(address));
                        out.field("end", true);
                        out.endObject();
                    }
                });
        close(out, open);
        out.endArray();
    }

    private static void close(ValueOutput out, boolean[] open) throws IOException {
        if (open[0]) {
            out.endArray();
            out.endObject();
        }
    }
}
