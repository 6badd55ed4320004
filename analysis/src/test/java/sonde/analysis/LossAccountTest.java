package sonde.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.analysis.LossAccount.LossRow;
import sonde.recording.bundle.RecordingMeta.LossKind;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;

/** Notices of 10 events on CPU 0 and 5 on CPU 1, and what an account may say of them. */
final class LossAccountTest {
    private static LossAccount account(RecordedLoss... told) throws IOException {
        RecordedLosses losses = new RecordedLosses();
        Script script = new Script();
        script.lost(script.ftrace, 1000, 0, 10).lost(script.ftrace, 2000, 1, 5);
        Engine.run(script.recording(), List.of(losses));
        return new LossAccount(losses, List.of(told));
    }

    private static RecordedLoss told(int cpu, LossKind kind, long count) {
        return new RecordedLoss("trace.dat", "", cpu, kind, count);
    }

    /** Each event once: the report's rows, and the notices with what was told beyond them. */
    private static void check(LossAccount account, long events) {
        assertThat(account.rows().stream().mapToLong(LossAccountTest::events).sum())
                .isEqualTo(events);
        long beyond = account.unnoticed().stream().mapToLong(LossAccountTest::events).sum();
        assertThat(15 + beyond).isEqualTo(events);
        assertThat(account.events()).isEqualTo(events);
    }

    private static long events(LossRow row) {
        Long events = row.events();
        return events == null ? 0 : events;
    }

    @Test
    void withoutAnAccountTheNoticesAreAll() throws IOException {
        LossAccount account = account();
        check(account, 15);
        assertThat(account.rows()).extracting(LossRow::cpu).containsExactly(0, 1);
        assertThat(account.sentence().orElseThrow()).startsWith("15 events were lost");
    }

    @Test
    void theLargerNumberHoldsForEachRing() throws IOException {
        LossAccount account =
                account(
                        told(0, LossKind.RING_FULL, 12),
                        told(0, LossKind.COMMIT_OVERRUN, 1),
                        told(1, LossKind.RING_FULL, 4));
        check(account, 13 + 5);
        assertThat(account.rows())
                .extracting(LossRow::what)
                .containsExactly("lost", "ring full", "commit overrun");
    }

    @Test
    void aSumOfAllCpusHasTheNoticesOfEach() throws IOException {
        check(account(told(-1, LossKind.RING_FULL, 15)), 15);
        check(account(told(-1, LossKind.RING_FULL, 20)), 20);
        check(account(told(-1, LossKind.RING_FULL, 9)), 15);
    }

    @Test
    void whatNoRingTellsIsAdded() throws IOException {
        LossAccount account =
                account(told(-1, LossKind.UNREAD, -1), told(0, LossKind.NOT_WRITTEN, 7));
        check(account, 22);
        assertThat(account.unnoticed()).hasSize(2);
    }
}
