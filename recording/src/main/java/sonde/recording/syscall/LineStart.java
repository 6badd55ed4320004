package sonde.recording.syscall;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import sonde.recording.syscall.LineStyle.ClockForm;
import sonde.recording.syscall.LineStyle.PidForm;

/** The begin of a line: its thread and its time. */
public final class LineStart {
    private static final long NANOS = 1_000_000_000;
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");

    private final LineStyle lines;
    private final long epochOffset;
    private final StringBuilder head = new StringBuilder();
    private long lastNanos = -1;

    /**
     * Of lines of a form.
     *
     * @param epochOffset nanoseconds from CLOCK_MONOTONIC to the time of day
     */
    public LineStart(LineStyle lines, long epochOffset) {
        this.lines = lines;
        this.epochOffset = epochOffset;
    }

    /** The text so far; always the same builder. */
    public StringBuilder text() {
        return head;
    }

    /**
     * Makes a new one.
     *
     * @param several whether there are other threads
     */
    public void begin(String thread, boolean several, long nanos) {
        head.setLength(0);
        if (lines.pid() == PidForm.PLAIN) {
            pad(thread, 5, false).append(' ');
        } else if (lines.pid() == PidForm.ALWAYS || lines.pid() == PidForm.BRACKETS && several) {
            head.append("[pid ");
            pad(thread, 5, true).append("] ");
        }
        time(nanos);
    }

    /** Appends a word. */
    StringBuilder pad(String word, int width, boolean right) {
        String blanks = " ".repeat(Math.max(0, width - word.length()));
        return head.append(right ? blanks : "").append(word).append(right ? "" : blanks);
    }

    private void time(long nanos) {
        ClockForm clock = lines.time().clock();
        long wall = nanos + epochOffset;
        if (clock == ClockForm.TIME) {
            Instant instant = Instant.ofEpochSecond(Math.floorDiv(wall, NANOS), 0);
            head.append(CLOCK.format(instant.atZone(ZoneId.systemDefault())));
        } else if (clock == ClockForm.UNIX) {
            head.append(Math.floorDiv(wall, NANOS));
        }
        if (clock != ClockForm.NONE) {
            fraction(Math.floorMod(wall, NANOS), lines.time().clockDigits());
            head.append(' ');
        }
        if (lines.time().sinceDigits() >= 0) {
            long since = lastNanos < 0 ? 0 : nanos - lastNanos;
            lastNanos = nanos;
            head.append(clock == ClockForm.NONE ? "" : "(+");
            pad(Long.toString(since / NANOS), 6, true);
            fraction(since % NANOS, lines.time().sinceDigits());
            head.append(clock == ClockForm.NONE ? " " : ") ");
        }
    }

    private void fraction(long nanos, int digits) {
        if (digits > 0) {
            String all = Long.toString(nanos + NANOS);
            head.append('.').append(all, 1, 1 + digits);
        }
    }

    /** Appends how long something took, in angle brackets. */
    public void duration(long nanos) {
        head.append(" <").append(nanos / NANOS);
        fraction(nanos % NANOS, lines.time().durationDigits());
        head.append('>');
    }
}
