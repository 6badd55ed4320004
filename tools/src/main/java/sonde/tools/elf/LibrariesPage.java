package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import sonde.binary.elf.ElfFile;
import sonde.event.result.ValueOutput;
import sonde.tools.elf.LibraryResolver.NeededLibrary;
import sonde.tools.elf.LibraryResolver.ResolvedLibraries;
import sonde.tools.elf.MissingSymbols.MissingSymbol;

/** The libraries that would be loaded, as ldd shows them, without running anything. */
public final class LibrariesPage implements ElfPage {
    private static final int SYMBOLS_SHOWN = 50;

    private final ElfFile elf;
    private final String path;
    private final LibraryResolver resolver;

    /**
     * @param path of the file in the resolver's root
     */
    public LibrariesPage(ElfFile elf, String path, LibraryResolver resolver) {
        this.elf = elf;
        this.path = path;
        this.resolver = resolver;
    }

    @Override
    public String key() {
        return "libraries";
    }

    private boolean isDynamic() throws IOException {
        return elf.dynamic().isPresent();
    }

    @Override
    public void text(PrintWriter out) throws IOException {
        if (!isDynamic()) {
            out.println("\tnot a dynamic executable");
            return;
        }
        ResolvedLibraries answer = resolver.resolve(path, elf);
        answer.gaps().forEach(gap -> out.println(ElfWording.name(gap)));
        if (answer.libraries().isEmpty()) {
            out.println("\tstatically linked");
        }
        String interpreter = answer.interpreter();
        boolean named = false;
        for (NeededLibrary library : answer.libraries()) {
            String at = library.path();
            boolean linker = isLinker(library);
            named |= linker;
            boolean itself = at != null && at.equals(library.name());
            String name = linker && at != null ? at : library.name();
            out.println(
                    "\t"
                            + ElfWording.name(name)
                            + (itself || linker
                                    ? ""
                                    : " => " + ElfWording.name(at == null ? library.how() : at)));
        }
        if (interpreter != null && !named && !answer.libraries().isEmpty()) {
            out.println("\t" + ElfWording.name(interpreter));
        }
        answer.symbols().stream()
                .limit(SYMBOLS_SHOWN)
                .forEach(symbol ->
                        out.println(
                                "undefined symbol: "
                                        + ElfWording.name(symbol.name())
                                        + "\t("
                                        + ElfWording.name(symbol.path())
                                        + ")"));
        int more = answer.symbols().size() - SYMBOLS_SHOWN;
        if (more > 0) {
            out.println("and " + more + " more undefined symbols; --json has them all");
        }
    }

    /** glibc's linker under its own name, not a library that it answers for. */
    private static boolean isLinker(NeededLibrary library) {
        String at = library.path();
        return library.how().equals("interpreter")
                && at != null
                && at.endsWith("/" + library.name());
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        out.beginObject();
        if (isDynamic()) {
            ResolvedLibraries answer = resolver.resolve(path, elf);
            if (answer.interpreter() != null) {
                out.field("interpreter", ElfWording.name(answer.interpreter()));
            }
            out.beginArray("libraries");
            for (NeededLibrary library : answer.libraries()) {
                out.beginObject();
                out.field("name", ElfWording.name(library.name()));
                if (library.path() != null) {
                    out.field("path", ElfWording.name(library.path()));
                }
                out.field("how", ElfWording.name(library.how()));
                out.field("needed_by", ElfWording.name(library.neededBy()));
                out.endObject();
            }
            out.endArray();
            out.beginArray("missing_versions");
            for (String gap : answer.gaps()) {
                out.value(ElfWording.name(gap));
            }
            out.endArray();
            out.beginArray("missing_symbols");
            for (MissingSymbol symbol : answer.symbols()) {
                out.beginObject();
                out.field("name", ElfWording.name(symbol.name()));
                out.field("needed_by", ElfWording.name(symbol.path()));
                out.endObject();
            }
            out.endArray();
        }
        out.endObject();
    }
}
