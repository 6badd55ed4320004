package sonde.lang.declare;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.format.dwarf.Dwarf;
import sonde.format.elf.ElfFile;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.Need;
import sonde.symbol.files.OpenDebug;
import sonde.symbol.files.OpenElf;
import sonde.symbol.files.Place;
import sonde.symbol.files.SearchFolders;

/**
 * The debugging information of a program: in itself, in a separate file, in the {@code .dwo} files
 * that it names. The files stay mapped until this is closed.
 */
final class DebugFiles implements AutoCloseable {
    private static final int MOST_SPLIT = 10_000;

    private final OpenElf program;
    private final OpenDebug debug;

    private DebugFiles(OpenElf program, OpenDebug debug) {
        this.program = program;
        this.debug = debug;
    }

    /**
     * Those of a program.
     *
     * @param folders to look in besides the usual ones; one that is not absolute also means that
     *     folder beside the program
     * @throws IOException when it is no ELF file that can be read
     */
    static DebugFiles open(Path program, List<Path> folders) throws IOException {
        Path path = program.toAbsolutePath().normalize();
        Set<String> user = new LinkedHashSet<>();
        for (Path folder : folders) {
            user.add(folder.toAbsolutePath().toString());
            user.add(path.resolveSibling(folder).toString());
        }
        Place place = Place.named(path.toString());
        OpenElf file = OpenElf.asIs(place);
        try {
            DebugSearch search = new DebugSearch(SearchFolders.here().withUser(List.copyOf(user)));
            return new DebugFiles(file, OpenDebug.of(search, place, file.elf(), Need.ENTRIES));
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /** All there is; empty when there is none. */
    List<Dwarf> all() throws IOException {
        List<Dwarf> all = new ArrayList<>();
        Dwarf own = Dwarf.read(debug.elf());
        all.add(own);
        boolean packed = false;
        for (String[] file : own.splitFiles().stream().limit(MOST_SPLIT).toList()) {
            packed |= !addSplit(() -> debug.split(file[0], file[1]), all);
        }
        if (packed) {
            addSplit(debug::splitPackage, all);
        }
        all.removeIf(Dwarf::isEmpty);
        return all;
    }

    /** Opens a file, null where there is none. */
    private interface Opener {
        @Nullable ElfFile open() throws IOException;
    }

    /** False for a file that is not there. What a damaged one has is missing, the rest is there. */
    private static boolean addSplit(Opener opener, List<Dwarf> all) {
        try {
            ElfFile file = opener.open();
            return file != null && all.add(Dwarf.readSplit(file));
        } catch (IOException e) {
            return true;
        }
    }

    @Override
    public void close() {
        debug.close();
        program.close();
    }
}
