package sonde.analysis;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import sonde.analysis.Operator.RowOrder;
import sonde.binary.MalformedInputException;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.Recording;
import sonde.event.Source;

/**
 * Runs operators over recordings, reading each lane once.
 *
 * <p>Rows are handed out in runs of one batch. For operators that need time order the lanes are
 * merged ({@link LaneMerge}); the others get whole batches as they are decoded, which happens ahead
 * on threads of its own ({@link DecodeAhead}) when there is more than one processor.
 */
public final class Engine {
    /** Above this number of lanes nothing is decoded ahead: each would keep batches of 0.5 MB. */
    private static final int MAX_LANES_AHEAD = 32;

    private final List<Operator> ordered = new ArrayList<>();
    private final List<Operator> unordered = new ArrayList<>();
    private final Map<Source, Operator[][]> wanted = new IdentityHashMap<>();
    private final TimeWindow recorded;

    private Engine(List<? extends Operator> operators, TimeWindow recorded) {
        this.recorded = recorded;
        for (Operator operator : operators) {
            (operator.need() == RowOrder.TIME_ORDERED ? ordered : unordered).add(operator);
        }
    }

    /**
     * What went through.
     *
     * @param first time of the first row, 0 when there was none
     * @param last time of the last row
     * @param events rows, notices included
     */
    public record Extent(long first, long last, long events) {}

    /** Runs the operators over one recording, decoding ahead where that pays. */
    public static Extent run(Recording recording, List<? extends Operator> operators)
            throws IOException {
        int spare = Runtime.getRuntime().availableProcessors() - 1;
        return run(List.of(recording), operators, Math.min(spare, 4));
    }

    /**
     * Runs the operators.
     *
     * @param recordings whose clocks are one; equal times in this order
     * @param decoders threads that decode ahead; 0 decodes on the caller's thread
     * @throws IOException when a lane cannot be read; rows before that have been handed out
     */
    public static Extent run(
            List<Recording> recordings, List<? extends Operator> operators, int decoders)
            throws IOException {
        return run(recordings, operators, decoders, TimeWindow.ALL);
    }

    /**
     * As above.
     *
     * @param recorded rows far from it are neither the first nor the last: their times are damaged
     */
    public static Extent run(
            List<Recording> recordings,
            List<? extends Operator> operators,
            int decoders,
            TimeWindow recorded)
            throws IOException {
        List<Lane> lanes = new ArrayList<>();
        try {
            for (Recording recording : recordings) {
                lanes.addAll(recording.lanes());
            }
            return new Engine(operators, recorded).run(lanes, decoders);
        } catch (InternalError fault) {
            throw MalformedInputException.shrunk(fault);
        } finally {
            lanes.forEach(Lane::close);
        }
    }

    private Extent run(List<Lane> lanes, int decoders) throws IOException {
        for (Lane lane : lanes) {
            if (!wanted.containsKey(lane.source())) {
                wanted.put(lane.source(), select(lane.source(), ordered));
            }
        }
        for (Operator operator : unordered) {
            for (Source source : wanted.keySet()) {
                operator.select(source);
            }
        }
        boolean ahead = decoders > 0 && lanes.size() <= MAX_LANES_AHEAD;
        try (DecodeAhead reader = new DecodeAhead(lanes, unordered, ahead ? decoders : 0)) {
            LaneMerge merge = new LaneMerge(reader);
            Extent extent = drain(merge);
            reader.mergeOperators();
            for (Operator operator : unordered) {
                operator.finish(extent.last);
            }
            for (Operator operator : ordered) {
                operator.finish(extent.last);
            }
            return extent;
        }
    }

    private Extent drain(LaneMerge merge) throws IOException {
        if (!merge.advance()) {
            return new Extent(0, 0, 0);
        }
        long first = recorded.nearest(merge.batch().time(merge.from()));
        for (Operator operator : ordered) {
            operator.begin(first);
        }
        long last = first;
        long events = 0;
        Source source = merge.batch().source();
        Operator[][] sets = require(source);
        do {
            Batch batch = merge.batch();
            if (!same(batch.source(), source)) {
                source = batch.source();
                sets = require(source);
            }
            int to = merge.to();
            events += to - merge.from();
            last = batch.time(to - 1);
            hand(batch, merge.from(), to, sets);
        } while (merge.advance());
        return new Extent(first, recorded.nearest(last), events);
    }

    @SuppressWarnings("ReferenceEquality") // equal sets are one array
    private static void hand(Batch batch, int from, int to, Operator[][] sets) {
        int start = from;
        while (start < to) {
            Operator[] set = sets[batch.type(start)];
            int end = start + 1;
            if (set.length == 0 || !set[0].leads()) {
                while (end < to && sets[batch.type(end)] == set) {
                    end++;
                }
            }
            for (Operator operator : set) {
                operator.accept(batch, start, end);
            }
            start = end;
        }
    }

    private Operator[][] require(Source source) {
        Operator[][] sets = wanted.get(source);
        if (sets == null) {
            throw new IllegalStateException("a batch of a source that no lane has");
        }
        return sets;
    }

    @SuppressWarnings("ReferenceEquality") // sources are told apart by identity, not by content
    private static boolean same(Source one, Source other) {
        return one == other;
    }

    /** For each type the operators that want it; equal sets are one array. */
    private static Operator[][] select(Source source, List<Operator> operators) {
        int types = source.types().size();
        int[][] codes = new int[operators.size()][];
        for (int i = 0; i < codes.length; i++) {
            codes[i] = operators.get(i).select(source);
        }
        Map<List<Operator>, Operator[]> sets = new HashMap<>();
        Operator[][] result = new Operator[types][];
        for (int type = 0; type < types; type++) {
            List<Operator> set = new ArrayList<>();
            for (int i = 0; i < codes.length; i++) {
                if (codes[i][type] != 0) {
                    // An operator that others read comes first: hand() looks only there.
                    set.add(operators.get(i).leads() ? 0 : set.size(), operators.get(i));
                }
            }
            result[type] = sets.computeIfAbsent(set, key -> key.toArray(Operator[]::new));
        }
        return Arrays.copyOf(result, types);
    }
}
