package sonde.tools.report;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import sonde.analysis.LiveMerge;
import sonde.event.Batch;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.LiveResult;
import sonde.event.result.Result;
import sonde.open.LiveRecording;
import sonde.open.ReportSource;
import sonde.recording.ftrace.EventListing.ListedLane;
import sonde.recording.ftrace.RowText;
import sonde.recording.ftrace.TextBuffer;
import sonde.sys.Clocks;

/**
 * The events of a recording that is still written, as they happen: a listing of the new ones for
 * each tick, its lines those of {@code report --events} with the milliseconds since the first event
 * before them. A line that belongs before one that was shown already ends in {@code [LATE]}; events
 * that came faster than the lines could be written are counted in a line of their own.
 */
public final class LiveEvents implements LiveResult.ResultTicks {
    /** For so long an event waits for older ones of other CPUs. */
    private static final long WINDOW_NANOS = 150_000_000;

    private static final long TICK_MILLIS = 40;

    private final ReportSource source;
    private final EventRows rows;
    private final CountDownLatch ended;
    private @Nullable LiveWriting writing;
    private boolean done;

    private LiveEvents(ReportSource source, ReportOptions options, CountDownLatch ended) {
        this.source = source;
        this.rows = new EventRows(source, options);
        this.ended = ended;
    }

    /**
     * The events of a source that grows; {@code source} stays open until the last tick.
     *
     * @param ended down when the recording is written to its end
     */
    public static LiveResult of(ReportSource source, ReportOptions options, CountDownLatch ended) {
        source.keepRecordedStacks();
        source.sampleFields(false);
        return new LiveResult("", new LiveEvents(source, options, ended));
    }

    @Override
    public @Nullable Result next() throws IOException {
        if (done) {
            return null;
        }
        try {
            boolean isLast = ended.await(TICK_MILLIS, TimeUnit.MILLISECONDS);
            return new Listing("", List.of(), (out, form) -> write(out, form, isLast));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("live events");
        }
    }

    private void write(OutputStream out, ListingForm form, boolean isLast) throws IOException {
        LiveWriting open = writing;
        if (open == null) {
            open = new LiveWriting(form);
            writing = open;
        }
        boolean more = open.tick(out, isLast);
        done = isLast && !more;
        if (done) {
            open.merge.close();
        }
    }

    /** What goes on from tick to tick. */
    private final class LiveWriting {
        private static final int DRAIN_BYTES = 1 << 16;
        private final boolean isText;
        private final Map<Source, RowText> texts = new IdentityHashMap<>();
        private final EventFilter filter;
        private final LiveMerge merge;
        private final TextBuffer lines = new TextBuffer(DRAIN_BYTES * 2);
        private long last = RowText.NO_TIME;
        private long first = RowText.NO_TIME;

        LiveWriting(ListingForm form) throws IOException {
            isText = form == ListingForm.TEXT;
            List<ListedLane> parts = rows.parts(form);
            filter = rows.filter(parts);
            parts.forEach(part -> texts.put(part.lane().source(), part.text()));
            merge = new LiveMerge(parts.stream().map(ListedLane::lane).toList());
        }

        boolean tick(OutputStream out, boolean isLast) throws IOException {
            long now = Clocks.nanos(Clocks.CLOCK_MONOTONIC);
            boolean more =
                    merge.advance(
                            isLast ? -1 : now - WINDOW_NANOS,
                            (batch, row, isLate) -> {
                                append(batch, row, isLate);
                                if (lines.size() >= DRAIN_BYTES) {
                                    lines.drainTo(out);
                                }
                            });
            for (Recording recording : source.recordings()) {
                recording
                        .capability(LiveRecording.class)
                        .map(LiveRecording::takeSkipped)
                        .filter(skipped -> skipped.bytes() > 0)
                        .ifPresent(this::skipped);
            }
            lines.drainTo(out);
            return more;
        }

        private void append(Batch batch, int row, boolean isLate) {
            RowText text = Objects.requireNonNull(texts.get(batch.source()));
            boolean isShown = filter.accepts(batch, row);
            RowText.Turn turn = text.turn(batch, row);
            if (!isShown) {
                if (turn == RowText.Turn.ALONE) {
                    text.skip(batch, row);
                }
                return;
            }
            if (isText) {
                first = first == RowText.NO_TIME ? batch.time(row) : first;
                since(batch.time(row) - first);
            }
            text.appendAfter(lines, batch, row, last);
            last = text.isTimed(batch.type(row)) ? batch.time(row) : last;
            if (isLate && isText) {
                lines.truncate(lines.size() - 1);
                lines.put(" [LATE]\n");
            } else if (isLate) {
                lines.truncate(lines.size() - 2);
                lines.put(",\"late\":true}\n");
            }
        }

        /** Milliseconds since the first event, as perf trace shows them. */
        private void since(long nanos) {
            int start = lines.size();
            long micros = Math.abs(nanos) / 1000;
            lines.put(nanos < 0 ? "-" : "").decimal(micros / 1000).put('.');
            lines.digits(micros % 1000, 3).pad(start, 10, false).put(' ');
        }

        private void skipped(LiveRecording.SkippedEvents skipped) {
            if (isText) {
                lines.put("[NOT SHOWN: about ").decimal(skipped.events()).put(" events, ");
                lines.decimal(skipped.bytes() >> 20).put(" MiB; lines are written too slowly]\n");
            } else {
                lines.put("{\"event\":\"live:skipped\",\"fields\":{\"count\":");
                lines.decimal(skipped.events()).put(",\"bytes\":");
                lines.decimal(skipped.bytes()).put("}}\n");
            }
        }
    }
}
