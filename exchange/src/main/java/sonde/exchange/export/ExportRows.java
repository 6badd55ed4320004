package sonde.exchange.export;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.Lane;
import sonde.event.ReadRows;
import sonde.event.Recording;
import sonde.recording.ftrace.EventListing;

/** The rows of recordings by time; of equal times the earlier recording's and lane's first. */
public final class ExportRows implements AutoCloseable {
    private final List<Lane> lanes = new ArrayList<>();
    private final PriorityQueue<RowPosition> later =
            new PriorityQueue<>((a, b) ->
                    a.time != b.time
                            ? Long.compare(a.time, b.time)
                            : Integer.compare(a.number, b.number));
    private final ChainNames names;
    private final EventListing.Filter filter;
    private final Clock clock;
    private final Map<Integer, String> comms = new HashMap<>();
    private @Nullable RowPosition current;

    private static final class RowPosition {
        final int number;
        final Recording recording;
        final Lane lane;
        Batch batch;
        int row;
        long time;

        RowPosition(int number, Recording recording, Lane lane, Batch batch) {
            this.number = number;
            this.recording = recording;
            this.lane = lane;
            this.batch = batch;
            this.time = batch.time(0);
        }

        boolean step() throws IOException {
            if (++row == batch.size()) {
                Batch next = lane.next();
                if (next == null) {
                    return false;
                }
                ReadRows.add(next);
                batch = next;
                row = 0;
            }
            time = batch.time(row);
            return true;
        }
    }

    private ExportRows(List<Recording> recordings, ChainNames names, EventListing.Filter filter)
            throws IOException {
        this.names = names;
        this.filter = filter;
        Clock first = Clock.UNKNOWN;
        for (Recording recording : recordings) {
            if (!recording.sources().isEmpty() && first == Clock.UNKNOWN) {
                first = recording.sources().getFirst().clock();
            }
            recording.threadNames().ifPresent(told -> told.forEach(comms::putIfAbsent));
            for (Lane lane : recording.lanes()) {
                lanes.add(lane);
                Batch batch = lane.next();
                if (batch != null) {
                    later.add(new RowPosition(lanes.size(), recording, lane, batch));
                }
            }
        }
        clock = first;
    }

    /** Rows of recordings whose clocks are one. */
    public static ExportRows of(List<Recording> recordings, ChainNames names) throws IOException {
        return of(recordings, names, EventListing.Filter.ALL);
    }

    /** As above, of them those that are accepted: all are asked about, by time. */
    public static ExportRows of(
            List<Recording> recordings, ChainNames names, EventListing.Filter filter)
            throws IOException {
        return new ExportRows(recordings, names, filter);
    }

    /** What the times count. */
    Clock clock() {
        return clock;
    }

    /** Names of threads that no row tells, by tid. */
    Map<Integer, String> comms() {
        return Map.copyOf(comms);
    }

    /** The next row; null at the end. */
    @Nullable ExportRow next() throws IOException {
        for (RowPosition at = step(); at != null; at = step()) {
            names.follow(at.batch, at.row);
            if (filter.accepts(at.batch, at.row)) {
                return new ExportRow(at.recording, at.lane, at.batch, at.row, names);
            }
        }
        return null;
    }

    private @Nullable RowPosition step() throws IOException {
        RowPosition at = current;
        if (at == null) {
            at = later.poll();
        } else if (!at.step()) {
            at = later.poll();
        } else {
            RowPosition other = later.peek();
            boolean behind =
                    other != null
                            && (other.time < at.time
                                    || other.time == at.time && other.number < at.number);
            if (behind) {
                later.add(at);
                at = later.poll();
            }
        }
        current = at;
        return at;
    }

    @Override
    public void close() {
        lanes.forEach(Lane::close);
    }
}
