package sonde.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SignalDeliveriesTest {
    private static final int SIGALRM = 14;
    private static final int SIGTERM = 15;
    private static final int SIGCHLD = 17;
    private static final String SENT = "signal_generate";
    private static final String DELIVERED = "signal_deliver";

    private final ThreadTable threads = new ThreadTable(CountedThreads.everything());

    @Test
    void sentAndDeliveredAreCountedByWhoAndWhat() throws IOException {
        Script script =
                new Script()
                        .signal(SENT, 100, 0, 10, SIGTERM, 20)
                        .signal(SENT, 110, 0, 10, SIGTERM, 20)
                        .signal(SENT, 120, 0, 30, SIGTERM, 20)
                        .signal(DELIVERED, 130, 0, 20, SIGTERM, 0)
                        .signal(SENT, 140, 0, 20, SIGCHLD, 10)
                        // From the idle task, that is from an interrupt.
                        .signal(SENT, 150, 0, 0, SIGCHLD, 10)
                        // A timer fired while thread 30 ran.
                        .sent(160, 30, SIGALRM, 0x80, 10, 0)
                        // Outside the window.
                        .signal(SENT, 900, 0, 10, SIGTERM, 20);
        SignalDeliveries signals = new SignalDeliveries(threads, new TimeWindow(0, 800));
        Engine.run(script.recording(), List.of(threads, signals));
        int ten = threads.find(10);
        int twenty = threads.find(20);
        int thirty = threads.find(30);
        assertThat(signals.entries())
                .containsExactly(
                        new SignalDeliveries.Entry(ten, twenty, SIGTERM, 2, 0),
                        new SignalDeliveries.Entry(-1, ten, SIGALRM, 1, 0),
                        new SignalDeliveries.Entry(-1, ten, SIGCHLD, 1, 0),
                        new SignalDeliveries.Entry(twenty, ten, SIGCHLD, 1, 0),
                        new SignalDeliveries.Entry(twenty, twenty, SIGTERM, 0, 1),
                        new SignalDeliveries.Entry(thirty, twenty, SIGTERM, 1, 0));
    }
}
