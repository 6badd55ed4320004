package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.bpf.inventory.BtfSources;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.event.result.ValueOutput;
import sonde.symbol.ctype.BtfSourceTypes;
import sonde.symbol.ctype.DwarfSourceTypes;
import sonde.symbol.files.Attempt;
import sonde.symbol.files.DebugFile;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.OpenDebug;
import sonde.symbol.files.OpenElf;
import sonde.symbol.files.RequiredContent;
import sonde.symbol.files.SearchFolders;
import sonde.tools.elf.ElfRequest.ElfPageKind;
import sonde.tools.report.NothingMatchesException;
import sonde.view.TextEscape;

/** Shows what is in an ELF file. */
public final class ElfRecipe {
    private static final int TEXT_LIMIT = 1 << 16;

    /** Places tried that are told. */
    private static final int PLACES_SHOWN = 4;

    private final Path file;
    private final ElfRequest request;
    private final FilePlace place;
    private final Consumer<String> progress;
    private final DebugSearch search;
    private boolean whole = true;

    /**
     * Shows a file.
     *
     * @param progress is told what is missing of types
     */
    public ElfRecipe(Path file, ElfRequest request, Consumer<String> progress) {
        this.file = file;
        this.request = request;
        this.place = FilePlace.named(file.toString());
        this.progress = progress;
        this.search =
                new DebugSearch(
                        SearchFolders.here()
                                .withUser(request.symbolFolders())
                                .withServers(request.servers()));
    }

    /**
     * The pages; the file is opened while they are written. A page that meets damage says so, and
     * the next one follows.
     *
     * <p>Writing them throws a NoSuchFileException when there is no such file, a {@link
     * MalformedInputException} when it is not an ELF file, and a {@link NothingMatchesException}
     * when it has no type of a name.
     *
     * @param named whether the lines begin with the name of the file
     */
    public Result result(boolean named) {
        return new Document(
                out -> show(pages -> values(pages, out)),
                Listing.ofLines(out -> {
                    if (named) {
                        out.println();
                        out.println("File: " + TextEscape.line(file.toString()));
                    }
                    show(pages -> lines(pages, out));
                }));
    }

    /** Whether nothing was damaged; known when the result is written. */
    public boolean isWhole() {
        return whole;
    }

    /** What is done with pages while the file is open. */
    private interface Showing {
        void of(List<ElfPage> pages) throws IOException;
    }

    private void show(Showing showing) throws IOException {
        if (!Files.exists(file)) {
            throw new NoSuchFileException(file.toString());
        }
        if (!request.types().isEmpty() && !isElf()) {
            showing.of(types());
            return;
        }
        try (OpenElf open = OpenElf.asIs(place)) {
            List<ElfPage> pages = new ArrayList<>(pages(open));
            if (!request.types().isEmpty()) {
                pages.addAll(types());
            }
            showing.of(pages);
            whole &= open.elf().problems().isEmpty();
        } catch (InternalError e) {
            throw MalformedInputException.shrunk(e);
        }
    }

    private boolean isElf() {
        try (OpenElf open = OpenElf.asIs(place)) {
            return open.elf().sizeBytes() > 0;
        } catch (IOException e) {
            return false;
        }
    }

    private List<ElfPage> pages(OpenElf open) {
        ElfFile elf = open.elf();
        boolean own = request.sysroot().isEmpty();
        String environment = own ? System.getenv().getOrDefault("LD_LIBRARY_PATH", "") : "";
        String preload = own ? System.getenv().getOrDefault("LD_PRELOAD", "") : "";
        LibraryResolver resolver = new LibraryResolver(request.sysroot(), environment, preload);
        String path = pathInRoot();
        if (request.parts().isEmpty() && request.types().isEmpty()) {
            return List.of(new SummaryPage(open, path, search, resolver));
        }
        List<ElfPage> pages = new ArrayList<>();
        for (ElfPageKind part : ElfPageKind.values()) {
            if (request.parts().contains(part)) {
                pages.add(
                        switch (part) {
                            case HEADER -> new HeaderPage(elf);
                            case SEGMENTS -> new SegmentsPage(elf);
                            case SECTIONS -> new SectionsPage(elf);
                            case DYNAMIC -> new DynamicPage(elf);
                            case LIBRARIES -> new LibrariesPage(elf, path, resolver);
                            case NOTES -> new NotesPage(elf);
                            case SYMBOLS -> new SymbolsPage(elf);
                            case RELOCATIONS -> new RelocationsPage(elf);
                            case LINES -> new LinesPage(place, search);
                            case FRAMES -> new FramesPage(elf, place, search);
                            case STRINGS -> new StringsPage(elf, request.sections());
                            case DISASSEMBLY ->
                                    new DisassemblyPage(open, place, search, request.function());
                        });
            }
        }
        return pages;
    }

