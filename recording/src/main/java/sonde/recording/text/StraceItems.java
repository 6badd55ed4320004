package sonde.recording.text;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.recording.BatchWriter;
import sonde.sys.SignalNames;

/** The calls, signals and ends in a text of strace. */
final class StraceItems extends TextItems {
    private static final int MOST_FRAMES = 256;
    private static final int MOST_CHILDREN = 1 << 20;
    private static final long DAY = 86_400_000_000_000L;
    private static final byte[] EXECVE = KeyValueTokens.bytes("execve");
    private static final Set<String> FORKS = Set.of("fork", "vfork", "clone", "clone3");

    // include/linux/errno.h
    private static final List<String> RESTARTS =
            List.of("ERESTARTSYS", "ERESTARTNOINTR", "ERESTARTNOHAND", "", "ERESTART_RESTARTBLOCK");
    private static final int ERESTARTSYS = 512;

    private final StraceText model;
    private final StraceHead head = new StraceHead();
    private final StraceCall call = new StraceCall();
    private final PerfFrame frame = new PerfFrame();
    private final LineScan scan = new LineScan();
    private final byte[] scratch = TextFrames.scratch();
    private final byte[] line = new byte[LineWindow.MAX_BYTES];
    private final long[] frames = new long[MOST_FRAMES];
    private final Set<Integer> children = new HashSet<>();
    private int depth;
    private int tid;
    private int id;
    private long begin;
    private long end;
    private long lineOffset;
    private int lineBytes;
    private boolean forks;
    private boolean execs;
    private long now;
    private long day;
    private long lastOfDay;

    StraceItems(StraceText model, LineWindow lines) {
        super(model, lines);
        this.model = model;
    }

    @Override
    Verdict parse() {
        byte[] b = lines.bytes();
        if (LineScan.trimEnd(b, lines.from, lines.to) == lines.from) {
            return Verdict.NOTHING;
        }
        long at = lines.offset;
        int length = joined(copy(0));
        head.parse(line, 0, length);
        StraceCall.Kind kind = call.parse(line, head.body, length);
        if (kind == StraceCall.Kind.NONE) {
            length = call.begins() ? rejoined(length) : length;
            kind = call.parse(line, head.body, length);
        }
        if (kind == StraceCall.Kind.NONE) {
            return foreign(length);
        }
        if (kind == StraceCall.Kind.REMARK) {
            remark(length);
            return Verdict.NOTHING;
        }
        if (kind == StraceCall.Kind.RESUMED && !call.returns) {
            return Verdict.NOTHING;
        }
        lineOffset = at + head.body;
        lineBytes = LineScan.trimEnd(line, head.body, length) - head.body;
        forks = false;
        execs = false;
        depth = 0;
        times(kind);
        who();
        if (isCall(kind)) {
            id = model.number(line, call.nameFrom, call.nameTo);
            effects(kind);
            chain();
        }
        return Verdict.ITEM;
    }

    /** On a terminal the output of the program itself stands between the calls. */
    private Verdict foreign(int length) {
        for (int i = 0; i < length; i++) {
            if (line[i] == 0) {
                return Verdict.BAD;
            }
        }
        if (lines.cut) {
            return Verdict.BAD;
        }
        model.foreign += model.learning ? 1 : 0;
        return Verdict.NOTHING;
    }

    private int copy(int to) {
        int length = Math.min(lines.to - lines.from, line.length - to);
        System.arraycopy(lines.bytes(), lines.from, line, to, length);
        return to + length;
    }

    /** On a terminal strace says in the middle of a call that it attached to the new process. */
    private int joined(int length) {
        int remark = LineScan.find(line, 0, length, PROCESS);
        if (remark <= 0 || remark + PROCESS.length >= length) {
            return length;
        }
        if (model.learning && scan.over(line, remark + PROCESS.length, length).decimal()) {
            child((int) scan.value);
        }
        return lines.next() ? copy(remark) : remark;
    }

    /**
     * A call that writes to the terminal that strace writes to: {@code write(1, "x", 1x}, and in a
     * later line {@code ) = 1}.
     */
    private int rejoined(int length) {
        long after = -1;
        for (int i = 0; i < MOST_OUTPUT && lines.next(); i++) {
            byte[] b = lines.bytes();
            after = i == 0 ? lines.offset : after;
            if (LineScan.startsWith(b, lines.from, lines.to, REST)) {
                model.foreign += model.learning ? i : 0;
                return copy(length);
            }
            head.parse(b, lines.from, lines.to);
            StraceCall.Kind other = call.parse(b, head.body, lines.to);
            if (other != StraceCall.Kind.NONE) {
                break;
            }
        }
        if (after >= 0) {
            lines.seek(after);
        }
        head.parse(line, 0, length);
        return length;
    }

