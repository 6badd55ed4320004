package sonde.symbol.line;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import sonde.event.result.Frame;
import sonde.symbol.CodeModule;
import sonde.symbol.ModuleImages;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.demangle.Demangler;
import sonde.symbol.files.Attempt.AttemptResult;
import sonde.symbol.files.FilePlace;
import sonde.symbol.files.RequiredContent;

/**
 * Names the lines and the calls that were inlined at locations of {@link ProcessMaps}, all
 * locations of a file at once, of programs and of the kernel. What cannot be read has none.
 */
public final class CodePlaces implements AutoCloseable {
    private static final int NAME_LIMIT = 4096;

    private final ProcessMaps maps;
    private final ModuleImages images;
    private final SourceOptions options;
    private final CodeDetail detail;
    private final Supplier<KernelCode> kernel;
    private final Map<CodeModule, Optional<SourceSymbols>> opened = new HashMap<>();
    private final Map<String, Optional<KernelPart>> parts = new HashMap<>();
    private final Set<String> notes = new LinkedHashSet<>();

    /** A part of the kernel and where it was. */
    private record KernelPart(SourceSymbols symbols, KernelPlacing placing) {}

    /**
     * What is known of a location.
     *
     * @param inlined the inlined calls, innermost first, without the function in whose code they
     *     stand
     * @param file of the function's line; empty when not known or not asked for
     * @param line from 1; 0 when not known
     */
    public record FoundCode(List<Frame> inlined, String file, int line) {
        /** Nothing is known. */
        public static final FoundCode UNKNOWN = new FoundCode(List.of(), "", 0);
    }

    /**
     * Nothing is opened yet.
     *
     * @param kernel whose code addresses of the kernel are in; asked with the first of them
     */
    public CodePlaces(
            ProcessMaps maps, SymbolOptions from, CodeDetail detail, Supplier<KernelCode> kernel) {
        this.maps = maps;
        this.kernel = kernel;
        this.detail = detail;
        images = new ModuleImages(from);
        options = new SourceOptions(from.search(), true);
    }

    /** The place of each location of which more than the function is known. */
    public Map<Long, FoundCode> of(long[] locations) {
        Map<CodeModule, List<Long>> byModule = new HashMap<>();
        Map<String, List<Long>> byPart = new HashMap<>();
        for (long location : locations) {
            CodeModule module = maps.module(location);
            if (module != null && module.kind() == CodeModule.Kind.FILE) {
                byModule.computeIfAbsent(module, any -> new ArrayList<>()).add(location);
            } else if (module == null) {
                byPart.computeIfAbsent(kernel.get().part(location), any -> new ArrayList<>())
                        .add(location);
            }
        }
        Map<Long, FoundCode> all = new HashMap<>();
        byModule.forEach((module, some) -> attempt(some, all, () -> of(module, some, all)));
        byPart.forEach((part, some) -> attempt(some, all, () -> of(part, some, all)));
        return all;
    }

    /** What reads files. */
    private interface CodeReading {
        void run() throws IOException;
    }

    private static void attempt(List<Long> some, Map<Long, FoundCode> all, CodeReading reading) {
        try {
            reading.run();
        } catch (IOException | InternalError e) {
            // InternalError: the file shrank while it was mapped. The functions are known.
            some.forEach(all::remove);
        }
    }

    private void of(CodeModule module, List<Long> some, Map<Long, FoundCode> all)
            throws IOException {
        Optional<SourceSymbols> symbols = symbols(module);
        if (symbols.isPresent()) {
            long[] addresses = new long[some.size()];
            for (int i = 0; i < addresses.length; i++) {
                addresses[i] = symbols.get().elf().addressOf(ProcessMaps.offset(some.get(i)));
            }
            Frame like = new Frame("", printable(module.shortName()), Frame.Kind.USER);
            add(symbols.get(), addresses, like, some, all);
        }
    }

    private void of(String part, List<Long> some, Map<Long, FoundCode> all) throws IOException {
        Optional<KernelPart> opened = part.isEmpty() ? Optional.empty() : part(part);
        if (opened.isPresent()) {
            long[] addresses = new long[some.size()];
            for (int i = 0; i < addresses.length; i++) {
                addresses[i] = opened.get().placing().stated(some.get(i));
            }
            Frame like = new Frame("", printable(part), Frame.Kind.KERNEL);
            add(opened.get().symbols(), addresses, like, some, all);
        }
    }

