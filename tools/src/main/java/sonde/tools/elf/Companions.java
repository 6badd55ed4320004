package sonde.tools.elf;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.format.dwarf.code.DwarfCode;
import sonde.format.elf.DebugAltLink;
import sonde.format.elf.ElfFile;
import sonde.symbol.files.DebugFile;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.OpenElf;
import sonde.symbol.files.Place;

/** Finds what a debug file is spread over, and keeps it open. */
final class Companions implements DwarfCode.Companions, AutoCloseable {
    private static final int MOST_OPEN = 4096;

    private final DebugSearch search;
    private final Place binary;
    private final DebugFile debug;
    private final List<OpenElf> open = new ArrayList<>();

    /**
     * @param debug where the binary's debugging information was found
     */
    Companions(DebugSearch search, Place binary, DebugFile debug) {
        this.search = search;
        this.binary = binary;
        this.debug = debug;
    }

    private @Nullable ElfFile keep(DebugFile found) throws IOException {
        if (!found.isFound() || open.size() >= MOST_OPEN) {
            return null;
        }
        OpenElf file = found.open();
        open.add(file);
        return file.elf();
    }

    @Override
    public @Nullable ElfFile split(String folder, String name) throws IOException {
        return keep(search.splitUnit(binary, folder, name));
    }

    @Override
    public @Nullable ElfFile splitPackage() throws IOException {
        return keep(search.splitPackage(binary, debug));
    }

    @Override
    public @Nullable ElfFile supplement(String name, byte[] buildId) throws IOException {
        Place owner = debug.place();
        return owner == null
                ? null
                : keep(search.alternate(owner, new DebugAltLink(name, buildId)));
    }

    @Override
    public void close() {
        open.forEach(OpenElf::close);
    }
}