    private static final byte[] REST = KeyValueTokens.bytes(") = ");
    private static final int MOST_OUTPUT = 64;

    private static boolean isCall(StraceCall.Kind kind) {
        return kind == StraceCall.Kind.WHOLE
                || kind == StraceCall.Kind.UNFINISHED
                || kind == StraceCall.Kind.RESUMED;
    }

    private static final byte[] PROCESS = KeyValueTokens.bytes("strace: Process ");

    private void remark(int length) {
        if (model.learning && LineScan.startsWith(line, head.body, length, PROCESS)) {
            if (scan.over(line, head.body + PROCESS.length, length).decimal()) {
                child((int) scan.value);
            }
        }
    }

    private void child(int number) {
        if (children.size() < MOST_CHILDREN) {
            children.add(number);
        }
    }

    private void times(StraceCall.Kind kind) {
        long lasted = Math.max(call.duration, 0);
        switch (head.kind) {
            case EPOCH -> begin = head.time;
            case OF_DAY -> {
                day += head.time < lastOfDay - DAY / 2 ? DAY : 0;
                lastOfDay = head.time;
                begin = day + head.time;
            }
            case RELATIVE -> {
                now += head.time;
                begin = now;
            }
            case NONE -> {
                begin = now;
                now += lasted;
            }
        }
        boolean resumed = kind == StraceCall.Kind.RESUMED;
        boolean stated = head.kind != StraceHead.Kind.NONE;
        end = resumed && stated ? begin : begin > Long.MAX_VALUE - lasted ? begin : begin + lasted;
        if (model.learning) {
            model.timed |= stated;
            model.epoch |= head.kind == StraceHead.Kind.EPOCH;
            model.durations |= call.duration >= 0;
        }
    }

    /** Lines of the first thread have no number until there is a second one. */
    private void who() {
        tid = head.tid;
        if (tid < 0) {
            tid = model.first();
        } else if (model.learning) {
            if (!children.contains(tid)) {
                model.learnFirst(tid);
            }
            model.comms.learn(tid, line, head.commFrom, head.commTo);
        }
    }

    /** What a call does to threads. */
    private void effects(StraceCall.Kind kind) {
        boolean returned = kind != StraceCall.Kind.UNFINISHED && call.returns;
        boolean done = returned && call.errorTo == call.errorFrom;
        String name =
                KeyValueTokens.ascii(
                        line, call.nameFrom, Math.min(call.nameTo, call.nameFrom + 32));
        forks = done && call.result > 0 && FORKS.contains(name);
        boolean exec = LineScan.is(line, call.nameFrom, call.nameTo, EXECVE);
        execs = exec && kind == StraceCall.Kind.WHOLE && done && call.result == 0;
        if (model.learning && forks) {
            child((int) call.result);
        }
    }

    /** {@code > library(function+0x1) [0x2]}: the stack at the call (-k). */
    private void chain() {
        while (lines.next()) {
            byte[] b = lines.bytes();
            scan.over(b, lines.from, lines.to);
            if (!scan.take(' ') || !scan.take('>') || !scan.take(' ')) {
                lines.back();
                return;
            }
            int start = scan.at;
            int stop = LineScan.trimEnd(b, start, lines.to);
            int open = LineScan.find(b, start, stop, new byte[] {'('});
            int close = LineScan.find(b, start, stop, new byte[] {')'});
            if (open > start && close > open && depth < MOST_FRAMES) {
                push(b, start, open, close);
            }
        }
    }

    private void push(byte[] b, int module, int open, int close) {
        frame.name(b, open + 1, close);
        frames[depth++] =
                model.learning
                        ? model.frames.add(b, frame.nameFrom, frame.nameTo, module, open)
                        : model.frames.find(b, frame.nameFrom, frame.nameTo, module, open, scratch);
    }

    private boolean exits() {
        return call.returns;
    }

    @Override
    int itemRows() {
        return switch (call.kind) {
            case WHOLE -> 1 + (exits() ? 1 : 0) + (forks || execs ? 1 : 0);
            case RESUMED -> forks ? 2 : 1;
            default -> 1;
        };
    }

    @Override
    long itemTime(int row) {
        return call.kind == StraceCall.Kind.WHOLE && row == 0 ? begin : end;
    }

