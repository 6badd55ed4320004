package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import sonde.binary.elf.ElfFile;
import sonde.event.result.ValueOutput;
import sonde.tools.elf.LibraryResolver.Answer;
import sonde.tools.elf.LibraryResolver.Library;
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
        Answer answer = resolver.resolve(path, elf);
        answer.gaps().forEach(gap -> out.println(Forms.name(gap)));
        if (answer.libraries().isEmpty()) {
            out.println("\tstatically linked");
        }
        String interpreter = answer.interpreter();
        boolean named = false;
        for (Library library : answer.libraries()) {
            String at = library.path();
            boolean linker = isLinker(library);
            named |= linker;
            boolean itself = at != null && at.equals(library.name());
            String name = linker && at != null ? at : library.name();
            out.println(
                    "\t"
                            + Forms.name(name)
                            + (itself || linker
                                    ? ""
                                    : " => " + Forms.name(at == null ? library.how() : at)));
        }
        if (interpreter != null && !named && !answer.libraries().isEmpty()) {
            out.println("\t" + Forms.name(interpreter));
        }
        answer.symbols().stream()
                .limit(SYMBOLS_SHOWN)
                .forEach(symbol ->
                        out.println(
                                "undefined symbol: "
                                        + Forms.name(symbol.name())
                                        + "\t("
                                        + Forms.name(symbol.path())
                                        + ")"));
        int more = answer.symbols().size() - SYMBOLS_SHOWN;
        if (more > 0) {
            out.println("and " + more + " more undefined symbols; --json has them all");
        }
    }

    /** glibc's linker under its own name, not a library that it answers for. */
    private static boolean isLinker(Library library) {
        String at = library.path();
        return library.how().equals("interpreter")
                && at != null
                && at.endsWith("/" + library.name());
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        out.beginObject();
        if (isDynamic()) {
            Answer answer = resolver.resolve(path, elf);
            if (answer.interpreter() != null) {
                out.field("interpreter", Forms.name(answer.interpreter()));
            }
            out.beginArray("libraries");
            for (Library library : answer.libraries()) {
                out.beginObject();
                out.field("name", Forms.name(library.name()));
                if (library.path() != null) {
                    out.field("path", Forms.name(library.path()));
                }
                out.field("how", Forms.name(library.how()));
                out.field("needed_by", Forms.name(library.neededBy()));
                out.endObject();
            }
            out.endArray();
            out.beginArray("missing_versions");
            for (String gap : answer.gaps()) {
                out.value(Forms.name(gap));
            }
            out.endArray();
            out.beginArray("missing_symbols");
            for (MissingSymbol symbol : answer.symbols()) {
                out.beginObject();
                out.field("name", Forms.name(symbol.name()));
                out.field("needed_by", Forms.name(symbol.path()));
                out.endObject();
            }
            out.endArray();
        }
        out.endObject();
    }
}
