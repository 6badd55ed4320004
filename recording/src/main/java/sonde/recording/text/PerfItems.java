package sonde.recording.text;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import sonde.event.EventType;
import sonde.recording.BatchWriter;

/** The samples and records of a text of perf script. */
final class PerfItems extends TextItems {
    private static final int MOST_FRAMES = 1024;
    private static final byte[] ARCH = KeyValueTokens.bytes("# arch : ");
    private static final byte[] CPU_CLOCK = KeyValueTokens.bytes("cpu-clock");
    private static final byte[] TASK_CLOCK = KeyValueTokens.bytes("task-clock");
    private static final byte[] COMM = KeyValueTokens.bytes("PERF_RECORD_COMM");
    private static final byte[] FORK = KeyValueTokens.bytes("PERF_RECORD_FORK");
    private static final byte[] EXIT = KeyValueTokens.bytes("PERF_RECORD_EXIT");
    private static final byte[] LOST = KeyValueTokens.bytes("PERF_RECORD_LOST");
    private static final byte[] SYS_ENTER = KeyValueTokens.bytes("raw_syscalls:sys_enter");
    private static final byte[] SYS_EXIT = KeyValueTokens.bytes("raw_syscalls:sys_exit");

    private final PerfText model;
    private final PerfHead head = new PerfHead();
    private final PerfHead probe = new PerfHead();
    private final PerfFrame frame = new PerfFrame();
    private final PerfRecord record = new PerfRecord();
    private final KeyValueTokens tokens = new KeyValueTokens();
    private final LineScan scan = new LineScan();
    private final FirstComms current = new FirstComms();
    private final byte[] scratch = TextFrames.scratch();
    private final byte[] line = new byte[LineWindow.MAX_BYTES];
    private final long[] frames = new long[MOST_FRAMES];
    private int depth;
    private @Nullable LearntType shape;
    private @Nullable EventType fixed;
    private boolean renamed;
    private long infoOffset;
    private int infoFrom;
    private int infoBytes;

    PerfItems(PerfText model, LineWindow lines) {
        super(model, lines);
        this.model = model;
    }

    @Override
    Verdict parse() {
        byte[] b = lines.bytes();
        scan.over(b, lines.from, lines.to).blanks();
        if (scan.atEnd()) {
            return Verdict.NOTHING;
        }
        if (b[lines.from] == '#') {
            comment(b, lines.from, lines.to);
            return Verdict.NOTHING;
        }
        depth = 0;
        renamed = false;
        fixed = null;
        shape = null;
        int length = lines.to - lines.from;
        System.arraycopy(b, lines.from, line, 0, length);
        long offset = lines.offset;
        boolean framed = LineScan.isBlank(line[0]) && frame.parse(line, 0, length);
        if (!head.parse(line, 0, length) && !loose(length)) {
            return framed ? headless(length) : Verdict.BAD;
        }
        if (!(head.record ? record(length) : sample(length))) {
            return Verdict.BAD;
        }
        infoOffset = offset + infoFrom;
        names(offset);
        model.timed |= head.timed;
        return Verdict.ITEM;
    }

    /** A head with few fields; what other lines have too counts when a frame follows. */
    private boolean loose(int length) {
        if (!head.loose(line, 0, length)) {
            return false;
        }
        if (!head.anchored) {
            if (LineScan.isBlank(line[0]) && frame.parse(line, 0, length) || !lines.next()) {
                return false;
            }
            byte[] b = lines.bytes();
            boolean framed =
                    LineScan.isBlank(b[lines.from]) && frame.parse(b, lines.from, lines.to);
            lines.back();
            if (!framed) {
                return false;
            }
        }
        if (head.tid < 0 && head.commTo > head.commFrom) {
            // Threads of a name are one, numbered from 1.
            int index = model.threads.find(line, head.commFrom, head.commTo);
            if (index < 0 && model.learning) {
                index = model.threads.add(line, head.commFrom, head.commTo);
            }
            head.tid = index + 1;
        }
        return true;
    }

    private void comment(byte[] b, int from, int to) {
        if (model.learning && LineScan.startsWith(b, from, to, ARCH)) {
            String arch =
                    new String(
                            b,
                            from + ARCH.length,
                            Math.min(32, to - from - ARCH.length),
                            StandardCharsets.US_ASCII);
            model.machine(arch.strip());
        }
    }

    private void names(long offset) {
        if (head.tid < 0 || head.commTo == head.commFrom) {
            return;
        }
        if (!model.learning) {
            renamed = model.isRenamed(offset);
            return;
        }
        model.comms.learn(head.tid, line, head.commFrom, head.commTo);
        if (!current.fits(head.tid, line, head.commFrom, head.commTo)) {
            model.renamedAt(offset);
            renamed = true;
        }
        current.rename(head.tid, line, head.commFrom, head.commTo);
    }

    /** Frames without a head: perf script -F ip,sym. */
    private Verdict headless(int length) {
        head.tid = -1;
        head.pid = -1;
        head.cpu = -1;
        head.time = 0;
        head.period = -1;
        infoOffset = lines.offset;
        infoFrom = 0;
        infoBytes = length;
        shape = model.samples;
        tokens.pairs(line, 0, 0);
        push(line, frame);
        chain();
        return Verdict.ITEM;
    }

    private boolean sample(int length) {
        scan.over(line, head.rest, length).blanks();
        infoFrom = scan.at;
        int end = LineScan.trimEnd(line, infoFrom, length);
        infoBytes = end - infoFrom;
        int colon = tracepoint();
        LearntType of = shape(colon);
        shape = of;
        tokens.arguments = -1;
        if (colon > 0) {
            boolean raw =
                    LineScan.is(line, head.eventFrom, head.eventTo, SYS_ENTER)
                            || LineScan.is(line, head.eventFrom, head.eventTo, SYS_EXIT);
            if (!raw || !tokens.rawSyscall(line, infoFrom, end)) {
                tokens.pairs(line, infoFrom, end);
            }
        } else {
            tokens.pairs(line, 0, 0);
            inline(end);
        }
        chain();
        return true;
    }

