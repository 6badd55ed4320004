package sonde.recording.ftrace;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What trace-cmd calls the function at an address: the symbol before it, of any kind, from {@code
 * /proc/kallsyms}. Parsed when first asked. Where only code counts and a function's end matters,
 * {@code sonde.symbol.KernelSymbols} is asked; both read the text by {@link KallsymsText}.
 */
public final class KallsymsIndex {
    private static final int CACHE_BITS = 15;

    private final Supplier<byte[]> source;
    private final AtomicReferenceArray<FoundSymbol> found =
            new AtomicReferenceArray<>(1 << CACHE_BITS);
    private volatile @Nullable SortedSymbols index;

    /** An answer to remember; the name is null where there is no symbol. */
    private record FoundSymbol(long address, int symbol, @Nullable PackedText name) {}

    /**
     * Sorted by address.
     *
     * @param name offset of the name in the text
     */
    private record SortedSymbols(byte[] text, long[] address, int[] name) {}

    /** Symbols of that text; lines that are none are skipped. */
    public KallsymsIndex(Supplier<byte[]> kallsyms) {
        source = kallsyms;
    }

    /** Number of the symbol that covers an address, -1 for none. */
    public int find(long address) {
        return found(address).symbol;
    }

    /** Appends the name of the symbol that covers an address; false when there is none. */
    boolean appendNameAt(TextBuffer out, long address) {
        PackedText name = nameAt(address);
        if (name != null) {
            out.put(name);
        }
        return name != null;
    }

    /** The name of the symbol that covers an address; null when there is none. */
    @Nullable PackedText nameAt(long address) {
        return found(address).name;
    }

    private FoundSymbol found(long address) {
        int slot = (int) ((address * 0x9e3779b97f4a7c15L) >>> (64 - CACHE_BITS));
        FoundSymbol known = found.getPlain(slot);
        if (known == null || known.address != address) {
            int symbol = search(address);
            PackedText name = symbol < 0 ? null : new PackedText(name(symbol));
            known = new FoundSymbol(address, symbol, name);
            found.setRelease(slot, known);
        }
        return known;
    }

    private int search(long address) {
        SortedSymbols all = index();
        // Kernel addresses are "negative" on 64-bit machines; stored with the top bit flipped.
        int at = Arrays.binarySearch(all.address, address ^ Long.MIN_VALUE);
        if (at < 0) {
            at = -at - 2;
        }
        // Of several names the first in the file.
        while (at > 0 && all.address[at - 1] == all.address[at]) {
            at--;
        }
        // Behind the last symbol nothing is known.
        return at == all.address.length - 1 && at >= 0 && address(at) != address ? -1 : at;
    }

    /** Address of a symbol. */
    public long address(int symbol) {
        return index().address[symbol] ^ Long.MIN_VALUE;
    }

    /** Appends a symbol's name. */
    public void appendName(TextBuffer out, int symbol) {
        SortedSymbols all = index();
        int start = all.name[symbol];
        out.put(all.text, start, KallsymsText.nameEnd(all.text, start) - start);
    }

    /** Name of a symbol. */
    public byte[] name(int symbol) {
        SortedSymbols all = index();
        int start = all.name[symbol];
        return Arrays.copyOfRange(all.text, start, KallsymsText.nameEnd(all.text, start));
    }

    private SortedSymbols index() {
        SortedSymbols known = index;
        if (known == null) {
            synchronized (this) {
                known = index;
                if (known == null) {
                    known = parse();
                    index = known;
                }
            }
        }
        return known;
    }

    private SortedSymbols parse() {
        byte[] text = source.get();
        Collector found = new Collector(text);
        KallsymsText.forEach(text, found);
        long[] address = Arrays.copyOf(found.addresses, found.count);
        int[] name = Arrays.copyOf(found.names, found.count);
        return inKernelHalf(
                found.sorted
                        ? new SortedSymbols(text, address, name)
                        : sorted(text, address, name));
    }

    /** Takes every symbol that has an address. */
    private static final class Collector implements KallsymsText.SymbolTaker {
        private final byte[] text;
        private long[] addresses;
        private int[] names;
        private int count;
        private boolean sorted = true;

        Collector(byte[] text) {
            this.text = text;
            int guess = text.length / 40 + 16;
            addresses = new long[guess];
            names = new int[guess];
        }

        @Override
        public void symbol(long address, byte type, int name) {
            // Mapping symbols of ARM ($a, $d, $x) are no functions.
            if (address == 0 || text[name] == '$') {
                return;
            }
            if (count == names.length) {
                addresses = Arrays.copyOf(addresses, count + (count >> 1));
                names = Arrays.copyOf(names, count + (count >> 1));
            }
            addresses[count] = address ^ Long.MIN_VALUE;
            names[count] = name;
            sorted &= count == 0 || addresses[count - 1] <= addresses[count];
            count++;
        }
    }

    /** Without the offsets of per-CPU variables, which are no addresses on 64-bit kernels. */
    private static SortedSymbols inKernelHalf(SortedSymbols all) {
        int first = Arrays.binarySearch(all.address, 0);
        first = first < 0 ? -first - 1 : first;
        int count = all.address.length;
        return first == count
                ? all
                : new SortedSymbols(
                        all.text,
                        Arrays.copyOfRange(all.address, first, count),
                        Arrays.copyOfRange(all.name, first, count));
    }

    private static SortedSymbols sorted(byte[] text, long[] address, int[] name) {
        // Modules stand behind the kernel in runs of ascending addresses: merge is nearly free.
        Integer[] order = new Integer[address.length];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, (a, b) -> Long.compare(address[a], address[b]));
        long[] sortedAddress = new long[address.length];
        int[] sortedName = new int[address.length];
        for (int i = 0; i < order.length; i++) {
            sortedAddress[i] = address[order[i]];
            sortedName[i] = name[order[i]];
        }
        return new SortedSymbols(text, sortedAddress, sortedName);
    }
}
