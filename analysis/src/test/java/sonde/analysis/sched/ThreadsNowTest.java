package sonde.analysis.sched;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.analysis.CountedThreads;
import sonde.analysis.Engine;
import sonde.analysis.Script;
import sonde.analysis.ThreadTable;
import sonde.analysis.sched.ThreadsNow.ThreadLook;
import sonde.analysis.stack.FrameSymbols;
import sonde.analysis.stack.StackTable;

final class ThreadsNowTest {
    private final ThreadTable threads = new ThreadTable(CountedThreads.everything());

    private ThreadsNow run(Script script) throws IOException {
        ThreadsNow now = new ThreadsNow(threads, new StackTable(FrameSymbols.none()));
        Engine.run(script.recording(), List.of(threads, now));
        return now;
    }

    private static void waits(Script script, boolean atEnd, int tid, int holder) {
        String[] words = {"S", "futex(0x1, FUTEX_WAIT, 2)", "lock 0x" + holder};
        script.looked(atEnd ? 2000 : 1000, atEnd, tid, words, new long[] {10, holder, 202, 400});
    }

    @Test
    void theLookAtTheEndCountsAndSaysForHowLong() throws IOException {
        Script script = new Script();
        waits(script, false, 11, 12);
        String[] words = {"S", "read(fd 3)", "/a"};
        script.looked(2000, true, 11, words, new long[] {10, 0, 0, 1700});
        ThreadLook look = run(script).looks().getFirst();
        assertThat(look.call()).isEqualTo("read(fd 3)");
        assertThat(look.object()).isEqualTo("/a");
        assertThat(look.nanos()).isEqualTo(300);
        assertThat(look.isLocked()).isFalse();
    }

    /** It left the CPU after the recording had ended: how long it will wait is not known. */
    @Test
    void aTimeAfterTheLookIsNone() throws IOException {
        Script script = new Script();
        String[] words = {"S", "read(fd 3)", "/a"};
        script.looked(2000, true, 11, words, new long[] {10, 0, 0, 2500});
        assertThat(run(script).looks().getFirst().nanos()).isEqualTo(-1);
    }

    @Test
    void aCircleOfThreeIsADeadlockAndWhoWaitsForItIsNot() throws IOException {
        Script script = new Script();
        waits(script, true, 11, 12);
        waits(script, true, 12, 13);
        waits(script, true, 13, 11);
        waits(script, true, 14, 11);
        waits(script, true, 15, 16);
        String[] runs = {"R", "", ""};
        script.looked(2000, true, 16, runs, new long[] {10, 0, -1, 0});
        List<List<ThreadLook>> circles = run(script).deadlocks();
        assertThat(circles).hasSize(1);
        List<Integer> tids =
                circles.getFirst().stream().map(look -> threads.tid(look.thread())).toList();
        assertThat(tids).containsExactlyInAnyOrder(11, 12, 13);
    }
}
