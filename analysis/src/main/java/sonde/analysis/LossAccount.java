package sonde.analysis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.analysis.RecordedLosses.LossOrigin;
import sonde.recording.bundle.RecordingMeta;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;

/**
 * What a recording lacks, each event once: the notices among its rows, and what its recorder or its
 * file says. Where both speak of a ring the larger number holds.
 */
public final class LossAccount {
    /** What leaves notices in the ring as well. */
    private static final Set<RecordingMeta.LossKind> RING_LOSSES =
            Set.of(
                    RecordingMeta.LossKind.RING_FULL,
                    RecordingMeta.LossKind.COMMIT_OVERRUN,
                    RecordingMeta.LossKind.OVERWRITTEN);

    private static final String LOST = "lost";

    private final RecordedLosses noticed;
    private final List<RecordedLoss> told;
    private final Set<String> summed = new HashSet<>();
    private final Map<Ring, long[]> rings = new HashMap<>(); // events noticed, events told

    /** A source's ring of a CPU; of all CPUs where the account has only their sum. */
    private record Ring(String source, int cpu) {}

    /**
     * A line of the account.
     *
     * @param what why events are missing, and of which kind they are
     * @param cpu -1 for all together
     * @param events null when only "some" is known
     * @param notices number of rows that tell it, null when none does
     */
    public record LossRow(
            String source, String what, int cpu, @Nullable Long events, @Nullable Long notices) {}

    /**
     * @param noticed of all rows
     * @param told by the recorder's account, or the file's own
     */
    public LossAccount(RecordedLosses noticed, List<RecordedLoss> told) {
        this.noticed = noticed;
        this.told = List.copyOf(told);
        told.stream()
                .filter(loss -> isOfRing(loss) && loss.cpu() < 0 && loss.count() > 0)
                .forEach(loss -> summed.add(loss.source()));
        noticed.sums()
                .forEach((place, sum) -> {
                    if (place.kind().equals(LOST)) {
                        ring(place.source(), place.cpu())[0] += sum.events();
                    }
                });
        for (RecordedLoss loss : told) {
            if (isOfRing(loss)) {
                ring(loss.source(), loss.cpu())[1] += Math.max(loss.count(), 0);
            }
        }
    }

    private long[] ring(String source, int cpu) {
        Ring ring = new Ring(source, summed.contains(source) ? -1 : cpu);
        return rings.computeIfAbsent(ring, ignored -> new long[2]);
    }

    private static boolean isOfRing(RecordedLoss loss) {
        return RING_LOSSES.contains(loss.kind());
    }

    /** Every line: notices first, then what was told. */
    public List<LossRow> rows() {
        List<LossRow> rows = new ArrayList<>();
        noticed.sums()
                .forEach((place, sum) -> {
                    if (!isTold(place)) {
                        String partly = sum.unknown() > 0 ? ", partly of unknown number" : "";
                        String what = place.kind() + partly;
                        rows.add(
                                new LossRow(
                                        place.source(),
                                        what,
                                        place.cpu(),
                                        sum.events(),
                                        sum.notices()));
                    }
                });
        for (RecordedLoss loss : told) {
            long[] ring = ring(loss.source(), loss.cpu());
            if (!isOfRing(loss) || loss.count() < 0 || ring[0] <= ring[1]) {
                rows.add(row(loss, loss.count()));
            }
        }
        return rows;
    }

    /** Whether the told lines have all that the notices of a place tell. */
    @SuppressWarnings("ReferenceEquality") // a ring is the array that it counts in
    private boolean isTold(LossOrigin place) {
        long[] ring = ring(place.source(), place.cpu());
        boolean isTold =
                told.stream()
                        .anyMatch(loss ->
                                isOfRing(loss)
                                        && loss.source().equals(place.source())
                                        && ring(loss.source(), loss.cpu()) == ring);
        return place.kind().equals(LOST) && isTold && ring[0] <= ring[1];
    }

    /** What was told beyond the notices; with these it is all that {@link #rows} has. */
    public List<LossRow> unnoticed() {
        List<LossRow> rows = new ArrayList<>();
        Map<Ring, Long> left = new HashMap<>();
        rings.forEach((ring, sums) -> left.put(ring, sums[0]));
        for (RecordedLoss loss : told) {
            if (!isOfRing(loss) || loss.count() < 0) {
                rows.add(row(loss, loss.count()));
                continue;
            }
            int cpu = summed.contains(loss.source()) ? -1 : loss.cpu();
            Ring ring = new Ring(loss.source(), cpu);
            long covered = Math.min(left.getOrDefault(ring, 0L), loss.count());
            left.merge(ring, -covered, Long::sum);
            if (loss.count() > covered) {
                rows.add(row(loss, loss.count() - covered));
            }
        }
        return rows;
    }

    private static LossRow row(RecordedLoss loss, long count) {
        String kind = loss.kind().name().toLowerCase(Locale.ROOT).replace('_', ' ');
        String what = (loss.subject().isEmpty() ? "" : loss.subject() + ": ") + kind;
        return new LossRow(loss.source(), what, loss.cpu(), count < 0 ? null : count, null);
    }

    /** Number of events known to be missing; spans of throttling and corrupt parts are none. */
    public long events() {
        long sum = rings.values().stream().mapToLong(ring -> Math.max(ring[0], ring[1])).sum();
        for (RecordedLoss loss : told) {
            boolean counts = !isOfRing(loss) && loss.kind() != RecordingMeta.LossKind.THROTTLED;
            sum += counts ? Math.max(loss.count(), 0) : 0;
        }
        return sum;
    }

    /** A sentence about lost events; empty when none is known to be missing. */
    public Optional<String> sentence() {
        long events = events();
        return events == 0
                ? Optional.empty()
                : Optional.of(
                        String.format(
                                Locale.ROOT,
                                "%,d events were lost while recording; what is counted here is a"
                                        + " lower bound.",
                                events));
    }
}