    /** {@code event: address symbol (module)} in one line: a sample without callers. */
    private void inline(int end) {
        int at = infoFrom;
        while (at < end) {
            scan.over(line, at, end);
            if (!scan.hex() || !LineScan.isBlank(scan.peek())) {
                return;
            }
            scan.blanks();
            int next = scan.at;
            boolean another = scan.hex() && LineScan.isBlank(scan.peek());
            if (!another && frame.parse(line, at, end)) {
                push(line, frame);
                return;
            }
            at = next;
        }
    }

    /** The colon of {@code system:event}; -1 for {@code cycles:u} and the like. */
    private int tracepoint() {
        for (int i = head.eventFrom; i < head.eventTo; i++) {
            if (line[i] == '/') {
                return -1;
            }
            if (line[i] == ':' && i > head.eventFrom) {
                return isModifier(i + 1, head.eventTo) ? -1 : i;
            }
        }
        return -1;
    }

    // The letters of perf-list(1), "Event Modifiers"
    private boolean isModifier(int from, int to) {
        for (int i = from; i < to; i++) {
            if ("ukhIGHpPSDWebR".indexOf(line[i]) < 0) {
                return false;
            }
        }
        return true;
    }

    private LearntType shape(int colon) {
        int from = head.eventFrom;
        int to = head.eventTo;
        if (to <= from) {
            return model.samples;
        }
        LearntType found = model.learning ? null : model.schema.find(line, from, to);
        if (found != null) {
            return found;
        }
        if (colon > 0) {
            return model.schema.qualified(line, from, colon, to);
        }
        // Without a period nobody knows the time between two samples of a clock.
        boolean clock =
                LineScan.startsWith(line, from, to, CPU_CLOCK)
                        || LineScan.startsWith(line, from, to, TASK_CLOCK);
        return model.schema.of(clock && head.period < 0 ? "profile" : "perf", line, from, to);
    }

    /** The lines of the call chain, up to one that is none. */
    private void chain() {
        while (lines.next()) {
            byte[] b = lines.bytes();
            scan.over(b, lines.from, lines.to);
            boolean indented = scan.blanks();
            if (scan.atEnd()) {
                return;
            }
            boolean begins = b[lines.from] != '\t' && begins(b);
            if (!begins && frame.parse(b, lines.from, lines.to)) {
                push(b, frame);
            } else if (begins || !indented) {
                lines.back();
                return;
            }
        }
    }

    private boolean begins(byte[] b) {
        return probe.parse(b, lines.from, lines.to)
                || probe.loose(b, lines.from, lines.to) && probe.anchored;
    }

    private void push(byte[] b, PerfFrame of) {
        if (depth == MOST_FRAMES) {
            return;
        }
        frames[depth++] =
                model.learning
                        ? model.frames.add(b, of.nameFrom, of.nameTo, of.moduleFrom, of.moduleTo)
                        : model.frames.find(
                                b, of.nameFrom, of.nameTo, of.moduleFrom, of.moduleTo, scratch);
    }

    private boolean record(int length) {
        infoFrom = head.rest;
        infoBytes = length - head.rest;
        int from = head.eventFrom;
        int to = head.eventTo;
        if (!record.parse(line, head.rest, length)) {
            shape = model.schema.of(EventType.PERF_RECORD, line, from, to);
            tokens.pairs(line, head.rest, length);
            return true;
        }
        if (LineScan.is(line, from, to, COMM)) {
            fixed = model.comm;
        } else if (LineScan.is(line, from, to, FORK)) {
            fixed = model.fork;
        } else if (LineScan.is(line, from, to, EXIT)) {
            fixed = model.exit;
        } else if (LineScan.startsWith(line, from, to, LOST)) {
            fixed = model.schema.lost;
        } else {
            shape = model.schema.of(EventType.PERF_RECORD, line, from, to);
            tokens.pairs(line, head.rest, length);
        }
        return true;
    }

    @Override
    int itemRows() {
        return renamed ? 2 : 1;
    }

    @Override
    long itemTime(int row) {
        return head.time;
    }

    @Override
    void learnItem(int row) {
        LearntType of = shape;
        if (of != null && row == itemRows() - 1) {
            of.learn(tokens);
            if (tokens.arguments >= 0) {
                of.learnArguments();
            }
        }
    }

    @Override
    void writeItem(BatchWriter out, int row, long time) {
        EventType own = fixed;
        if (renamed && row == 0) {
            record.put(out, model, time, head);
            out.bytes(model.field(model.comm, 3), line, head.commFrom, head.commTo - head.commFrom);
            out.end();
        } else if (own != null) {
            record.put(out, model, own, time, head, line);
        } else {
            event(out, time);
        }
    }

    private void event(BatchWriter out, long time) {
        LearntType of = shape;
        if (of == null) {
            return;
        }
        out.begin(time, head.cpu, head.tid, of.type());
        of.putLine(out, infoOffset, infoBytes);
        of.put(out, tokens);
        of.putText(out, line, infoFrom, infoFrom + infoBytes);
        if (tokens.arguments >= 0) {
            of.putArguments(out, scan.over(line, tokens.arguments, infoFrom + infoBytes));
        }
        out.sample(head.pid, head.period < 0 ? 1 : head.period);
        if (depth > 0) {
            out.stack(frames, depth);
        }
        out.end();
    }
}