    private Optional<KernelPart> part(String name) throws IOException {
        Optional<KernelPart> known = parts.get(name);
        if (known == null) {
            parts.put(name, Optional.empty());
            known = openPart(name);
            parts.put(name, known);
        }
        return known;
    }

    private Optional<KernelPart> openPart(String name) throws IOException {
        KernelCode code = kernel.get();
        Optional<FilePlace> place = code.file(name, RequiredContent.DEBUG_INFORMATION);
        Optional<SourceSymbols> symbols =
                place.isEmpty() ? Optional.empty() : open(place.get(), detail.mostKernelBytes());
        if (symbols.isEmpty()) {
            return Optional.empty();
        }
        try {
            KernelPlacing placing = code.placing(name, symbols.get());
            if (placing != null) {
                return Optional.of(new KernelPart(symbols.get(), placing));
            }
        } catch (IOException | InternalError e) {
            symbols.get().close();
            throw e;
        }
        symbols.get().close();
        return Optional.empty();
    }

    /** Why files have no lines, a line each. */
    public List<String> notes() {
        List<String> all = new ArrayList<>(notes);
        all.addAll(kernel.get().notes());
        return all.stream().map(CodePlaces::printable).distinct().toList();
    }

    private Optional<SourceSymbols> symbols(CodeModule module) throws IOException {
        Optional<SourceSymbols> known = opened.get(module);
        if (known == null) {
            opened.put(module, Optional.empty());
            known = open(module);
            opened.put(module, known);
        }
        return known;
    }

    private Optional<SourceSymbols> open(CodeModule module) throws IOException {
        Optional<FilePlace> place = images.place(module);
        return place.isEmpty() ? Optional.empty() : open(place.get(), detail.mostBytes());
    }

    private Optional<SourceSymbols> open(FilePlace place, long mostBytes) throws IOException {
        SourceSymbols symbols = SourceSymbols.open(place, options);
        symbols.debugFile().refusals().stream()
                .filter(attempt -> attempt.outcome() != AttemptResult.LACKING)
                .forEach(attempt -> notes.add(attempt.sentence()));
        try {
            boolean quick = symbols.debugBytes() <= mostBytes || symbols.hasTables();
            if (symbols.hasLines() && quick) {
                return Optional.of(symbols);
            }
        } catch (IOException | InternalError e) {
            symbols.close();
            throw e;
        }
        symbols.close();
        return Optional.empty();
    }

    @Override
    public void close() {
        opened.values().forEach(one -> one.ifPresent(SourceSymbols::close));
        opened.clear();
        parts.values().forEach(one -> one.ifPresent(part -> part.symbols().close()));
        parts.clear();
    }

    /**
     * Adds what a file says.
     *
     * @param addresses as stated in it, -1 for none
     * @param like of module and kind of its frames
     * @param some the locations of these addresses
     */
    private void add(
            SourceSymbols symbols,
            long[] addresses,
            Frame like,
            List<Long> some,
            Map<Long, FoundCode> all)
            throws IOException {
        List<List<SourceFrame>> answers = symbols.lookup(addresses);
        Map<SourceFrame, Frame> known = new HashMap<>();
        for (int i = 0; i < addresses.length; i++) {
            FoundCode found = found(answers.get(i), like, known);
            if (addresses[i] != -1 && !found.equals(FoundCode.UNKNOWN)) {
                all.put(some.get(i), found);
            }
        }
    }

    private FoundCode found(List<SourceFrame> frames, Frame like, Map<SourceFrame, Frame> known) {
        List<Frame> inlined = new ArrayList<>();
        for (SourceFrame one : frames) {
            if (one.inlined() && detail.inlines()) {
                inlined.add(known.computeIfAbsent(one, key -> frame(key, like)));
            }
        }
        SourceFrame function = frames.getLast();
        return detail.lines()
                ? new FoundCode(inlined, printable(function.file()), function.line())
                : new FoundCode(inlined, "", 0);
    }

    private Frame frame(SourceFrame call, Frame like) {
        String name = call.function();
        String shown = name.isEmpty() ? "[unknown]" : Demangler.demangle(name);
        String file = detail.lines() ? printable(call.file()) : "";
        int line = detail.lines() ? call.line() : 0;
        return new Frame(printable(shown), like.module(), like.kind(), true, file, line);
    }

    private static String printable(String text) {
        String some = text.substring(0, Math.min(text.length(), NAME_LIMIT));
        return some.replaceAll("\\p{Cntrl}", "?");
    }
}
