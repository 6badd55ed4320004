package sonde.tools.leaks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.sys.FileCalls;

/**
 * Objects of a cache, as /proc/slabinfo counts them: those that CPUs hold back are among them.
 *
 * @param objectBytes of one
 */
record SlabUse(String name, long objects, long objectBytes) {
    private static final int MOST_BYTES = 4 << 20;
    private static final int MOST_ROWS = 15;

    long bytes() {
        return objects * objectBytes;
    }

    /** Of all caches now, by name. */
    static Map<String, SlabUse> now() throws IOException {
        byte[] text = FileCalls.readAll("/proc/slabinfo", MOST_BYTES);
        Map<String, SlabUse> all = new HashMap<>();
        for (String line : new String(text, StandardCharsets.US_ASCII).lines().toList()) {
            String[] words = line.strip().split("\\s+");
            if (words.length > 4 && words[1].matches("\\d{1,18}") && words[3].matches("\\d{1,9}")) {
                SlabUse use =
                        new SlabUse(words[0], Long.parseLong(words[1]), Long.parseLong(words[3]));
                all.put(use.name, use);
            }
        }
        return all;
    }

    /** How much each cache has grown, the largest growth first. */
    static List<SlabUse> growth(Map<String, SlabUse> before, Map<String, SlabUse> after) {
        return after.values().stream()
                .map(now -> {
                    SlabUse then = before.get(now.name);
                    long old = then == null ? 0 : then.objects;
                    return new SlabUse(now.name, now.objects - old, now.objectBytes);
                })
                .filter(one -> one.objects > 0)
                .sorted(Comparator.comparingLong(SlabUse::bytes).reversed())
                .limit(MOST_ROWS)
                .toList();
    }
}
