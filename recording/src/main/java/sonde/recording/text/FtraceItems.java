package sonde.recording.text;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import sonde.recording.BatchWriter;

/** The events of a text of ftrace. */
final class FtraceItems extends TextItems {
    private static final int MOST_FRAMES = 512;
    private static final byte[] TRACER = KeyValueTokens.bytes("# tracer: ");
    private static final byte[] GRAPH = KeyValueTokens.bytes("function_graph");
    private static final byte[] ENTRIES =
            KeyValueTokens.bytes("# entries-in-buffer/entries-written: ");
    private static final byte[] CPU = KeyValueTokens.bytes("CPU:");
    private static final byte[] EMPTY_CPU = KeyValueTokens.bytes("CPU ");
    private static final byte[] CPUS = KeyValueTokens.bytes("cpus=");
    private static final byte[] VERSION = KeyValueTokens.bytes("version =");
    private static final byte[] LOST = KeyValueTokens.bytes("LOST");
    private static final byte[] DROPPED = KeyValueTokens.bytes("DROPPED");
    private static final byte[] LEFT_OUT = KeyValueTokens.bytes("[...]");
    private static final byte[] FRAME = KeyValueTokens.bytes("=> ");

    private final FtraceText model;
    private final FtraceHead head = new FtraceHead();
    private final LatencyHead latency = new LatencyHead();
    private final FtraceBody body;
    private final GraphLine graph;
    private final LineScan scan = new LineScan();
    private final byte[] scratch = TextFrames.scratch();
    private final long[] frames = new long[MOST_FRAMES];
    private int depth;
    private int buffer;
    private long time;
    private boolean lost;
    private long lostEvents;
    private @Nullable LearntType shape;
    private long infoOffset;
    private int infoBytes;

    FtraceItems(FtraceText model, LineWindow lines) {
        super(model, lines);
        this.model = model;
        this.body = new FtraceBody(model);
        this.graph = new GraphLine(model, body);
    }

    @Override
    Verdict parse() {
        byte[] b = lines.bytes();
        int from = lines.from;
        int to = end(b, from, lines.to);
        scan.over(b, from, to).blanks();
        lost = false;
        if (scan.atEnd()) {
            return Verdict.NOTHING;
        }
        if (b[from] == '#') {
            return comment(b, from, to);
        }
        if (model.graph && graph.parse(b, from, to)) {
            return graphItem();
        }
        if (!head.parse(b, from, to)) {
            return other(b, from, to);
        }
        if (!body.parse(b, head.info, to)) {
            return Verdict.BAD;
        }
        depth = 0;
        shape = body.shape;
        buffer = label(b);
        time = head.time;
        if (model.learning) {
            model.counts |= head.raw;
            model.comms.learn(head.tid, b, head.commFrom, head.commTo);
        }
        place(b, to);
        if (body.stack) {
            stack();
        }
        return Verdict.ITEM;
    }

    /** Old systrace pages end each line with {@code \n\}, as a string of JavaScript has to. */
    private static int end(byte[] b, int from, int to) {
        boolean escaped =
                to - from >= 3 && b[to - 1] == '\\' && b[to - 2] == 'n' && b[to - 3] == '\\';
        return escaped ? to - 3 : to;
    }

    private void place(byte[] b, int to) {
        infoOffset = lines.offset + (body.info - lines.from);
        infoBytes = Math.max(0, LineScan.trimEnd(b, body.info, to) - body.info);
    }

    private int label(byte[] b) {
        if (head.labelFrom == head.labelTo) {
            return 0;
        }
        int found =
                model.learning
                        ? model.buffers.add(b, head.labelFrom, head.labelTo)
                        : model.buffers.find(b, head.labelFrom, head.labelTo);
        return Math.max(found, 0);
    }

    private Verdict graphItem() {
        if (graph.nothing) {
            return Verdict.NOTHING;
        }
        depth = 0;
        buffer = 0;
        shape = graph.shape;
        time = graph.time;
        head.tid = graph.tid;
        head.cpu = graph.cpu;
        head.tgid = -1;
        head.flags = 0;
        head.preemptCount = 0;
        infoOffset = lines.offset + (graph.info - lines.from);
        infoBytes = graph.infoEnd - graph.info;
        return Verdict.ITEM;
    }

    /** The head of a latency is an item too: its text is its first line. */
    private Verdict latency(int from, int to) {
        long offset = lines.offset + 2;
        if (!latency.parse(lines)) {
            return Verdict.NOTHING;
        }
        if (model.learning) {
            model.note(latency.sentence);
        }
        body.tokens.pairs(latency.pairs, 0, latency.pairs.length);
        body.tokens.arguments = -1;
        depth = 0;
        buffer = 0;
        shape = model.latency;
        time = 0;
        head.cpu = latency.cpu;
        head.tid = -1;
        head.tgid = -1;
        head.flags = 0;
        head.preemptCount = 0;
        infoOffset = offset;
        infoBytes = to - from - 2;
        return Verdict.ITEM;
    }

    private Verdict comment(byte[] b, int from, int to) {
        if (LineScan.startsWith(b, from, to, LatencyHead.FIRST)) {
            return latency(from, to);
        }
        if (!model.learning) {
            return Verdict.NOTHING;
        }
        if (LineScan.startsWith(b, from, to, TRACER)) {
            scan.over(b, from + TRACER.length, to).blanks();
            model.graph = LineScan.startsWith(b, scan.at, to, GRAPH);
        } else if (LineScan.startsWith(b, from, to, ENTRIES)) {
            scan.over(b, from + ENTRIES.length, to).decimal();
            long kept = scan.value;
            if (scan.take('/') && scan.decimal() && scan.value > kept) {
                model.note(
                        (scan.value - kept)
                                + " older events had been overwritten in the ring when it was"
                                + " printed.");
            }
        }
        return Verdict.NOTHING;
    }

