package sonde.format.ftrace;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.Clock;
import sonde.event.EventType;
import sonde.event.IntegerField;

/**
 * Writes events as {@code trace-cmd report} does: {@code "comm-tid [cpu] time: name: text"}.
 *
 * <p>Has a memory (names learnt from sched_switch, the indentation of the function tracer), so rows
 * go in by time, from one thread; {@link EventListing} knows which may go in from several.
 */
public final class EventText {
    private static final int COMM_COLUMNS = 16;
    private static final int NAME_COLUMNS = 20;
    // PID_MAX_LIMIT of the kernel; beyond it nothing is remembered.
    private static final int MOST_TIDS = 1 << 22;
    private static final byte[] UNKNOWN_COMM = "<...>".getBytes(StandardCharsets.US_ASCII);

    private final List<EventType> types;
    private final TextContext context;
    private final boolean nanos;
    private final EventInfo[] infos;
    private final byte[][] names;
    private byte[][] threads = new byte[1 << 16][];
    private final int graphEntry;
    // Per type: 0 remembers nothing, 1 always, 2 when it tells a name not known yet.
    private final byte[] serial;
    private final Map<Integer, List<IntegerField>> teachers = new HashMap<>();
    private long timeOffset;
    private boolean nineDigits;

    /**
     * A writer for the rows of one recording.
     *
     * @param comms command names by tid
     * @param clock of the rows' times: nanoseconds are shown as seconds with six digits
     */
    public EventText(
            EventTable table, TextContext context, Map<Integer, String> comms, Clock clock) {
        this.types = table.types();
        this.context = context;
        this.nanos = clock.isNanos();
        this.infos = new EventInfo[types.size()];
        this.names = new byte[types.size()][];
        int entry = -1;
        this.serial = new byte[types.size()];
        for (EventType type : types) {
            classify(type);
            entry = type.qualifiedName().equals("ftrace:funcgraph_entry") ? type.id() : entry;
        }
        this.graphEntry = entry;
        comms.forEach((tid, comm) -> learn(tid, comm.getBytes(StandardCharsets.UTF_8)));
        thread(0, "<idle>".getBytes(StandardCharsets.US_ASCII));
    }

    /** Shows times with nine digits, as {@code trace-cmd report -t}. */
    public EventText withNanoseconds() {
        nineDigits = true;
        return this;
    }

    /** Adds nanoseconds to every time shown. */
    public EventText offsetBy(long nanoseconds) {
        timeOffset = nanoseconds;
        return this;
    }

    /** Appends the line of a row, line feed included. */
    public void append(TextBuffer out, Batch batch, int row) {
        append(out, batch, row, null, 0);
    }

