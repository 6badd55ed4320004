package sonde.symbol.line;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.code.DwarfCode;
import sonde.format.elf.DebugAltLink;
import sonde.format.elf.ElfFile;
import sonde.symbol.files.DebugFile;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.OpenElf;
import sonde.symbol.files.Place;

/**
 * Finds the files that a file's debugging information is spread over: {@code .dwo} and {@code .dwp}
 * of split units, dwz's common entries. What it opens stays open until it is closed.
 */
final class DebugCompanions implements DwarfCode.Companions, AutoCloseable {
    /** Files that are open at once. */
    private static final int MOST_OPEN = 4096;

    private final DebugSearch search;
    private final Place binary;
    private final DebugFile debug;
    private final List<OpenElf> open = new ArrayList<>();

    /**
     * @param debug where the binary's debugging information was found
     */
    DebugCompanions(DebugSearch search, Place binary, DebugFile debug) {
        this.search = search;
        this.binary = binary;
        this.debug = debug;
    }

    @Override
    public synchronized @Nullable ElfFile split(String folder, String name) throws IOException {
        return isName(name) && folder.indexOf('\0') < 0
                ? keep(search.splitUnit(binary, folder, name))
                : null;
    }

    @Override
    public synchronized @Nullable ElfFile splitPackage() throws IOException {
        return keep(search.splitPackage(binary, debug));
    }

    @Override
    public synchronized @Nullable ElfFile supplement(String name, byte[] buildId)
            throws IOException {
        Place owner = debug.place();
        return isName(name)
                ? keep(
                        search.alternate(
                                owner == null ? binary : owner, new DebugAltLink(name, buildId)))
                : null;
    }

    private static boolean isName(String name) {
        return !name.isEmpty() && name.indexOf('\0') < 0;
    }

    private @Nullable ElfFile keep(DebugFile found) throws IOException {
        Place place = found.place();
        if (place == null || open.size() >= MOST_OPEN) {
            return null;
        }
        try {
            OpenElf file = OpenElf.asIs(place);
            open.add(file);
            return file.elf();
        } catch (MalformedInputException e) {
            return null;
        }
    }

    @Override
    public synchronized void close() {
        open.forEach(OpenElf::close);
        open.clear();
    }
}
