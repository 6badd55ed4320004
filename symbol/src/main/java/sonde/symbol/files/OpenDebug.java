package sonde.symbol.files;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.code.DwarfCode;
import sonde.binary.dwarf.location.DebugEntries;
import sonde.binary.elf.DebugAltLink;
import sonde.binary.elf.ElfFile;

/**
 * The debugging information of a binary, open: in itself or in its separate file, with the files
 * that it is spread over: {@code .dwo} and {@code .dwp} of split units, dwz's common entries. What
 * it opens stays open until it is closed.
 */
public final class OpenDebug implements DwarfCode.Companions, AutoCloseable {
    /** Files that are open at once. */
    private static final int MOST_OPEN = 4096;

    private final DebugSearch search;
    private final FilePlace binary;
    private final ElfFile own;
    private final DebugFile found;
    private final List<OpenElf> open = new ArrayList<>();
    private @Nullable OpenElf separate;

    private OpenDebug(DebugSearch search, FilePlace binary, ElfFile own, DebugFile found) {
        this.search = search;
        this.binary = binary;
        this.own = own;
        this.found = found;
    }

    /**
     * The debug file of a binary that is open, and stays so for as long as this is used.
     *
     * @param need what the binary has itself, or its separate file
     * @throws IOException when the separate file has gone or changed since it was found
     */
    public static OpenDebug of(
            DebugSearch search, FilePlace binary, ElfFile elf, RequiredContent need)
            throws IOException {
        boolean whole = need.isMetBy(elf);
        DebugFile found =
                whole
                        ? new DebugFile(binary, DebugFile.Kind.ITSELF, List.of())
                        : search.separate(DebugFileRequest.of(binary, elf, need));
        OpenDebug debug = new OpenDebug(search, binary, elf, found);
        FilePlace other = found.place();
        if (!whole && other != null) {
            OpenElf file = OpenElf.asIs(other);
            debug.open.add(file);
            debug.separate = file;
        }
        return debug;
    }

    /** Where the debugging information lies, or which places were tried. */
    public DebugFile found() {
        return found;
    }

    /** The separate file; empty when the binary has all itself, or nothing was found. */
    public Optional<ElfFile> separate() {
        return Optional.ofNullable(separate).map(OpenElf::elf);
    }

    /** The separate file, or the binary itself where there is none. */
    public ElfFile elf() {
        return separate().orElse(own);
    }

    /**
     * The entries of the debugging information, with those that dwz shares and the units of {@code
     * .dwo} files that are there; without units when there is none.
     *
     * @param notes is told what was missing or damaged
     */
    public DebugEntries entries(Consumer<String> notes) throws IOException {
        ElfFile elf = elf().linked();
        DebugAltLink link = elf.debugAltLink().orElse(null);
        ElfFile shared = link == null ? null : supplement(link.fileName(), link.id());
        if (link != null && shared == null) {
            notes.accept("the shared types are in " + link.fileName() + ", which is not there");
        }
        DebugEntries entries =
                shared == null ? DebugEntries.read(elf) : DebugEntries.read(elf, shared);
        entries.join(
                new DebugEntries.SplitFiles() {
                    @Override
                    public Optional<ElfFile> openPackage() {
                        return Optional.ofNullable(splitPackage(notes));
                    }

                    @Override
                    public Optional<ElfFile> open(String folder, String name, long id) {
                        return Optional.ofNullable(split(folder, name, notes));
                    }
                });
        return entries;
    }

    private @Nullable ElfFile splitPackage(Consumer<String> notes) {
        try {
            return splitPackage();
        } catch (IOException e) {
            notes.accept(e.getMessage());
            return null;
        }
    }

    private @Nullable ElfFile split(String folder, String name, Consumer<String> notes) {
        try {
            return split(folder, name);
        } catch (IOException e) {
            notes.accept(name + ": " + e.getMessage());
            return null;
        }
    }

    @Override
    public synchronized @Nullable ElfFile split(String folder, String name) throws IOException {
        return isName(name) && folder.indexOf('\0') < 0
                ? keep(search.splitUnit(binary, folder, name))
                : null;
    }

    @Override
    public synchronized @Nullable ElfFile splitPackage() throws IOException {
        return keep(search.splitPackage(binary, found));
    }

    @Override
    public synchronized @Nullable ElfFile supplement(String name, byte[] buildId)
            throws IOException {
        FilePlace owner = found.place();
        return isName(name)
                ? keep(
                        search.alternate(
                                owner == null ? binary : owner, new DebugAltLink(name, buildId)))
                : null;
    }

    private static boolean isName(String name) {
        return !name.isEmpty() && name.indexOf('\0') < 0;
    }

    private @Nullable ElfFile keep(DebugFile companion) throws IOException {
        FilePlace place = companion.place();
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
