package sonde.recording.text;

/**
 * Stacks in blocks: a line per frame, callee first, then one with only the count, as DTrace prints
 * {@code @[stack()] = count()}: {@code " genunix`fop_read+0x6b"}, the module before the backquote.
 */
final class BlockItems extends StackItems {
    private static final byte[] NAME = KeyValueTokens.bytes("stacks");

    private final LineScan scan = new LineScan();

    BlockItems(StackText model, LineWindow lines) {
        super(model, lines);
        tid = 1;
        model.comms.learn(tid, NAME, 0, NAME.length);
    }

    @Override
    Verdict parse() {
        byte[] b = lines.bytes();
        scan.over(b, lines.from, lines.to);
        boolean indented = scan.blanks();
        if (scan.atEnd() || !indented) {
            return Verdict.NOTHING;
        }
        if (!frame(b)) {
            return Verdict.NOTHING; // DTrace's own head: CPU, ID, FUNCTION:NAME
        }
        lineOffset = lines.offset;
        lineBytes = lines.to - lines.from;
        depth = 0;
        do {
            b = lines.bytes();
            scan.over(b, lines.from, lines.to).blanks();
            int start = scan.at;
            int end = LineScan.trimEnd(b, start, lines.to);
            if (scan.decimal() && scan.at == end) {
                weight = scan.value;
                return depth > 0 ? Verdict.ITEM : Verdict.NOTHING;
            }
            if (start == end || start == lines.from) {
                return Verdict.BAD;
            }
            split(b, start, end);
        } while (lines.next());
        return Verdict.BAD;
    }

    /** Whether the line is a frame, not a line of columns. */
    private boolean frame(byte[] b) {
        int end = LineScan.trimEnd(b, scan.at, lines.to);
        return LineScan.find(b, scan.at, end, new byte[] {'`'}) > 0
                || scan.peek() == '0' && LineScan.find(b, scan.at, end, new byte[] {' '}) < 0;
    }

    private void split(byte[] b, int start, int end) {
        int tick = LineScan.find(b, start, end, new byte[] {'`'});
        int plus = end - 1;
        while (plus > start && b[plus] != '+') {
            plus--;
        }
        int nameEnd = plus > start && plus > tick ? plus : end;
        if (tick < 0) {
            push(b, start, nameEnd, end, end);
        } else {
            push(b, tick + 1, nameEnd, start, tick);
        }
    }
}