    @Override
    void learnItem(int row) {
        if (execs) {
            int[] path = path();
            model.comms.learn(tid, line, base(path), path[1]);
        }
    }

    /** The first string of the arguments: where its text begins and ends. */
    private int[] path() {
        int from = call.argumentsFrom;
        while (from < call.argumentsTo && line[from] != '"') {
            from++;
        }
        int to = from + 1;
        while (to < call.argumentsTo && line[to] != '"') {
            to++;
        }
        return new int[] {Math.min(from + 1, call.argumentsTo), Math.min(to, call.argumentsTo)};
    }

    private int base(int[] path) {
        int base = path[1];
        while (base > path[0] && line[base - 1] != '/') {
            base--;
        }
        return base;
    }

    @Override
    void writeItem(BatchWriter out, int row, long time) {
        switch (call.kind) {
            case WHOLE -> {
                switch (row) {
                    case 0 -> enter(out, time);
                    case 1 -> second(out, time);
                    default -> effect(out, time);
                }
            }
            case UNFINISHED -> enter(out, time);
            case RESUMED -> {
                if (row == 0) {
                    exit(out, time);
                } else {
                    effect(out, time);
                }
            }
            case SIGNAL -> signal(out, time);
            case EXITED, KILLED -> death(out, time);
            case NONE, REMARK -> {}
        }
    }

    private void second(BatchWriter out, long time) {
        if (exits()) {
            exit(out, time);
        } else {
            effect(out, time);
        }
    }

    private void begin(BatchWriter out, long time, EventType type) {
        out.begin(time, -1, tid, type);
        out.integer(field(type, 0), lineOffset);
        out.integer(field(type, 1), lineBytes);
    }

    private static Field field(EventType type, int index) {
        return type.fields().get(index);
    }

    private void enter(BatchWriter out, long time) {
        EventType type = model.enter;
        begin(out, time, type);
        out.integer(field(type, 2), id);
        out.bytes(field(type, 3), line, call.nameFrom, call.nameTo - call.nameFrom);
        out.bytes(field(type, 4), line, call.argumentsFrom, call.argumentsTo - call.argumentsFrom);
        if (depth > 0) {
            out.stack(frames, depth);
        }
        out.end();
    }

    private void exit(BatchWriter out, long time) {
        EventType type = model.exit;
        begin(out, time, type);
        out.integer(field(type, 2), id);
        out.integer(field(type, 3), result());
        out.integer(field(type, 4), call.duration);
        out.bytes(field(type, 5), line, call.nameFrom, call.nameTo - call.nameFrom);
        out.bytes(field(type, 6), line, call.errorFrom, call.errorTo - call.errorFrom);
        out.end();
    }

    private long result() {
        if (call.errorTo == call.errorFrom) {
            return call.result;
        }
        int errno = model.errno(line, call.errorFrom, call.errorTo);
        if (errno > 0) {
            return -errno;
        }
        int restart = RESTARTS.indexOf(KeyValueTokens.ascii(line, call.errorFrom, call.errorTo));
        return restart >= 0 ? -ERESTARTSYS - restart : -1;
    }

    private void effect(BatchWriter out, long time) {
        if (execs) {
            EventType type = model.exec;
            int[] path = path();
            begin(out, time, type);
            out.integer(field(type, 2), tid);
            out.integer(field(type, 3), tid);
            out.bytes(field(type, 4), line, path[0], path[1] - path[0]);
            out.end();
        } else if (forks) {
            begin(out, time, model.fork);
            out.integer(field(model.fork, 2), tid);
            out.integer(field(model.fork, 3), call.result);
            out.end();
        }
    }

    private void signal(BatchWriter out, long time) {
        EventType type = model.signal;
        begin(out, time, type);
        out.integer(field(type, 2), number());
        out.bytes(field(type, 3), line, call.nameFrom, call.argumentsTo - call.nameFrom);
        out.end();
    }

    private int number() {
        String name =
                KeyValueTokens.ascii(
                        line, call.nameFrom, Math.min(call.nameTo, call.nameFrom + 32));
        int number = SignalNames.numbered(name);
        return number > 0 ? number : -1;
    }

    private void death(BatchWriter out, long time) {
        EventType type = model.death;
        begin(out, time, type);
        out.integer(field(type, 2), tid);
        boolean killed = call.kind == StraceCall.Kind.KILLED;
        out.integer(field(type, 3), killed ? number() : call.status);
        out.end();
    }
}
