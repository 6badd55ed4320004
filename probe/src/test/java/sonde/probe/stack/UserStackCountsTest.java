package sonde.probe.stack;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** When it is worth saying that stacks are cut. */
class UserStackCountsTest {
    private static long[] ends(long whole, long noCode, long inExec) {
        long[] ends = new long[UserStackEnd.values().length];
        ends[UserStackEnd.OUTERMOST.ordinal()] = whole;
        ends[UserStackEnd.NO_CODE.ordinal()] = noCode;
        ends[UserStackEnd.IN_EXEC.ordinal()] = inExec;
        return ends;
    }

    @Test
    void fewStacksAreChance() {
        assertThat(UserStackCounts.sentence(ends(12, 7, 0))).isEmpty();
        assertThat(UserStackCounts.sentence(ends(0, 0, 0))).isEmpty();
        assertThat(UserStackCounts.sentence(ends(90, 0, 400))).isEmpty();
    }

    @Test
    void oneInAHundredIsWorthSaying() {
        assertThat(UserStackCounts.sentence(ends(2000, 15, 0))).isEmpty();
        assertThat(UserStackCounts.sentence(ends(60, 20, 7)))
                .contains("25.0 % of user stacks are cut (20 of 80): 20 lead to no code");
    }
}
