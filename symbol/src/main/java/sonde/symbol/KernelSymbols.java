package sonde.symbol;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import sonde.binary.AddressOrder;
import sonde.recording.ftrace.KallsymsText;

/**
 * The kernel's functions from the text of {@code /proc/kallsyms}, whole or as kept in a recording.
 *
 * <p>A line is {@code address type name} and for modules {@code \t[module]}. The text is kept and
 * only addresses and places in it are stored: no object per symbol, names are made when asked for.
 * Symbols have no size: one reaches to the next, and the last one before another module (or the end
 * of the kernel) to the end of the page after the one it begins in.
 */
public final class KernelSymbols {
    private static final byte[] ETEXT = "_etext\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] EINITTEXT = "_einittext\n".getBytes(StandardCharsets.US_ASCII);
    private static final int NAME_LIMIT = 1024;
    private static final int PAGE = 4096;

    private final byte[] text;
    private final long[] addresses;
    private final int[] names;
    private final boolean restricted;

    private KernelSymbols(byte[] text, long[] addresses, int[] names, boolean restricted) {
        this.text = text;
        this.addresses = addresses;
        this.names = names;
        this.restricted = restricted;
    }

    /** No symbols at all. */
    public static KernelSymbols none() {
        return new KernelSymbols(new byte[0], new long[0], new int[0], false);
    }

    /** Parses the text; lines that are none of kallsyms are left out. */
    public static KernelSymbols parse(byte[] text) {
        return new KallsymsParser(text).parse();
    }

    /**
     * Whether symbols were there but all their addresses were zero: the reader of kallsyms was not
     * allowed to see them (sysctl {@code kernel.kptr_restrict}, capability CAP_SYSLOG).
     */
    public boolean isRestricted() {
        return restricted;
    }

    /** Number of distinct addresses of functions. */
    public int count() {
        return addresses.length;
    }

    /** The address of a symbol by any of its names, of modules too; 0 when there is none. */
    public long addressOf(String name) {
        long[] found = new long[1];
        KallsymsText.named(
                text, name, (address, _, _) -> found[0] = found[0] == 0 ? address : found[0]);
        return found[0];
    }

    /**
     * The functions of the kernel itself as they were in a boot in which it lay elsewhere. Where
     * modules lay then nobody knows.
     */
    public KernelSymbols moved(long bytes) {
        long[] there = new long[addresses.length];
        int[] kept = new int[addresses.length];
        int count = 0;
        for (int i = 0; i < addresses.length; i++) {
            if (module(i).equals(KernelRun.KERNEL)) {
                there[count] = addresses[i] + bytes;
                kept[count++] = names[i];
            }
        }
        return new KernelSymbols(
                text, Arrays.copyOf(there, count), Arrays.copyOf(kept, count), restricted);
    }

    /** Index of the function that holds an address, -1 when none does. */
    public int find(long address) {
        int at = AddressOrder.floor(addresses, addresses.length, address);
        if (at < 0 || isEnd(text, names[at])) {
            return -1;
        }
        return Long.compareUnsigned(address, end(at)) < 0 ? at : -1;
    }

    /** Behind a function: the next one, or where the page after its first one ends. */
    public long end(int index) {
        return index + 1 < addresses.length && sameModule(index, index + 1)
                ? addresses[index + 1]
                : (addresses[index] + PAGE - 1 & -PAGE) + PAGE;
    }

    /** Start of a function. */
    public long address(int index) {
        return addresses[index];
    }

    /** Name of a function. */
    public String name(int index) {
        int start = names[index];
        return new String(text, start, nameEnd(start) - start, StandardCharsets.UTF_8);
    }

    /** {@code "[kernel]"}, or the module in brackets as kallsyms states it: {@code "[ext4]"}. */
    public String module(int index) {
        int start = nameEnd(names[index]);
        if (start >= text.length || text[start] == '\n') {
            return KernelRun.KERNEL;
        }
        start++;
        int end = start;
        while (end < text.length && text[end] != '\n' && end - start < NAME_LIMIT) {
            end++;
        }
        return new String(text, start, end - start, StandardCharsets.UTF_8).strip();
    }

    private boolean sameModule(int a, int b) {
        int i = nameEnd(names[a]);
        int j = nameEnd(names[b]);
        while (i < text.length && j < text.length && text[i] == text[j]) {
            if (text[i] == '\n') {
                return true;
            }
            i++;
            j++;
        }
        return i >= text.length && j >= text.length;
    }

    private int nameEnd(int start) {
        int end = start;
        int limit = Math.min(text.length, start + NAME_LIMIT);
        while (end < limit && text[end] > ' ') {
            end++;
        }
        return end;
    }

    /** Whether the name marks the end of a range of code and names no function. */
    private static boolean isEnd(byte[] text, int name) {
        return startsWith(text, name, ETEXT) || startsWith(text, name, EINITTEXT);
    }

    private static boolean startsWith(byte[] text, int at, byte[] what) {
        int end = at + what.length;
        return end <= text.length && Arrays.equals(text, at, end, what, 0, what.length);
    }

    private static final class KallsymsParser {
        private final byte[] text;
        private long[] addresses;
        private int[] names;
        private int count;
        private boolean zeroSeen;

        KallsymsParser(byte[] text) {
            this.text = text;
            int guess = text.length / 64 + 16;
            addresses = new long[guess];
            names = new int[guess];
        }

        KernelSymbols parse() {
            KallsymsText.forEach(
                    text,
                    (address, type, name) -> {
                        int small = type | 0x20;
                        if (small == 't' || small == 'w') {
                            add(address, name);
                        }
                    });
            return finish();
        }

        private void add(long address, int name) {
            if (address == 0) {
                zeroSeen = true;
                return;
            }
            if (count == names.length) {
                addresses = Arrays.copyOf(addresses, count + (count >> 1));
                names = Arrays.copyOf(names, count + (count >> 1));
            }
            addresses[count] = address;
            names[count++] = name;
        }

        private KernelSymbols finish() {
            int[] order = AddressOrder.of(addresses, count);
            long[] distinct = new long[count];
            int[] chosen = new int[count];
            int kept = 0;
            for (int index : order) {
                if (kept > 0 && distinct[kept - 1] == addresses[index]) {
                    chosen[kept - 1] = better(chosen[kept - 1], names[index]);
                } else {
                    distinct[kept] = addresses[index];
                    chosen[kept++] = names[index];
                }
            }
            return new KernelSymbols(
                    text,
                    Arrays.copyOf(distinct, kept),
                    Arrays.copyOf(chosen, kept),
                    kept == 0 && zeroSeen);
        }

        /** Global before weak before local, then fewer leading underscores, then the longer. */
        private int better(int a, int b) {
            if (isEnd(text, a) || isEnd(text, b)) {
                return isEnd(text, a) ? a : b;
            }
            int order = Integer.compare(rank(a), rank(b));
            if (order == 0) {
                order = Integer.compare(underscores(b), underscores(a));
            }
            if (order == 0) {
                order =
                        Integer.compare(
                                KallsymsText.nameEnd(text, a) - a,
                                KallsymsText.nameEnd(text, b) - b);
            }
            return order >= 0 ? a : b;
        }

        private int rank(int name) {
            return switch (text[name - 2]) {
                case 'T' -> 3;
                case 'W' -> 2;
                case 'w' -> 1;
                default -> 0;
            };
        }

        private int underscores(int name) {
            int at = name;
            while (at < text.length && text[at] == '_') {
                at++;
            }
            return at - name;
        }
    }
}