    private Verdict other(byte[] b, int from, int to) {
        scan.over(b, from, to).blanks();
        int start = scan.at;
        if (LineScan.startsWith(b, start, to, CPU)) {
            return dropped(b, start, to);
        }
        if (LineScan.is(b, start, to, LEFT_OUT)) {
            return lost(-1, 0);
        }
        boolean known =
                LineScan.startsWith(b, start, to, FRAME)
                        || isReportHead(b, start, to)
                        || isDump(b, from, to);
        if (known) {
            return Verdict.NOTHING;
        }
        if (!model.graph && model.learning && graph.parse(b, from, to)) {
            model.graph = true;
            return graphItem();
        }
        return Verdict.BAD;
    }

    /** What trace-cmd prints before the events. */
    static boolean isReportHead(byte[] b, int from, int to) {
        return LineScan.startsWith(b, from, to, CPUS)
                || LineScan.startsWith(b, from, to, VERSION)
                || LineScan.startsWith(b, from, to, EMPTY_CPU);
    }

    /** {@code 00000010: 15 04 …}: the bytes of an event whose format the kernel did not know. */
    private boolean isDump(byte[] b, int from, int to) {
        scan.over(b, from, to);
        return scan.hex() && scan.at - from == 8 && scan.take(':') && scan.peek() == ' ';
    }

    /** {@code CPU:1 [LOST 12 EVENTS]} of the kernel, {@code [12 EVENTS DROPPED]} of trace-cmd. */
    private Verdict dropped(byte[] b, int start, int to) {
        boolean says =
                LineScan.find(b, start, to, LOST) > 0 || LineScan.find(b, start, to, DROPPED) > 0;
        scan.over(b, start + CPU.length, to);
        if (!says || !scan.decimal() || scan.value > Short.MAX_VALUE) {
            return Verdict.BAD;
        }
        int cpu = (int) scan.value;
        long count = 0;
        while (!scan.atEnd()) {
            if (scan.decimal()) {
                count = scan.value;
            }
            scan.at++;
        }
        return lost(cpu, count);
    }

    private Verdict lost(int cpu, long count) {
        lost = true;
        lostEvents = count;
        head.cpu = cpu;
        buffer = 0;
        return Verdict.ITEM;
    }

    /** The frames of a stack in the lines that follow: {@code => function} or with an address. */
    private void stack() {
        while (lines.next()) {
            byte[] b = lines.bytes();
            scan.over(b, lines.from, lines.to).blanks();
            if (!scan.take(FRAME)) {
                lines.back();
                return;
            }
            int start = scan.at;
            int end = LineScan.trimEnd(b, start, lines.to);
            if (end > start && b[end - 1] == ')') {
                int open = LineScan.find(b, start, end, new byte[] {' ', '('});
                end = open > start ? open : end;
            }
            int plus = LineScan.find(b, start, end, new byte[] {'+', '0', 'x'});
            // What stands in brackets is the offset in a file of a user stack: there is no name.
            end = plus > start && b[plus - 1] != '[' ? plus : end;
            boolean user = shape == model.userStack;
            byte[] entry = Arrays.copyOf(Arrays.copyOfRange(b, start, end), end - start + 8);
            System.arraycopy(KERNEL, 0, entry, end - start, KERNEL.length);
            int module = user ? end - start : end - start + KERNEL.length;
            if (depth < MOST_FRAMES && end > start) {
                frames[depth++] =
                        model.learning
                                ? model.frames.add(entry, 0, end - start, end - start, module)
                                : model.frames.find(
                                        entry, 0, end - start, end - start, module, scratch);
            }
        }
    }

    private static final byte[] KERNEL = KeyValueTokens.bytes("[kernel]");

    @Override
    int buffer() {
        return buffer;
    }

    @Override
    int itemRows() {
        return 1;
    }

    @Override
    long itemTime(int row) {
        return time;
    }

    @Override
    void learnItem(int row) {
        LearntType of = shape;
        if (lost || of == null) {
            return;
        }
        of.learn(body.tokens);
        if (body.tokens.arguments >= 0) {
            of.learnArguments();
        }
    }

    @Override
    void writeItem(BatchWriter out, int row, long at) {
        LearntType of = shape;
        if (lost || of == null) {
            out.begin(at, head.cpu, -1, model.schema.lost);
            out.sample(-1, lostEvents);
            out.end();
            return;
        }
        out.begin(at, head.cpu, head.tid, of.type());
        of.putLine(out, infoOffset, infoBytes);
        of.putFlags(out, head.flags, head.preemptCount);
        of.put(out, body.tokens);
        if (depth == 0) {
            of.putText(out, lines.bytes(), body.info, body.info + infoBytes);
        }
        if (body.tokens.arguments >= 0) {
            of.putArguments(
                    out, scan.over(lines.bytes(), body.tokens.arguments, body.info + infoBytes));
        }
        if (head.tgid >= 0) {
            out.sample(head.tgid, 1);
        }
        if (depth > 0) {
            out.stack(frames, depth);
        }
        out.end();
    }
}
