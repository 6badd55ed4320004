package sonde.exchange.heap;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapSums;
import sonde.event.result.Frame;

/**
 * Reads the texts of jemalloc ({@code heap_v2/RATE}) and of gperftools' tcmalloc ({@code heap
 * profile: … @ heap_v2/RATE}). Both sample by bytes; what a sample stands for is estimated as their
 * own jeprof and pprof do. Addresses are shown by module and offset.
 */
final class SampledHeapProfile {
    private static final int MOST_FRAMES = 4096;
    private static final Pattern COUNTS =
            Pattern.compile(
                    "^\\s*(?:t\\*: )?(\\d{1,18}): +(\\d{1,18}) \\[ *(\\d{1,18}): +(\\d{1,18})\\](?: @(.*))?$");
    private static final Pattern MAPPING =
            Pattern.compile(
                    "^([0-9a-f]{1,16})-([0-9a-f]{1,16}) (\\S{4}) ([0-9a-f]{1,16}) \\S+ \\d+ *(.*)$");
    static final Pattern JEMALLOC = Pattern.compile("^heap_v2/(\\d{1,18})\\s*$");
    static final Pattern TCMALLOC =
            Pattern.compile(
                    "^heap profile: +\\d+: +\\d+ \\[ *\\d+: +\\d+\\] @ (heap(?:_v2)?/(\\d{1,18})|\\S+)\\s*$");

    private static final Pattern ALLOCATOR = Pattern.compile("/lib(jemalloc|tcmalloc)[^/]*$");

    private final List<Sample> samples = new ArrayList<>();
    private final TreeMap<Long, ModuleRange> modules = new TreeMap<>();
    private boolean accumulates;
    private long bad;

    private record Sample(String addresses, long[] counts) {}

    private record ModuleRange(long end, long offset, String file) {}

    static HeapFile read(InputStream in) throws IOException {
        return new SampledHeapProfile().read(new HeapLines(in));
    }

    private HeapFile read(HeapLines lines) throws IOException {
        String head = String.valueOf(lines.next());
        Matcher jemalloc = JEMALLOC.matcher(head);
        Matcher tcmalloc = TCMALLOC.matcher(head);
        boolean isJemalloc = jemalloc.matches();
        String text =
                isJemalloc ? jemalloc.group(1) : tcmalloc.matches() ? tcmalloc.group(2) : null;
        boolean second = isJemalloc || text != null && tcmalloc.group(1).startsWith("heap_v2");
        long rate = text == null ? 0 : Long.parseLong(text);
        String stack = null;
        for (String line = lines.next(); line != null; line = lines.next()) {
            Matcher counts = COUNTS.matcher(line);
            Matcher mapping = MAPPING.matcher(line);
            if (line.startsWith("@")) {
                stack = line.substring(1);
            } else if (counts.matches()) {
                String addresses = counts.group(5) == null ? stack : counts.group(5);
                if (addresses != null) {
                    sample(addresses, counts);
                }
                stack = null;
            } else if (mapping.matches()) {
                map(mapping);
            } else if (!line.isBlank()
                    && !line.matches("MAPPED_LIBRARIES:|\\s*t\\d+: .*|build=.*")) {
                bad++;
            }
        }
        StackTotals totals = new StackTotals();
        for (Sample sample : samples) {
            totals.add(frames(sample.addresses), sums(sample.counts, second, rate));
        }
        List<String> notes = new ArrayList<>();
        if (rate > 1) {
            notes.add(
                    "Numbers are estimates: one sample stands for about %,d bytes."
                            .formatted(rate));
        }
        if (bad > 0) {
            notes.add(bad + " lines could not be read.");
        }
        HeapProfile profile =
                new HeapProfile(
                        "",
                        isJemalloc ? "jemalloc" : "tcmalloc",
                        HeapSums.UNKNOWN,
                        "ns",
                        totals.total(),
                        HeapSums.UNKNOWN,
                        HeapSums.UNKNOWN,
                        totals.stacks(),
                        List.of(),
                        List.of(),
                        List.of(),
                        notes);
        return new HeapFile(profile, List.of(), List.of());
    }

    private void sample(String addresses, Matcher counts) {
        long[] numbers = new long[4];
        for (int i = 0; i < 4; i++) {
            numbers[i] = Long.parseLong(counts.group(i + 1));
        }
        accumulates |= numbers[2] > 0;
        samples.add(new Sample(addresses, numbers));
    }

    private HeapSums sums(long[] counts, boolean second, long rate) {
        double live = factor(counts[0], counts[1], second, rate);
        double all = factor(counts[2], counts[3], second, rate);
        return new HeapSums(
                accumulates ? Math.round(counts[2] * all) : HeapSums.UNKNOWN,
                accumulates ? Math.round(counts[3] * all) : HeapSums.UNKNOWN,
                Math.round(counts[0] * live),
                Math.round(counts[1] * live),
                HeapSums.UNKNOWN,
                HeapSums.UNKNOWN,
                HeapSums.UNKNOWN,
                HeapSums.UNKNOWN);
    }

    /** How many blocks a sampled one stands for: a block is sampled with 1 - e^(-size/rate). */
    private static double factor(long count, long bytes, boolean second, long rate) {
        if (count == 0 || bytes == 0 || rate <= 1) {
            return 1;
        }
        double mean = (double) bytes / count;
        double ratio = mean / rate;
        return second ? 1 / -Math.expm1(-ratio) : Math.max(1, 1 / ratio);
    }

    private void map(Matcher mapping) {
        if (mapping.group(3).charAt(2) == 'x') {
            long start = Long.parseUnsignedLong(mapping.group(1), 16);
            long end = Long.parseUnsignedLong(mapping.group(2), 16);
            long offset = Long.parseUnsignedLong(mapping.group(4), 16);
            modules.put(start, new ModuleRange(end, offset, mapping.group(5)));
        }
    }

    private List<Frame> frames(String addresses) {
        List<Frame> frames = new ArrayList<>();
        for (String word : addresses.strip().split("\\s+")) {
            if (word.matches("0x[0-9a-fA-F]{1,16}") && frames.size() < MOST_FRAMES) {
                frames.add(frame(Long.parseUnsignedLong(word.substring(2), 16)));
            }
        }
        // Where they took the sample themselves.
        while (frames.size() > 1 && ALLOCATOR.matcher(frames.getFirst().module()).find()) {
            frames.removeFirst();
        }
        return frames;
    }

    private Frame frame(long address) {
        var entry = modules.floorEntry(address);
        @Nullable ModuleRange module = entry == null ? null : entry.getValue();
        if (entry == null || module == null || Long.compareUnsigned(address, module.end) >= 0) {
            return new Frame("[0x" + Long.toHexString(address) + "]", "", Frame.Kind.USER);
        }
        String file = module.file.substring(module.file.lastIndexOf('/') + 1);
        String offset = Long.toHexString(address - entry.getKey() + module.offset);
        return new Frame("[" + file + "+0x" + offset + "]", module.file, Frame.Kind.USER);
    }
}
