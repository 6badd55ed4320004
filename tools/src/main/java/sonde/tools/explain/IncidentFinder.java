package sonde.tools.explain;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.ZonedDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Collects the lines of each report while a log passes. Reports of several processors and tasks are
 * kept apart where the log names who printed a line.
 */
final class IncidentFinder implements LogScanner.Lines {
    private static final String DROPPED = "printk messages dropped";

    /** Lines that belong to a report that begins soon. */
    static final Set<String> NOTES =
            Set.of(
                    "[ cut here ]",
                    "list_add corruption",
                    "list_add double add",
                    "list_del corruption",
                    "usercopy: ",
                    "detected buffer overflow",
                    "reboot: ",
                    DROPPED);

    private static final int MOST_LINES = 600;

    /** With a row for each task. */
    private static final int MOST_OF_LISTS = 1 << 15;

    /** Lines that are looked at for the kernel's times. */
    private static final int MOST_UNSURE = 1000;

    private static final int MOST_BEFORE = 12;
    private static final int FAR = 400;
    private static final int IDLE = 40;

    /** Memory by zone, node and task, of machines with many of them. */
    private static final int IDLE_OF_LISTS = 300;

    private static final double LONG = 60;
    private static final double SOON = 10;
    private static final int MOST_OPEN = 64;

    /** Takes incidents in the order in which they began. */
    interface IncidentSink {
        void incident(Incident incident) throws IOException;
    }

    private final Catalogue catalogue;
    private final IncidentReader reader;
    private final IncidentSink sink;
    private final double boot;
    private final ZonedDateTime now = ZonedDateTime.now();
    private final Map<String, OpenReport> open = new HashMap<>();
    private final Map<String, Deque<LogLine>> notes = new HashMap<>();
    private final Deque<OpenReport> order = new ArrayDeque<>();
    private byte[] raw = {};
    private int rawFrom;
    private int rawTo;
    private long number;
    private boolean isLog;
    private boolean restarts;
    private int incidents;
    private int cause;
    private double causeSeconds;

    /**
     * @param boot when the kernel's time began, in seconds since 1970; NaN where nobody knows
     */
    IncidentFinder(Catalogue catalogue, IncidentReader reader, double boot, IncidentSink sink) {
        this.catalogue = catalogue;
        this.boot = boot;
        this.reader = reader;
        this.sink = sink;
    }

    @Override
    public void line(byte[] bytes, int from, int to, boolean marked) throws IOException {
        number++;
        if (!isLog && number <= MOST_UNSURE) {
            isLog = LogLine.hasPrefix(bytes, from, to, number);
        }
        if (!marked) {
            if (open.isEmpty() && notes.isEmpty()) {
                return;
            }
            String context = LogLine.context(bytes, from, to);
            if (context != null && !open.containsKey(context) && !notes.containsKey(context)) {
                if (number % 64 == 0) {
                    closeOld();
                }
                return;
            }
        }
        if (marked && !open.isEmpty()) {
            String raw = new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
            boolean isDropped = raw.contains(DROPPED) || raw.contains("replaying previous printk");
            open.values().forEach(one -> one.dropped |= isDropped);
        }
        raw = bytes;
        rawFrom = from;
        rawTo = to;
        take(LogLine.of(bytes, from, to, number), marked);
    }

    /** When and by whom the last line was written. */
    private LogStamp stamp(LogLine line) {
        String text = new String(raw, rawFrom, rawTo - rawFrom, StandardCharsets.UTF_8);
        LogStamp stamp = LogStamp.of(JournalEntry.plain(text), now);
        return Double.isNaN(stamp.epoch())
                ? new LogStamp(boot + line.seconds(), stamp.facility())
                : stamp;
    }

    @Override
    public void waits() throws IOException {
        // a report may go on with the next read
    }

    private void take(LogLine line, boolean marked) throws IOException {
        String plain = line.text();
        if (plain.startsWith(" SUBSYSTEM=") || plain.startsWith(" DEVICE=")) {
            return;
        }
        String context = line.context();
        restarts |= marked && line.text().contains("reboot: ");
        Catalogue.KindMatch found = marked ? catalogue.find(line.text()) : null;
        OpenReport current = open.get(context);
        if (found != null && !belongs(line, found, current)) {
            begin(line, found, current);
            return;
        }
        if (current == null) {
            if (found == null) {
                note(line, marked);
            }
            return;
        }
        if (found != null) {
            current.panicked |= found.kind().group().equals("panic");
            if (found.kind().has("merge")) {
                IncidentReader.put(found.matcher(), current.fields);
            } else if (refines(found.kind(), current.kind)) {
                current.kind = found.kind();
                current.fields.keySet().removeAll(found.matcher().namedGroups().keySet());
                IncidentReader.put(found.matcher(), current.fields);
            }
        }
        double last = current.lines.getLast().seconds();
        if (line.seconds() - last > LONG
                || line.seconds() < last - 1
                || current.lines.size()
                        >= (current.kind.has("long") ? MOST_OF_LISTS : MOST_LINES)) {
            close(context, current);
            note(line, marked);
            return;
        }
        Pattern shape = current.shape;
        LogLine shorn = shape == null ? line : line.without(shape);
        current.lines.add(shorn);
        current.idle = isReport(shorn.text()) ? 0 : current.idle + 1;
        if (current.idle > (current.kind.has("long") ? IDLE_OF_LISTS : IDLE)) {
            int end = current.lines.size();
            current.lines.subList(Math.max(1, end - current.idle), end).clear();
            close(context, current);
        }
        if (number % 64 == 0) {
            closeOld();
        }
    }