    /** The path that the file has once the sysroot is the root. */
    private String pathInRoot() {
        String absolute = file.toAbsolutePath().normalize().toString();
        if (request.sysroot().isEmpty()) {
            return absolute;
        }
        String root = Path.of(request.sysroot()).toAbsolutePath().normalize().toString();
        return absolute.startsWith(root + "/") ? absolute.substring(root.length()) : absolute;
    }

    private List<ElfPage> types() throws IOException {
        List<ElfPage> pages = new ArrayList<>();
        for (String name : request.types()) {
            CTypeLayout type = ofDwarf(name).or(() -> ofBtf(name)).orElse(null);
            if (type == null) {
                throw new NothingMatchesException(file + absence(name));
            }
            pages.add(new TypesPage(type));
        }
        return pages;
    }

    /** Why there is no type of a name; where there are none at all, the places tried are told. */
    private String absence(String name) throws IOException {
        DebugFile found = isElf() ? lookForEntries() : null;
        if (found == null || found.isFound() || hasBtf()) {
            return ": no type is called '" + name + "' in its DWARF or BTF";
        }
        List<Attempt> tried = found.tried();
        for (Attempt attempt : tried.subList(0, Math.min(PLACES_SHOWN, tried.size()))) {
            progress.accept(attempt.sentence());
        }
        if (tried.size() > PLACES_SHOWN) {
            progress.accept("and " + (tried.size() - PLACES_SHOWN) + " more places");
        }
        return " has no types: neither DWARF nor BTF. Compile with -g, or install the debug package"
                + " of the distribution";
    }

    private DebugFile lookForEntries() throws IOException {
        try (OpenElf elf = OpenElf.asIs(place);
                OpenDebug debug = OpenDebug.of(search, place, elf.elf(), RequiredContent.ENTRIES)) {
            return debug.found();
        }
    }

    private boolean hasBtf() {
        try {
            BtfSources.ofFile(file);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private Optional<CTypeLayout> ofDwarf(String name) throws IOException {
        if (!isElf()) {
            return Optional.empty();
        }
        try (OpenElf file = OpenElf.asIs(place);
                OpenDebug debug =
                        OpenDebug.of(search, place, file.elf(), RequiredContent.ENTRIES)) {
            if (!debug.found().isFound()) {
                return Optional.empty();
            }
            return TypeRecords.find(new DwarfSourceTypes(debug.entries(progress)), name);
        }
    }

    private Optional<CTypeLayout> ofBtf(String name) {
        try {
            return TypeRecords.find(new BtfSourceTypes(BtfSources.ofFile(file), Long.BYTES), name);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static void values(List<ElfPage> pages, ValueOutput out) throws IOException {
        out.beginObject();
        int types = 0;
        for (ElfPage page : pages) {
            boolean type = page instanceof TypesPage;
            if (type && types++ == 0) {
                out.beginArray("types");
            } else if (!type) {
                out.name(page.key());
            }
            page.values(out);
        }
        if (types > 0) {
            out.endArray();
        }
        out.endObject();
    }

    private void lines(List<ElfPage> pages, PrintWriter out) throws IOException {
        String line = "";
        for (ElfPage page : pages) {
            out.print(line);
            try {
                page.text(out);
            } catch (MalformedInputException e) {
                String reason = e.reason();
                String shown = reason.substring(0, Math.min(TEXT_LIMIT, reason.length()));
                out.println(page.key() + ": damaged: " + ElfWording.name(shown));
                whole = false;
            }
            line = System.lineSeparator();
        }
    }
}
