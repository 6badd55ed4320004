package sonde.tools.heap;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapStack;
import sonde.event.result.CallChains;
import sonde.event.result.Frame;
import sonde.event.result.Report;
import sonde.event.result.Timeline;
import sonde.event.result.TimelineSamples;

/**
 * A profile as a page: the report, and a flame graph for each measure.
 *
 * @param timeline has no threads: its samples are sums by stack
 */
public record HeapPage(Report report, Timeline timeline) {
    static HeapPage of(Report report, HeapProfile profile) {
        Map<Frame, Integer> frameNumbers = new HashMap<>();
        Map<Long, Integer> nodes = new HashMap<>();
        List<Frame> frames = new ArrayList<>();
        List<int[]> chain = new ArrayList<>();
        int[] node = new int[profile.stacks().size()];
        for (int i = 0; i < node.length; i++) {
            node[i] = -1;
            for (Frame frame : HeapRanking.frames(profile.stacks().get(i)).reversed()) {
                Integer number = frameNumbers.putIfAbsent(frame, frames.size());
                if (number == null) {
                    number = frames.size();
                    frames.add(frame);
                }
                long key = (node[i] + 1L) << 32 | number;
                Integer known = nodes.putIfAbsent(key, chain.size());
                if (known == null) {
                    known = chain.size();
                    chain.add(new int[] {node[i], number});
                }
                node[i] = known;
            }
        }
        List<TimelineSamples> sets = new ArrayList<>();
        for (HeapMeasure measure : HeapMeasure.values()) {
            if (measure.isKnown(profile.stacks())) {
                sets.add(samples(measure, profile.stacks(), node));
            }
        }
        CallChains chains =
                new CallChains(
                        frames,
                        chain.stream().mapToInt(one -> one[0]).toArray(),
                        chain.stream().mapToInt(one -> one[1]).toArray());
        long end = Math.max(1, profile.nanos());
        return new HeapPage(
                report, new Timeline("timeline", 0, end, List.of(), List.of(), chains, sets));
    }

    private static TimelineSamples samples(
            HeapMeasure measure, List<HeapStack> stacks, int[] node) {
        int[] rows = new int[stacks.size()];
        int count = 0;
        for (int i = 0; i < rows.length; i++) {
            if (measure.of(stacks.get(i).sums()) > 0) {
                rows[count++] = i;
            }
        }
        int[] chosen = Arrays.copyOf(rows, count);
        int[] tracks = new int[count];
        Arrays.fill(tracks, -1);
        return new TimelineSamples(
                measure.section + " flame graph",
                measure.unit,
                new long[count],
                tracks,
                Arrays.stream(chosen).map(i -> node[i]).toArray(),
                Arrays.stream(chosen).mapToLong(i -> measure.of(stacks.get(i).sums())).toArray(),
                Arrays.stream(chosen)
                        .mapToLong(i -> Math.max(1, measure.count(stacks.get(i).sums())))
                        .toArray(),
                new long[count]);
    }
}