    /**
     * Appends the line of a row.
     *
     * @param next the batch of the event that follows in the same buffer, null for none: a function
     *     that calls nothing is told with its return
     * @return whether the next event was told too
     */
    public boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
        int type = batch.type(row);
        if (type <= EventTable.UNKNOWN) {
            return notice(out, batch, row, type);
        }
        head(out, batch, row);
        byte[] name = names[type];
        if (name == null) {
            name = name(type);
        }
        out.put(name);
        boolean both = info(type).append(out, batch, row, next, nextRow);
        if (out.at(out.size() - 1) == '\n') {
            out.truncate(out.size() - 1);
        }
        out.put('\n');
        return both;
    }

    /** Appends what stands behind the event's name only. */
    public void appendInfo(TextBuffer out, Batch batch, int row) {
        if (batch.type(row) > EventTable.UNKNOWN) {
            info(batch.type(row)).append(out, batch, row, null, 0);
        }
    }

    /** Whether events of a type may be told together with the next one. */
    boolean looksAhead(int type) {
        return type == graphEntry;
    }

    /**
     * Whether the row needs or changes what is remembered; all others may be appended by several
     * threads at once.
     */
    boolean isSerial(Batch batch, int row) {
        int type = batch.type(row);
        return switch (serial[type]) {
            case 0 -> false;
            case 1 -> true;
            default -> teaches(teachers.get(type), batch, row);
        };
    }

    private boolean teaches(@Nullable List<IntegerField> tids, Batch batch, int row) {
        if (tids != null) {
            for (IntegerField tid : tids) {
                if (!knows((int) tid.of(batch, row))) {
                    return true;
                }
            }
        }
        return false;
    }

    private void classify(EventType type) {
        switch (type.qualifiedName()) {
            case "ftrace:function", "ftrace:funcgraph_entry" -> serial[type.id()] = 1;
            case "sched:sched_switch", "sched:sched_wakeup", "sched:sched_wakeup_new" -> {
                serial[type.id()] = 2;
                List<IntegerField> tids = new ArrayList<>();
                for (String name : List.of("prev_pid", "next_pid", "pid")) {
                    IntegerField tid = EventInfos.integer(type, name);
                    if (tid != null) {
                        tids.add(tid);
                    }
                }
                teachers.put(type.id(), tids);
            }
            default -> {}
        }
    }

    private boolean notice(TextBuffer out, Batch batch, int row, int type) {
        switch (type) {
            case EventTable.LOST -> {
                out.put("CPU:").decimal(batch.cpu(row)).put(" [");
                if (batch.weight(row) > 0) {
                    out.decimal(batch.weight(row)).put(' ');
                }
                out.put("EVENTS DROPPED]\n");
            }
            case EventTable.CORRUPT -> {
                out.put("CPU:").decimal(batch.cpu(row)).put(" [CORRUPT, ");
                out.decimal(batch.payloadBytes(row)).put(" BYTES SKIPPED]\n");
            }
            default -> {
                head(out, batch, row);
                out.put(" [UNKNOWN EVENT ").decimal(batch.u16(row, 0)).put("]\n");
            }
        }
        return false;
    }

    private void head(TextBuffer out, Batch batch, int row) {
        int tid = batch.tid(row);
        byte[] thread = tid >= 0 && tid < threads.length ? threads[tid] : null;
        out.put(thread != null ? thread : thread(tid, UNKNOWN_COMM));
        out.put(' ').put('[').digits(batch.cpu(row) & 0xffff, 3).put(']');
        long time = batch.time(row) + timeOffset;
        if (!nanos) {
            int start = out.size();
            out.unsigned(time).pad(start, 12, false).put(':');
            return;
        }
        long unit = nineDigits ? 1_000_000_000 : 1_000_000;
        long units = nineDigits ? time & Long.MAX_VALUE : Long.divideUnsigned(time + 500, 1000);
        long seconds = units / unit;
        out.put(' ');
        if (seconds < 10_000) {
            out.blanks(seconds < 10 ? 4 : seconds < 100 ? 3 : seconds < 1000 ? 2 : 1);
        }
        out.digits(seconds, 1).put('.');
        out.digits(units - seconds * unit, nineDigits ? 9 : 6).put(':');
    }

    private byte[] name(int type) {
        String name = types.get(type).name();
        byte[] padded =
                (" " + name + ": " + " ".repeat(Math.max(0, NAME_COLUMNS - name.length())))
                        .getBytes(StandardCharsets.UTF_8);
        names[type] = padded;
        return padded;
    }

    private EventInfo info(int type) {
        EventInfo info = infos[type];
        if (info == null) {
            info = EventInfos.of(types.get(type), types, context, this);
            infos[type] = info;
        }
        return info;
    }

    /** Remembers a name for a thread that has none. */
    void learn(int tid, byte[] comm) {
        if (tid > 0 && (tid >= threads.length || threads[tid] == null)) {
            thread(tid, comm);
        }
    }

    /** Whether a thread's name is known. */
    boolean knows(int tid) {
        return tid >= 0 && tid < threads.length && threads[tid] != null;
    }

    private byte[] thread(int tid, byte[] comm) {
        TextBuffer text = new TextBuffer(32);
        text.put(comm).pad(0, COMM_COLUMNS, false).put('-');
        int start = text.size();
        byte[] thread = text.decimal(tid).pad(start, 5, true).since(0);
        boolean known = !Arrays.equals(comm, UNKNOWN_COMM);
        if (tid >= 0 && tid < MOST_TIDS && known) {
            if (tid >= threads.length) {
                threads = Arrays.copyOf(threads, Math.max(threads.length * 2, tid + 1));
            }
            threads[tid] = thread;
        }
        return thread;
    }
}
