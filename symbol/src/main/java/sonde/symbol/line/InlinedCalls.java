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
 * Names the calls that were inlined at locations of {@link ProcessMaps}, all locations of a file at
 * once. Only debugging information that is read quickly is used: tables in the cache, or files that
 * are not large. What cannot be read has no inlined calls.
 */
public final class InlinedCalls {
    /** Larger files take too long for a report that did not ask for them. */
    private static final long MOST_BYTES = 64L << 20;

    private static final int NAME_LIMIT = 4096;

    private final ProcessMaps maps;
    private final ModuleImages images;
    private final SourceOptions options;

    /** Nothing is opened yet. */
    public InlinedCalls(ProcessMaps maps, SymbolOptions from) {
        this.maps = maps;
        images = new ModuleImages(from);
        options = new SourceOptions(from.search(), true);
    }

    /**
     * The inlined calls of each location that has any, innermost first, without the function in
     * whose code they stand.
     */
    public Map<Long, List<Frame>> of(long[] locations) {
        Map<CodeModule, List<Long>> byModule = new HashMap<>();
        for (long location : locations) {
            CodeModule module = maps.module(location);
            if (module != null && module.kind() == CodeModule.Kind.FILE) {
                byModule.computeIfAbsent(module, any -> new ArrayList<>()).add(location);
            }
        }
        Map<Long, List<Frame>> all = new HashMap<>();
        byModule.forEach((module, some) -> {
            Optional<Place> place = images.place(module);
            if (place.isPresent()) {
                try (SourceSymbols symbols = SourceSymbols.open(place.get(), options)) {
                    add(symbols, module.shortName(), some, all);
                } catch (IOException | InternalError e) {
                    // InternalError: the file shrank while it was mapped. The functions are known.
                    some.forEach(all::remove);
                }
            }
        });
        return all;
    }

    private static void add(
            SourceSymbols symbols, String module, List<Long> some, Map<Long, List<Frame>> all)
            throws IOException {
        if (!symbols.hasLines() || symbols.debugBytes() > MOST_BYTES && !symbols.hasTables()) {
            return;
        }
        long[] addresses = new long[some.size()];
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = symbols.elf().addressOf(ProcessMaps.offset(some.get(i)));
        }
        List<List<SourceFrame>> answers = symbols.lookup(addresses);
        Map<String, Frame> known = new HashMap<>();
        for (int i = 0; i < addresses.length; i++) {
            List<Frame> inlined =
                    answers.get(i).stream()
                            .filter(SourceFrame::inlined)
                            .map(SourceFrame::function)
                            .map(name -> known.computeIfAbsent(name, key -> frame(key, module)))
                            .toList();
            if (addresses[i] != -1 && !inlined.isEmpty()) {
                all.put(some.get(i), inlined);
            }
        }
    }

    private static Frame frame(String function, String module) {
        String name = function.isEmpty() ? "[unknown]" : Demangler.demangle(function);
        String shown = name.substring(0, Math.min(name.length(), NAME_LIMIT));
        return new Frame(
                shown.replaceAll("\\p{Cntrl}", "?"),
                module.replaceAll("\\p{Cntrl}", "?"),
                Frame.Kind.USER,
                true);
    }
}
