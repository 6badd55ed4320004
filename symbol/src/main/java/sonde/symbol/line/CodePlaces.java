package sonde.symbol.line;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sonde.event.result.Frame;
import sonde.symbol.CodeModule;
import sonde.symbol.ModuleImages;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.demangle.Demangler;
import sonde.symbol.files.Place;

/**
 * Names the lines and the calls that were inlined at locations of {@link ProcessMaps}, all
 * locations of a file at once. What cannot be read has none.
 */
public final class CodePlaces implements AutoCloseable {
    /** Larger debugging information takes too long where nobody asked for lines. */
    public static final long QUICK_BYTES = 64L << 20;

    private static final int NAME_LIMIT = 4096;

    private final ProcessMaps maps;
    private final ModuleImages images;
    private final SourceOptions options;
    private final boolean inlines;
    private final boolean lines;
    private final long mostBytes;
    private final Map<CodeModule, Optional<SourceSymbols>> opened = new HashMap<>();

    /**
     * What is known of a location.
     *
     * @param inlined the inlined calls, innermost first, without the function in whose code they
     *     stand
     * @param file of the function's line; empty when not known or not asked for
     * @param line from 1; 0 when not known
     */
    public record Found(List<Frame> inlined, String file, int line) {
        /** Nothing is known. */
        public static final Found UNKNOWN = new Found(List.of(), "", 0);
    }

    /**
     * Nothing is opened yet.
     *
     * @param inlines whether inlined calls are wanted
     * @param lines whether lines are wanted
     * @param mostBytes of debugging information that is read for it; larger files have places only
     *     where the cache has their tables
     */
    public CodePlaces(
            ProcessMaps maps, SymbolOptions from, boolean inlines, boolean lines, long mostBytes) {
        this.maps = maps;
        this.inlines = inlines;
        this.lines = lines;
        this.mostBytes = mostBytes;
        images = new ModuleImages(from);
        options = new SourceOptions(from.search(), true);
    }

    /** The place of each location of which more than the function is known. */
    public Map<Long, Found> of(long[] locations) {
        Map<CodeModule, List<Long>> byModule = new HashMap<>();
        for (long location : locations) {
            CodeModule module = maps.module(location);
            if (module != null && module.kind() == CodeModule.Kind.FILE) {
                byModule.computeIfAbsent(module, any -> new ArrayList<>()).add(location);
            }
        }
        Map<Long, Found> all = new HashMap<>();
        byModule.forEach((module, some) -> {
            try {
                Optional<SourceSymbols> symbols = symbols(module);
                if (symbols.isPresent()) {
                    add(symbols.get(), module.shortName(), some, all);
                }
            } catch (IOException | InternalError e) {
                // InternalError: the file shrank while it was mapped. The functions are known.
                some.forEach(all::remove);
            }
        });
        return all;
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
        Optional<Place> place = images.place(module);
        if (place.isEmpty()) {
            return Optional.empty();
        }
        SourceSymbols symbols = SourceSymbols.open(place.get(), options);
        boolean quick = symbols.debugBytes() <= mostBytes || symbols.hasTables();
        if (!symbols.hasLines() || !quick) {
            symbols.close();
            return Optional.empty();
        }
        return Optional.of(symbols);
    }

    @Override
    public void close() {
        opened.values().forEach(one -> one.ifPresent(SourceSymbols::close));
        opened.clear();
    }

    private void add(SourceSymbols symbols, String module, List<Long> some, Map<Long, Found> all)
            throws IOException {
        long[] addresses = new long[some.size()];
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = symbols.elf().addressOf(ProcessMaps.offset(some.get(i)));
        }
        List<List<SourceFrame>> answers = symbols.lookup(addresses);
        Map<SourceFrame, Frame> known = new HashMap<>();
        for (int i = 0; i < addresses.length; i++) {
            Found found = found(answers.get(i), module, known);
            if (addresses[i] != -1 && !found.equals(Found.UNKNOWN)) {
                all.put(some.get(i), found);
            }
        }
    }

    private Found found(List<SourceFrame> frames, String module, Map<SourceFrame, Frame> known) {
        List<Frame> inlined = new ArrayList<>();
        for (SourceFrame one : frames) {
            if (one.inlined() && inlines) {
                inlined.add(known.computeIfAbsent(one, key -> frame(key, module)));
            }
        }
        SourceFrame function = frames.getLast();
        return lines
                ? new Found(inlined, printable(function.file()), function.line())
                : new Found(inlined, "", 0);
    }

    private Frame frame(SourceFrame call, String module) {
        String name = call.function();
        String shown = name.isEmpty() ? "[unknown]" : Demangler.demangle(name);
        Frame.Kind kind = Frame.Kind.USER;
        String file = lines ? printable(call.file()) : "";
        int line = lines ? call.line() : 0;
        return new Frame(printable(shown), printable(module), kind, true, file, line);
    }

    private static String printable(String text) {
        String some = text.substring(0, Math.min(text.length(), NAME_LIMIT));
        return some.replaceAll("\\p{Cntrl}", "?");
    }
}
