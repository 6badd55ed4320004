package sonde.exchange.export;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Frame;
import sonde.exchange.ProtoBuffer;
import sonde.exchange.export.ExportRow.Located;

/**
 * pprof's mappings: a file each, the program first, since pprof takes the first for the binary that
 * the profile is of.
 */
final class PprofMappings {
    private static final long PAGE = 4096;

    private final Map<Key, PprofMapping> mappings = new HashMap<>();
    private final Map<Key, Integer> numbers = new HashMap<>();

    private record Key(String file, String buildId) {}

    /** What is told of a mapping. */
    private static final class PprofMapping {
        final Key key;
        boolean placed;
        long start;
        long limit;
        long fileOffset;
        long uses;
        boolean files;
        boolean inlines;

        PprofMapping(Key key) {
            this.key = key;
        }

        /** A program, neither a library nor something with a name in brackets. */
        boolean isProgram() {
            return key.file.startsWith("/") && !key.file.contains(".so");
        }

        /** Takes an address in: a file may have several mappings with code. */
        void include(CodePlace place) {
            if (!placed) {
                placed = true;
                start = place.start();
                limit = place.limit();
                fileOffset = place.fileOffset();
            }
            long address = place.address();
            if (Long.compareUnsigned(address, start) < 0) {
                long page = address & -PAGE;
                fileOffset = Math.max(0, fileOffset - (start - page));
                start = page;
            }
            if (Long.compareUnsigned(address, limit) >= 0) {
                limit = (address & -PAGE) + PAGE;
            }
        }
    }

    private static Key key(Located located) {
        CodePlace place = located.place();
        String module = located.calls().getLast().module();
        if (place == null) {
            return new Key(module, "");
        }
        return new Key(place.file().isEmpty() ? module : place.file(), place.buildId());
    }

    /** Takes a place in, which is in so many chains. */
    void add(Located located, long uses) {
        PprofMapping mapping = mappings.computeIfAbsent(key(located), PprofMapping::new);
        mapping.uses += uses;
        mapping.inlines |= located.calls().size() > 1;
        for (Frame call : located.calls()) {
            mapping.files |= !call.file().isEmpty();
        }
        @Nullable CodePlace place = located.place();
        if (place != null) {
            mapping.include(place);
        }
    }

    /** Writes all, after the last place. */
    void write(ProtoBuffer profile, ToIntFunction<String> strings) {
        List<PprofMapping> all = new ArrayList<>(mappings.values());
        all.sort(
                Comparator.comparing((PprofMapping mapping) -> !mapping.isProgram())
                        .thenComparing(mapping -> -mapping.uses)
                        .thenComparing(mapping -> mapping.key.file));
        for (PprofMapping mapping : all) {
            int number = numbers.size() + 1;
            numbers.put(mapping.key, number);
            profile.message(
                    3,
                    new ProtoBuffer()
                            .integer(1, number)
                            .integer(2, mapping.start)
                            .integer(3, mapping.limit)
                            .integer(4, mapping.fileOffset)
                            .integer(5, strings.applyAsInt(mapping.key.file))
                            .integer(6, strings.applyAsInt(mapping.key.buildId))
                            .integer(7, 1)
                            .integer(8, mapping.files ? 1 : 0)
                            .integer(9, mapping.files ? 1 : 0)
                            .integer(10, mapping.inlines ? 1 : 0));
        }
    }

    /** The number of a place's mapping, once they are written. */
    int number(Located located) {
        Integer number = numbers.get(key(located));
        if (number == null) {
            throw new IllegalArgumentException("not added");
        }
        return number;
    }
}
