package sonde.recording.ftrace;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What texts of events need besides the events: names of kernel functions, strings behind kernel
 * pointers, sizes of the recorded kernel.
 */
public final class TextContext {
    /** The context of a recording that has no such files. */
    static final TextContext NONE = of(PageLayout.NATIVE, new byte[0], new byte[0]);

    private final PageLayout layout;
    private final KallsymsIndex symbols;
    private final byte[] printkFormats;
    private volatile @Nullable Map<Long, byte[]> printk;

    private TextContext(PageLayout layout, KallsymsIndex symbols, byte[] printkFormats) {
        this.layout = layout;
        this.symbols = symbols;
        this.printkFormats = printkFormats;
    }

    /**
     * A context from the files of a recording.
     *
     * @param kallsyms {@code /proc/kallsyms}, looked into when first asked
     * @param printkFormats tracefs {@code printk_formats}: lines of {@code 0xADDRESS : "text"}
     */
    public static TextContext of(PageLayout layout, byte[] kallsyms, byte[] printkFormats) {
        return of(layout, () -> kallsyms, printkFormats);
    }

    /** As the other, with a text of kallsyms that is fetched when first asked: it is long. */
    public static TextContext of(
            PageLayout layout, Supplier<byte[]> kallsyms, byte[] printkFormats) {
        return new TextContext(layout, new KallsymsIndex(kallsyms), printkFormats);
    }

    private static Map<Long, byte[]> strings(byte[] printkFormats) {
        Map<Long, byte[]> strings = new HashMap<>();
        for (String line : new String(printkFormats, StandardCharsets.UTF_8).split("\n")) {
            int colon = line.indexOf(':');
            int open = line.indexOf('"');
            int close = line.lastIndexOf('"');
            if (!line.startsWith("0x") || colon < 3 || open < colon || close <= open) {
                continue;
            }
            try {
                long address = Long.parseUnsignedLong(line.substring(2, colon).strip(), 16);
                strings.put(address, CString.unescape(line.substring(open + 1, close)));
            } catch (NumberFormatException e) {
                // Not an address: nothing can point to that line.
                continue;
            }
        }
        return strings;
    }

    /** Functions by address. */
    public KallsymsIndex symbols() {
        return symbols;
    }

    /** The string at a kernel address, null when the kernel did not list it. */
    byte @Nullable [] printk(long address) {
        Map<Long, byte[]> known = printk;
        if (known == null) {
            known = strings(printkFormats);
            printk = known; // two threads at once make the same
        }
        return known.get(address);
    }

    int longBytes() {
        return layout.commitBytes();
    }

    boolean isBigEndian() {
        return layout.order() == ByteOrder.BIG_ENDIAN;
    }
}
