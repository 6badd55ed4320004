package sonde.recording.text;

/**
 * Folded stacks, a line each: {@code caller;callee;… count}. A frame's suffix tells its kind:
 * {@code _[k]} kernel, {@code _[j]} JIT, {@code _[i]} inlined, {@code _[w]} waker
 * (stackcollapse-perf.pl --all). The first frame is a process's name as a rule: it is taken for the
 * thread, each name another one, numbered from 1.
 */
final class FoldedItems extends StackItems {
    private static final byte[] KERNEL = KeyValueTokens.bytes("[kernel]");
    private static final byte[] JIT = KeyValueTokens.bytes("/perf-0.map");

    private final LineScan scan = new LineScan();
    private byte[] made = new byte[1024];

    FoldedItems(StackText model, LineWindow lines) {
        super(model, lines);
    }

    /** Where the count of a folded line begins; -1 when it is none. */
    static int count(byte[] b, int from, int to) {
        int end = LineScan.trimEnd(b, from, to);
        int at = end;
        while (at > from && (LineScan.isDigit(b[at - 1]) || b[at - 1] == '.')) {
            at--;
        }
        boolean number = at < end && LineScan.isDigit(b[at]);
        return number && at > from + 1 && b[at - 1] == ' ' ? at : -1;
    }

    @Override
    Verdict parse() {
        byte[] b = lines.bytes();
        int from = lines.from;
        if (LineScan.trimEnd(b, from, lines.to) == from || b[from] == '#') {
            return Verdict.NOTHING;
        }
        int count = lines.cut ? -1 : count(b, from, lines.to);
        if (count < 0) {
            return Verdict.BAD;
        }
        scan.over(b, count, lines.to);
        if (!scan.decimal()) {
            return Verdict.BAD;
        }
        weight = scan.value;
        lineOffset = lines.offset;
        lineBytes = lines.to - from;
        depth = 0;
        int end = LineScan.trimEnd(b, from, count);
        // Callee first in the model, caller first in the text.
        int first = from;
        while (first < end && b[first] != ';') {
            first++;
        }
        thread(b, from, first);
        for (int at = end; at > first; ) {
            int start = at;
            while (start > first + 1 && b[start - 1] != ';') {
                start--;
            }
            frame(b, start, at);
            at = start - 1;
        }
        return Verdict.ITEM;
    }

    private void thread(byte[] b, int from, int to) {
        int index = model.threads.find(b, from, to);
        if (index < 0 && model.learning) {
            index = model.threads.add(b, from, to);
            model.comms.learn(index + 1, b, from, to);
        }
        tid = index + 1;
    }

    private void frame(byte[] b, int from, int to) {
        int length = to - from;
        boolean marked = length > 4 && b[to - 1] == ']' && b[to - 3] == '[' && b[to - 4] == '_';
        byte kind = marked ? b[to - 2] : 0;
        byte[] module = kind == 'k' ? KERNEL : kind == 'j' ? JIT : new byte[0];
        int name = kind == 'k' || kind == 'j' || kind == 'i' || kind == 'w' ? length - 4 : length;
        if (made.length < name + module.length) {
            made = new byte[2 * (name + module.length)];
        }
        System.arraycopy(b, from, made, 0, name);
        System.arraycopy(module, 0, made, name, module.length);
        push(made, 0, name, name, name + module.length);
    }
}
