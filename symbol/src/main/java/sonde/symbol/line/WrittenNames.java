package sonde.symbol.line;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.dwarf.location.FunctionCopy;
import sonde.binary.dwarf.location.FunctionSearch;
import sonde.binary.dwarf.location.SourceFunction;
import sonde.symbol.CloneSuffix;
import sonde.symbol.demangle.Demangler;
import sonde.symbol.files.OpenDebug;

/**
 * Functions by the names that people write, which are not those of linking: {@code shop::spin},
 * {@code scale<int, 3>}, {@code foo} of {@code foo.constprop.0}; those that were inlined everywhere
 * by debugging information.
 */
final class WrittenNames {
    /** Each reads all debugging information; more names than that are worth reading all of them. */
    private static final int MOST_SEARCHES = 4;

    private final OpenDebug debug;
    private final Map<String, List<String>> symbols = new HashMap<>();
    private final Map<String, List<SourceFunction>> functionsByName = new HashMap<>();
    private @Nullable FunctionSearch functions;
    private int searches;

    WrittenNames(Collection<String> linked, OpenDebug debug) {
        this.debug = debug;
        for (String symbol : linked) {
            String name = Demangler.functionName(symbol);
            add(name, symbol);
            if (!name.equals(symbol)) {
                add(Demangler.demangle(symbol), symbol);
            }
            String original = CloneSuffix.original(symbol);
            if (!original.equals(symbol)) {
                add(original, symbol);
            }
        }
    }

    private void add(String name, String symbol) {
        List<String> same = symbols.computeIfAbsent(bare(name), _ -> new ArrayList<>(1));
        if (!same.contains(symbol)) {
            same.add(symbol);
        }
    }

    /** Blanks do not count. */
    private static String bare(String name) {
        return name.indexOf(' ') < 0 ? name : name.replaceAll("\\s+", "");
    }

    /** Symbols that a name means; name spaces from the left may be left out. */
    List<String> symbols(String name) {
        String wanted = bare(name);
        List<String> found = symbols.getOrDefault(wanted, List.of());
        if (!found.isEmpty()) {
            return found;
        }
        List<String> all = new ArrayList<>();
        symbols.forEach((known, some) -> {
            if (known.endsWith(wanted)
                    && known.startsWith("::", known.length() - wanted.length() - 2)) {
                all.addAll(some);
            }
        });
        return all;
    }

    /** Where the code of a function begins, its own before copies that were inlined. */
    long[] addresses(String name) throws IOException {
        FunctionSearch known = functions;
        if (known == null) {
            known = new FunctionSearch(debug.entries(_ -> {}));
            functions = known;
        }
        if (++searches <= MOST_SEARCHES) {
            return addresses(known.named(name));
        }
        if (searches == MOST_SEARCHES + 1) {
            for (SourceFunction one : known.matching((_, _) -> true, true)) {
                String symbol = one.linkageName();
                put(one.scope() + one.name(), one);
                put(symbol.isEmpty() ? one.name() : Demangler.functionName(symbol), one);
            }
        }
        return addresses(functionsByName.getOrDefault(bare(name), List.of()));
    }

    private void put(String name, SourceFunction function) {
        List<SourceFunction> same =
                functionsByName.computeIfAbsent(bare(name), _ -> new ArrayList<>(1));
        if (!same.contains(function)) {
            same.add(function);
        }
    }

    private static long[] addresses(List<SourceFunction> functions) {
        return functions.stream()
                .flatMap(function -> function.copies().stream())
                .mapToLong(FunctionCopy::entryAddress)
                .distinct()
                .toArray();
    }
}
