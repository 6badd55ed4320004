package sonde.probe.stack;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.StringJoiner;

/** How many user stacks ended in which way. */
final class UserStackCounts {
    /** One in so many stacks may be cut without a word. */
    private static final int WORTH_SAYING = 100;

    private UserStackCounts() {}

    /**
     * A sentence about stacks that are not whole; empty when there are few.
     *
     * @param ends number of stacks by {@link UserStackEnd}
     */
    static Optional<String> sentence(long[] ends) {
        long all = Arrays.stream(ends).sum();
        long cut = all - ends[UserStackEnd.OUTERMOST.ordinal()];
        if (cut * WORTH_SAYING < all || all == 0) {
            return Optional.empty();
        }
        StringJoiner reasons = new StringJoiner(", ");
        for (UserStackEnd end : UserStackEnd.values()) {
            if (end != UserStackEnd.OUTERMOST && ends[end.ordinal()] > 0) {
                reasons.add(ends[end.ordinal()] + " " + end.phrase());
            }
        }
        return Optional.of(
                String.format(
                        Locale.ROOT,
                        "%.1f %% of user stacks are cut (%d of %d): %s",
                        100.0 * cut / all,
                        cut,
                        all,
                        reasons));
    }
}
