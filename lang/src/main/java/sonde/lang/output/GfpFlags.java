package sonde.lang.output;

import java.util.List;
import java.util.StringJoiner;
import sonde.sys.ResourceTable;

/** How memory is asked for (gfp_t), in words: {@code GFP_KERNEL|__GFP_ZERO}. */
public final class GfpFlags {
    private record Flag(long mask, String name) {}

    private static final List<Flag> FLAGS = load();

    private GfpFlags() {}

    private static List<Flag> load() {
        return ResourceTable.lines(GfpFlags.class.getResourceAsStream("gfp-flags.txt")).stream()
                .map(line -> line.split(" "))
                .map(words -> new Flag(Long.parseLong(words[0], 16), words[1]))
                .toList();
    }

    static void write(long flags, TextSink out) {
        out.put(text(flags));
    }

    /** Names with bars between; bits without a name in hexadecimal; {@code 0} for none. */
    public static String text(long flags) {
        StringJoiner words = new StringJoiner("|").setEmptyValue("0");
        long rest = flags;
        for (Flag flag : FLAGS) {
            if ((rest & flag.mask) == flag.mask) {
                words.add(flag.name);
                rest &= ~flag.mask;
            }
        }
        if (rest != 0) {
            words.add("0x" + Long.toHexString(rest));
        }
        return words.toString();
    }
}
