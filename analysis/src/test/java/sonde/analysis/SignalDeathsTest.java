package sonde.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.analysis.stack.FrameSymbols;
import sonde.analysis.stack.SignalDeaths;
import sonde.analysis.stack.StackTable;

final class SignalDeathsTest {
    private static final int SIGKILL = 9;
    private static final int SIGUSR1 = 10;
    private static final int SIGSEGV = 11;
    private static final int SIGALRM = 14;
    private static final int SIGTERM = 15;
    private static final int SI_KERNEL = 0x80;
    private static final int IGNORED = 1;

    private final ThreadTable threads = new ThreadTable(CountedThreads.everything());

    /** {@code 20 by 15 from 10}. */
    private List<String> deaths(Script script) throws IOException {
        SignalDeaths deaths =
                new SignalDeaths(
                        threads, new StackTable(FrameSymbols.none()), new TimeWindow(0, 1000));
        Engine.run(script.recording(), List.of(threads, deaths));
        return deaths.deaths().stream()
                .map(death -> {
                    String sender =
                            death.sender() < 0 ? "nobody" : "" + threads.tid(death.sender());
                    return threads.tid(death.process())
                            + " by "
                            + death.number()
                            + " from "
                            + sender;
                })
                .toList();
    }

    @Test
    void aCrashIsDeliveredAndOthersAreDeliveredAsSigkill() throws IOException {
        Script script =
                new Script()
                        .sent(100, 20, SIGSEGV, 1, 20, 0)
                        .delivered(110, 20, SIGSEGV, 0)
                        .exited(120, 0, 20)
                        .sent(200, 10, SIGTERM, 0, 30, 0)
                        .delivered(210, 30, SIGKILL, 0)
                        .exited(220, 0, 30)
                        // A timer's interrupt of a thread that has nothing to do with it.
                        .sent(300, 10, SIGALRM, SI_KERNEL, 40, 0)
                        .delivered(310, 40, SIGKILL, 0)
                        .exited(320, 0, 40);
        assertThat(deaths(script))
                .containsExactly("20 by 11 from 20", "30 by 15 from 10", "40 by 14 from nobody");
    }

    @Test
    void whatIsHandledIgnoredOrBlockedEndsNothing() throws IOException {
        Script script =
                new Script()
                        .sent(100, 20, SIGSEGV, 1, 20, 0)
                        .delivered(110, 20, SIGSEGV, 0x4000)
                        .exited(120, 0, 20)
                        .sent(200, 10, SIGTERM, 0, 30, IGNORED)
                        .delivered(210, 30, SIGKILL, 0)
                        .exited(220, 0, 30)
                        // Blocked, and the process ended itself later.
                        .sent(300, 10, SIGUSR1, 0, 40, 0)
                        .exited(320, 0, 40)
                        .sent(400, 10, SIGTERM, 0, 50, 0);
        assertThat(deaths(script)).isEmpty();
    }

    /** The thread that ends its process exits without a SIGKILL, whichever exits first. */
    @Test
    void aProcessThatEndsItselfIsNotKilled() throws IOException {
        Script script =
                new Script()
                        .perfFork(50, 0, 20, 21, 20)
                        .sent(100, 10, SIGUSR1, 0, 20, 0)
                        .delivered(110, 20, SIGKILL, 0)
                        .exited(115, 0, 20)
                        .exited(120, 0, 21);
        assertThat(deaths(script)).isEmpty();
    }
}
