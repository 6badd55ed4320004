package sonde.lang.output;

import java.util.List;
import sonde.sys.ResourceTable;

/** How memory is asked for (gfp_t), in words: {@code GFP_KERNEL|__GFP_ZERO}. */
final class GfpFlags {
    private record Flag(long mask, String name) {}

    private static final List<Flag> FLAGS = load();

    private GfpFlags() {}

    private static List<Flag> load() {
        return ResourceTable.lines(GfpFlags.class.getResourceAsStream("gfp-flags.txt")).stream()
                .map(line -> line.split(" "))
                .map(words -> new Flag(Long.parseLong(words[0], 16), words[1]))
                .toList();
    }

    /** Names with bars between; bits without a name in hexadecimal; {@code 0} for none. */
    static void write(long flags, TextSink out) {
        if (flags == 0) {
            out.put('0');
            return;
        }
        int start = out.size();
        long rest = flags;
        for (Flag flag : FLAGS) {
            if ((rest & flag.mask) == flag.mask) {
                bar(start, out);
                out.put(flag.name);
                rest &= ~flag.mask;
            }
        }
        if (rest != 0) {
            bar(start, out);
            out.put("0x");
            out.hex(rest, false);
        }
    }

    private static void bar(int start, TextSink out) {
        if (out.size() > start) {
            out.put('|');
        }
    }
}