    private void note(LogLine line, boolean marked) {
        Deque<LogLine> last = notes.get(line.context());
        if (last == null && !marked) {
            if (number % 64 == 0) {
                notes.clear();
            }
            return;
        }
        if (last == null) {
            if (notes.size() >= MOST_OPEN) {
                notes.clear();
            }
            last = new ArrayDeque<>();
            notes.put(line.context(), last);
        }
        last.add(line);
        if (last.size() > MOST_BEFORE) {
            notes.remove(line.context());
        }
    }

    /**
     * Whether a further line of a report says that it is of another kind, and worse if of a third.
     */
    private static boolean refines(IncidentKind kind, IncidentKind open) {
        boolean isWorse = kind.severity().compareTo(open.severity()) < 0;
        return kind.has("refine")
                && kind.group().equals(open.group())
                && (isWorse || !open.has("refine"));
    }

    private boolean belongs(LogLine line, Catalogue.KindMatch found, @Nullable OpenReport current) {
        IncidentKind kind = found.kind();
        if (current == null) {
            return kind.has("later") && (number < 2 || restarts);
        }
        if (kind.has("merge")) {
            return kind.group().equals(current.kind.group())
                    && !current.fields.containsKey("address");
        }
        boolean isNear = current.lines.size() < 3 && !kind.has("line");
        if (isNear && kind.name().equals(current.kind.name())) {
            // Symbolized logs repeat the first line for each inlined call; the last one is real.
            boolean isSame = line.seconds() == current.lines.getLast().seconds();
            if (isSame || !line.hasTime()) {
                current.fields.keySet().removeAll(found.matcher().namedGroups().keySet());
                IncidentReader.put(found.matcher(), current.fields);
                return true;
            }
        }
        return kind.within().contains("*") && current.kind.isFault()
                || kind.within().contains(current.kind.group());
    }

    private void begin(LogLine line, Catalogue.KindMatch found, @Nullable OpenReport current)
            throws IOException {
        String context = line.context();
        boolean isInside =
                current != null
                        && current.lines.size() < IDLE
                        && (found.kind().has("line")
                                || !found.kind().isFault()
                                        && current.kind.isFault()
                                        && current.idle == 0);
        if (isInside) {
            OpenReport alone = new OpenReport(found.kind(), stamp(line), List.of());
            IncidentReader.put(found.matcher(), alone.fields);
            alone.lines.add(line);
            alone.closed = true;
            order.add(alone);
            return;
        }
        if (current != null) {
            close(context, current);
        }
        Deque<LogLine> last = notes.remove(context);
        int start = found.matcher().start();
        Pattern shape = start == 0 ? null : LogLine.shape(line.text().substring(0, start));
        List<LogLine> earlier =
                last != null ? List.copyOf(last) : current == null ? List.of() : current.lines;
        List<LogLine> before = new ArrayList<>();
        for (LogLine one : last != null ? earlier : behind(earlier)) {
            before.add(shape == null ? one : one.without(shape));
        }
        OpenReport next = new OpenReport(found.kind(), stamp(line), before);
        next.shape = shape;
        IncidentReader.put(found.matcher(), next.fields);
        next.lines.add(line);
        open.put(context, next);
        order.add(next);
        if (open.size() > MOST_OPEN) {
            closeAll();
        }
    }

    /** The message before {@code [ cut here ]}, where a report goes on until there. */
    private static List<LogLine> behind(List<LogLine> lines) {
        int size = lines.size();
        boolean isCut = size > 2 && lines.getLast().text().contains("[ cut here ]");
        return isCut ? List.copyOf(lines.subList(size - 2, size)) : List.of();
    }

    private static boolean isReport(String text) {
        return text.startsWith(" ")
                || text.startsWith("\t")
                || text.contains("+0x")
                || text.startsWith("CPU:")
                || text.startsWith("Call Trace")
                || text.length() > 4 && text.indexOf(':') == 4
                || text.startsWith("R")
                || text.startsWith("Code:")
                || text.startsWith("[");
    }

    private void closeOld() throws IOException {
        List<String> old = new ArrayList<>();
        open.forEach((context, one) -> {
            if (number - one.lines.getLast().number() > FAR) {
                old.add(context);
            }
        });
        for (String context : old) {
            OpenReport one = open.get(context);
            if (one != null) {
                close(context, one);
            }
        }
    }

    private void close(String context, OpenReport one) throws IOException {
        open.remove(context);
        one.closed = true;
        flush();
    }

    private void flush() throws IOException {
        while (!order.isEmpty() && order.getFirst().closed) {
            OpenReport one = order.removeFirst();
            incidents++;
            sink.incident(reader.read(incidents, one, cause(one)));
        }
    }

    /** The first fault of this boot where it was shortly before; 0 for none. */
    private int cause(OpenReport one) {
        LogLine first = one.lines.getFirst();
        boolean isNew = cause == 0 || first.seconds() < causeSeconds;
        if (isNew && one.kind.isFault()) {
            cause = incidents;
            causeSeconds = first.seconds();
            return 0;
        }
        return one.kind.isFault() && first.seconds() - causeSeconds <= SOON ? cause : 0;
    }

    /** Whether a line has what the kernel or a logger puts before its text, or began a report. */
    boolean isLog() {
        return isLog || number == 0 || incidents > 0;
    }

    /** Ends every report: the log has no further line. */
    void closeAll() throws IOException {
        for (OpenReport one : order) {
            one.closed = true;
        }
        open.clear();
        flush();
    }
}
