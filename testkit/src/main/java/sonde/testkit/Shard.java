package sonde.testkit;

import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The share of a long row of cases that a run takes: one of {@value #COUNT}, another one each day.
 * {@code -Dsonde.shard=all} takes all cases, {@code -Dsonde.shard=0} to {@code 3} one of the
 * shards.
 */
public final class Shard {
    /** So many days until each case has run. */
    public static final int COUNT = 4;

    private static final String ALL = "all";
    private static final String WANTED =
            System.getProperty(
                    "sonde.shard",
                    String.valueOf(LocalDate.now(ZoneOffset.UTC).toEpochDay() % COUNT));

    private Shard() {}

    /** Whether the case with this index, from 0, is run. */
    public static boolean has(int index) {
        return isTurn(index, COUNT);
    }

    /** The same where a run takes one of so many, a divisor of {@link #COUNT}. */
    public static boolean isTurn(int index, int count) {
        return WANTED.equals(ALL) || index % count == Integer.parseInt(WANTED) % count;
    }

    /** The cases that are run. */
    public static <T> List<T> of(List<T> cases) {
        return IntStream.range(0, cases.size()).filter(Shard::has).mapToObj(cases::get).toList();
    }
}
