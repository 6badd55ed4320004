package sonde.probe.dynamic;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSymbols;
import sonde.event.NearestNames;
import sonde.symbol.CloneSuffix;
import sonde.symbol.demangle.Demangler;

/** Functions and variables of a file by name and by address, from its symbol tables. */
final class ObjectSymbols {
    private final Map<String, List<ObjectSymbol>> byName = new HashMap<>();
    private final List<ObjectSymbol> functions = new ArrayList<>();
    private final List<ObjectSymbol> objects = new ArrayList<>();

    /** A name with its addresses as stated in the file. */
    record ObjectSymbol(String name, long address, long sizeBytes, boolean isFunction) {
        boolean contains(long at) {
            return at == address || Long.compareUnsigned(at - address, sizeBytes) < 0;
        }
    }

    private ObjectSymbols() {}

    static ObjectSymbols of(List<ElfFile> files) throws MalformedInputException {
        ObjectSymbols symbols = new ObjectSymbols();
        for (ElfFile elf : files) {
            for (int table : new int[] {ElfFile.SHT_SYMTAB, ElfFile.SHT_DYNSYM}) {
                ElfSymbols found = elf.symbols(table).orElse(null);
                if (found != null) {
                    symbols.add(found);
                }
            }
        }
        Comparator<ObjectSymbol> order = (a, b) -> Long.compareUnsigned(a.address(), b.address());
        symbols.functions.sort(order);
        symbols.objects.sort(order);
        return symbols;
    }

    private void add(ElfSymbols table) {
        for (int i = 1; i < table.count(); i++) {
            int type = table.type(i);
            boolean function = type == ElfSymbols.STT_FUNC || type == ElfSymbols.STT_GNU_IFUNC;
            boolean plain = type == ElfSymbols.STT_OBJECT || type == ElfSymbols.STT_NOTYPE;
            if (!function && !plain || table.section(i) == ElfSymbols.SHN_UNDEF) {
                continue;
            }
            String name = table.name(i);
            int version = name.indexOf('@');
            String bare = version > 0 ? name.substring(0, version) : name;
            if (!bare.isEmpty()) {
                add(new ObjectSymbol(bare, table.value(i), table.size(i), function));
            }
        }
    }

    private void add(ObjectSymbol symbol) {
        List<ObjectSymbol> same = byName.computeIfAbsent(symbol.name(), _ -> new ArrayList<>(1));
        if (same.stream().noneMatch(other -> other.address() == symbol.address())) {
            same.add(symbol);
            (symbol.isFunction() ? functions : objects).add(symbol);
        }
    }

    List<ObjectSymbol> named(String name) {
        return byName.getOrDefault(name, List.of());
    }

    /** Functions of a name and their clones, else those whose symbol means it. */
    List<ObjectSymbol> functions(String name) {
        List<ObjectSymbol> named =
                functions.stream()
                        .filter(one ->
                                one.name().equals(name) || CloneSuffix.isMadeOf(one.name(), name))
                        .toList();
        return named.isEmpty()
                ? functions.stream().filter(one -> Demangler.means(one.name(), name)).toList()
                : named;
    }

    /** All names of functions, sorted. */
    List<String> functionNames() {
        return functions.stream().map(ObjectSymbol::name).distinct().sorted().toList();
    }

    /** The function that has an address; null for none. */
    @Nullable ObjectSymbol functionAt(long address) {
        return at(functions, address);
    }

    /** The variable that has an address; null for none. */
    @Nullable ObjectSymbol objectAt(long address) {
        return at(objects, address);
    }

    /** The nearest function at or before an address whose name fits; null for none. */
    @Nullable ObjectSymbol before(long address, Predicate<String> fits) {
        ObjectSymbol found = null;
        for (ObjectSymbol one : functions) {
            if (Long.compareUnsigned(one.address(), address) <= 0 && fits.test(one.name())) {
                found = one;
            }
        }
        return found;
    }

    private static @Nullable ObjectSymbol at(List<ObjectSymbol> sorted, long address) {
        int low = 0;
        int high = sorted.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (Long.compareUnsigned(sorted.get(middle).address(), address) <= 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        // Several names may begin at one address: the shortest without a dot is the plain one.
        for (int i = high; i >= 0 && i > high - 16; i--) {
            if (sorted.get(i).contains(address)) {
                return sorted.get(i);
            }
        }
        return null;
    }

    /** Names, for messages. */
    List<String> near(String name) {
        return NearestNames.near(
                name, functionNames().stream().map(Demangler::functionName).toList());
    }
}
