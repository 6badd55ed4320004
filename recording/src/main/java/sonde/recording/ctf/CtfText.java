package sonde.recording.ctf;

import java.time.Instant;
import java.time.ZoneId;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.recording.ctf.DecodePlan.EventPlan;
import sonde.recording.ctf.DecodePlan.StreamPlan;
import sonde.recording.ftrace.PackedText;
import sonde.recording.ftrace.RowText;
import sonde.recording.ftrace.TextBuffer;
import sonde.recording.ftrace.ThreadNames;

/**
 * Writes events line by line as {@code babeltrace2} does by default: {@code [12:34:56.789012345]
 * (+0.000001234) host event: { cpu_id = 0 }, { field = 1 }}. Losses and damage have no lines, as
 * there; {@link CtfRecording#notes()} tells of them.
 */
final class CtfText implements RowText {
    private static final long NANOS = 1_000_000_000L;
    private static final PackedText NO_DELTA = PackedText.of("] (+?.?????????) ");
    private static final PackedText SHORT_DELTA = PackedText.of("] (+0.");
    private static final PackedText DELTA = PackedText.of("] (+");
    private static final PackedText END = PackedText.of(") ");

    private final DecodePlan plan;
    private final ZoneId zone;
    private final LttngThreadNames names;
    private final PackedText origin;
    private final @Nullable PrintSteps[] prints;
    private final boolean[] stamped;
    private volatile ZoneShift offset = new ZoneShift(1, 0, 0);
    private volatile Second second = new Second(Long.MIN_VALUE / 2, new PackedText(new byte[0]));

    /** How the lines of a second begin, by the nanosecond it starts at. */
    private record Second(long start, PackedText text) {}

    /** The zone's offset in seconds between two moments. */
    private record ZoneShift(long from, long to, int seconds) {}

    CtfText(DecodePlan plan, ZoneId zone, @Nullable ThreadNames threads) {
        this.plan = plan;
        this.zone = zone;
        this.names = new LttngThreadNames(plan, threads);
        this.origin = PackedText.of(origin(plan.trace.environment));
        this.prints = new PrintSteps[plan.types.size()];
        this.stamped = new boolean[plan.types.size()];
        for (StreamPlan stream : plan.streams.values()) {
            for (EventPlan event : stream.events()) {
                stamped[event.type] = stream.clock != null;
            }
        }
    }

    /** Host, process and its number, as the environment says: {@code host:name:(12) }. */
    private static String origin(Map<String, Object> environment) {
        StringBuilder origin = new StringBuilder();
        Object host = environment.get("hostname");
        if (host != null) {
            origin.append(host);
        }
        Object process = environment.get("procname");
        if (process != null) {
            origin.append(origin.isEmpty() ? "" : ":").append(process);
        }
        Object id = environment.get("vpid");
        if (id != null) {
            origin.append(origin.isEmpty() ? "" : ":").append('(').append(id).append(')');
        }
        return origin.isEmpty() ? "" : origin.append(' ').toString();
    }

    @Override
    public Turn turn(Batch batch, int row) {
        names.learn(batch, row);
        return Turn.ANY;
    }

    @Override
    public boolean isFree(Batch batch) {
        return true; // names are for filters, which ask for turns
    }

    @Override
    public void skip(Batch batch, int row) {
        // names are learnt when the turn is asked for
    }

    @Override
    public boolean isTimed(int type) {
        return stamped[type];
    }

    @Override
    public boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
        appendAfter(out, batch, row, NO_TIME);
        return false;
    }

    @Override
    public void appendAfter(TextBuffer out, Batch batch, int row, long previous) {
        int type = batch.type(row);
        EventPlan event = plan.events.get(type);
        if (event == null) {
            return;
        }
        PrintSteps steps = prints[type];
        if (steps == null) {
            steps = new PrintSteps(event);
            prints[type] = steps;
        }
        if (stamped[type]) {
            long time = batch.time(row);
            time(out, time);
            delta(out, time, previous);
        }
        out.put(origin);
        steps.append(out, batch, row);
    }

    private static void delta(TextBuffer out, long time, long previous) {
        long delta = time - previous;
        if (previous == NO_TIME) {
            out.put(NO_DELTA);
        } else if (delta >= 0 && delta < NANOS) {
            out.put(SHORT_DELTA).nineDigits((int) delta).put(END);
        } else {
            long seconds = Long.divideUnsigned(delta, NANOS);
            out.put(DELTA).unsigned(seconds).put('.').digits(delta - seconds * NANOS, 9).put(END);
        }
    }

    private void time(TextBuffer out, long time) {
        if (time < 0) {
            // Before the epoch babeltrace2 falls back to seconds.
            out.put('[').put('-').unsigned(-(time / NANOS)).put('.').digits(-(time % NANOS), 9);
            return;
        }
        Second known = second;
        long nanos = time - known.start;
        if (nanos < 0 || nanos >= NANOS) {
            known = second(time / NANOS);
            nanos = time - known.start;
            second = known;
        }
        out.put(known.text).nineDigits((int) nanos);
    }

    private Second second(long seconds) {
        TextBuffer out = new TextBuffer(16).put('[');
        long local = Math.floorMod(seconds + zoneSeconds(seconds), 86_400L);
        out.digits(local / 3600, 2).put(':').digits(local / 60 % 60, 2).put(':');
        out.digits(local % 60, 2).put('.');
        return new Second(seconds * NANOS, new PackedText(out.since(0)));
    }

    /** Offsets change at whole quarters of an hour. */
    private int zoneSeconds(long seconds) {
        ZoneShift known = offset;
        if (seconds < known.from || seconds >= known.to) {
            long from = seconds - seconds % 900;
            int shift = zone.getRules().getOffset(Instant.ofEpochSecond(seconds)).getTotalSeconds();
            known = new ZoneShift(from, from + 900, shift);
            offset = known;
        }
        return known.seconds;
    }
}
