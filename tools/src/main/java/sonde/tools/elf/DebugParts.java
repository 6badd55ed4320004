package sonde.tools.elf;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.binary.dwarf.location.DebugEntries;
import sonde.binary.elf.DebugAltLink;
import sonde.binary.elf.ElfFile;
import sonde.symbol.files.DebugFile;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.FilePlace;

/** The files that a program's DWARF was split into, and whether they are there. */
final class DebugParts implements DebugEntries.SplitFiles {
    /** Files that are looked for; more are counted. */
    private static final int MOST_TRIED = 256;

    private final DebugSearch search;
    private final FilePlace binary;
    private final DebugFile dwarf;
    private Optional<Path> pack = Optional.empty();
    private Optional<Path> found = Optional.empty();
    private String missing = "";
    private int present;
    private int tried;
    private int all;

    /**
     * @param dwarf the file that has the DWARF, or the first part of it
     */
    DebugParts(DebugSearch search, FilePlace binary, DebugFile dwarf) {
        this.search = search;
        this.binary = binary;
        this.dwarf = dwarf;
    }

    /** A line for each kind of part. */
    List<String> of(ElfFile elf) throws IOException {
        List<String> lines = new ArrayList<>();
        DebugAltLink link = elf.debugAltLink().orElse(null);
        if (link != null) {
            FilePlace owner = dwarf.place();
            DebugFile shared = search.alternate(owner == null ? binary : owner, link);
            lines.add(
                    "what dwz shares among files is in "
                            + shared.path()
                                    .map(Path::toString)
                                    .orElse(link.fileName() + ", which was not found"));
        }
        DebugEntries.read(elf).join(this);
        if (all == 0) {
            return lines;
        }
        if (pack.isPresent()) {
            lines.add("split (-gsplit-dwarf): units in " + pack.get());
            return lines;
        }
        String names = found.map(path -> "; " + path + (present > 1 ? ", …" : "")).orElse("");
        lines.add(
                "split (-gsplit-dwarf): " + present + " of " + tried + " .dwo files found" + names);
        if (!missing.isEmpty()) {
            lines.add("not found: " + missing + (tried - present > 1 ? ", …" : ""));
        }
        if (all > tried) {
            lines.add("and " + (all - tried) + " .dwo files that were not looked for");
        }
        return lines;
    }

    @Override
    public Optional<ElfFile> openPackage() {
        pack = search.splitPackage(binary, dwarf).path();
        return Optional.empty();
    }

    @Override
    public Optional<ElfFile> open(String folder, String name, long id) {
        all++;
        if (pack.isPresent() || all > MOST_TRIED || name.indexOf('\0') >= 0) {
            return Optional.empty();
        }
        tried++;
        Optional<Path> path = search.splitUnit(binary, folder, name).path();
        present += path.isPresent() ? 1 : 0;
        found = found.or(() -> path);
        if (path.isEmpty() && missing.isEmpty()) {
            missing = name.startsWith("/") || folder.isEmpty() ? name : folder + "/" + name;
        }
        return Optional.empty();
    }
}
