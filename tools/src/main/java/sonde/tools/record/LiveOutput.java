package sonde.tools.record;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import sonde.event.Glob;
import sonde.open.LiveRecording;
import sonde.open.ReportSource;
import sonde.probe.record.GrowingFile;
import sonde.probe.record.RecordSession;
import sonde.tools.report.ListingOptions;
import sonde.tools.report.LiveEvents;
import sonde.tools.report.ReportOptions;
import sonde.tools.report.StackOptions;

/**
 * Shows the events of a session while it records. It reads the files that the recorder writes, on a
 * thread of its own: output that blocks holds up nothing else. The thread exists before the session
 * does, so that the session leaves its events out.
 */
final class LiveOutput implements AutoCloseable {
    /** What -e does not name and is shown all the same. */
    private static final List<String> LOSSES = List.of("notice:lost", "notice:corrupt");

    private final RecordOrder.LiveView view;
    private final List<Glob> shown = new ArrayList<>();
    private final Runnable closed;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread thread;
    private volatile @Nullable WatchedSession watched;

    private record WatchedSession(RecordSession session, List<GrowingFile> files) {}

    /**
     * Makes the thread.
     *
     * @param events patterns of the events that are shown; empty for all
     * @param closed called when nobody reads the output any more
     */
    LiveOutput(RecordOrder.LiveView view, List<String> events, Runnable closed) {
        this.view = view;
        this.closed = closed;
        events.forEach(event -> shown.add(Glob.shell(event)));
        if (!events.isEmpty()) {
            LOSSES.forEach(event -> shown.add(Glob.shell(event)));
        }
        this.thread = Thread.ofPlatform().daemon().name("sonde-live").start(this::run);
    }

    /** Begins to show a session, from its first event on. */
    void begin(RecordSession session) throws IOException {
        watched = new WatchedSession(session, session.growing());
        begun.countDown();
    }

    /** The session has written everything: shows the rest, and returns when that is done. */
    void finish() throws InterruptedException {
        ended.countDown();
        begun.countDown();
        thread.join();
    }

    private void run() {
        WatchedSession what;
        try {
            begun.await();
            what = watched;
        } catch (InterruptedException e) {
            return;
        }
        if (what == null) {
            return;
        }
        try (ReportSource source =
                LiveRecording.open(
                        what.session.meta(),
                        what.files,
                        what.session::formats,
                        () -> ended.getCount() == 0)) {
            view.show(LiveEvents.of(source, options(), ended));
        } catch (IOException | RuntimeException e) {
            what.session.addNote("live output ended early: " + e.getMessage());
            closed.run();
        }
    }

    private ReportOptions options() {
        return new ReportOptions(
                List.of(),
                null,
                null,
                Set.of(),
                List.of(),
                shown,
                0,
                ListingOptions.ALL,
                StackOptions.DEFAULT);
    }

    /** Ends the thread of a session that never began. */
    @Override
    public void close() {
        ended.countDown();
        begun.countDown();
    }
}
