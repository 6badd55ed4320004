package sonde.symbol.line;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.LongStream;

/** Lines and inlined calls of locations, each looked up once. Not safe for several threads. */
public final class KnownPlaces implements AutoCloseable {
    /** Places of code whose lines are remembered. */
    private static final int MOST = 1 << 18;

    private final CodePlaces from;
    private final Map<Long, CodePlaces.Found> known = new HashMap<>();

    /** Closes {@code from} with itself. */
    public KnownPlaces(CodePlaces from) {
        this.from = from;
    }

    /** Looks all up that are not known yet, those of a file at once. */
    public void learn(long[] locations) {
        long[] unknown =
                LongStream.of(locations).filter(at -> !known.containsKey(at)).distinct().toArray();
        if (unknown.length == 0) {
            return;
        }
        if (known.size() > MOST) {
            known.clear();
        }
        for (long location : unknown) {
            known.put(location, CodePlaces.Found.UNKNOWN);
        }
        known.putAll(from.of(unknown));
    }

    /** What is known of a location. */
    public CodePlaces.Found at(long location) {
        return known.getOrDefault(location, CodePlaces.Found.UNKNOWN);
    }

    /** Closes the files; what is known stays. */
    @Override
    public void close() {
        from.close();
    }
}
