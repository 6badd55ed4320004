package sonde.recording.text;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Counts which lines of a text's beginning each format accepts; the package page has the table. */
final class TextRecogniser {
    private static final int WINDOW = 1 << 16;
    private static final int MOST_LINES = 1000;
    private static final byte[] TRACER = KeyValueTokens.bytes("# tracer:");
    private static final byte[] BANNER = KeyValueTokens.bytes("Linux version ");
    private static final byte[] STRACE_SUMS =
            KeyValueTokens.bytes("% time     seconds  usecs/call");
    private static final byte[] PERF_REPORT =
            KeyValueTokens.bytes("# To display the perf.data header info");
    private static final byte[] ARROW = KeyValueTokens.bytes("=> ");

    private final FtraceHead ftrace = new FtraceHead();
    private final DmesgHead dmesg = new DmesgHead();
    private final StraceHead straceHead = new StraceHead();
    private final StraceCall strace = new StraceCall();
    private final PerfHead perf = new PerfHead();
    private final PerfFrame frame = new PerfFrame();
    private final LineScan scan = new LineScan();

    private static final byte[] SOURCE = KeyValueTokens.bytes("  ");
    private static final byte[] STRACE_FRAME = KeyValueTokens.bytes(" > ");

    private boolean banner;
    private boolean inChain;
    private int lines;
    private int profileLines;
    private int ftraceLines;
    private int graphLines;
    private int dmesgLines;
    private int straceLines;
    private int perfHeads;
    private int frameLines;
    private int moduleLines;
    private int addressLines;
    private int anchoredLines;
    private int plainLines;
    private int tickLines;
    private int numberLines;
    private int foldedLines;
    private int semicolonLines;

    private TextRecogniser() {}

    /** The format of a text; null for none. */
    static @Nullable TextFormat of(MemorySegment text) {
        if (Systrace.is(text)) {
            return TextFormat.SYSTRACE;
        }
        return new TextRecogniser().decide(text);
    }

    /** Why a text of a known tool holds no events; empty for any other. */
    static String refusal(MemorySegment text) {
        LineWindow window = new LineWindow(text, 0, Math.min(text.byteSize(), WINDOW));
        while (window.next()) {
            if (LineScan.startsWith(window.bytes(), window.from, window.to, STRACE_SUMS)) {
                return "is the table of strace -c: sums without calls or times;"
                        + " strace -f -ttt -T -o FILE records them (-C adds the table)";
            }
            if (LineScan.startsWith(window.bytes(), window.from, window.to, PERF_REPORT)) {
                return "is the text of perf report: shares without samples;"
                        + " perf script prints them, and perf.data itself is read";
            }
        }
        return "";
    }

    private @Nullable TextFormat decide(MemorySegment text) {
        long end = Math.min(text.byteSize(), WINDOW);
        LineWindow window = new LineWindow(text, 0, end);
        boolean first = true;
        while (window.next() && lines < MOST_LINES) {
            byte[] b = window.bytes();
            int from = window.from;
            int to = window.to;
            boolean whole = window.offset + (to - from) < end || end == text.byteSize();
            if (LineScan.trimEnd(b, from, to) == from || !whole && !first) {
                continue;
            }
            if (first && LineScan.startsWith(b, from, to, TRACER)) {
                return TextFormat.FTRACE;
            }
            if (first && LineScan.startsWith(b, from, to, HistItems.TITLE)) {
                return TextFormat.HISTOGRAM;
            }
            banner |= first && LineScan.startsWith(b, from, to, BANNER);
            first = false;
            if (b[from] != '#') {
                count(b, from, to);
            }
        }
        return verdict();
    }

    private void count(byte[] b, int from, int to) {
        scan.over(b, from, to).blanks();
        if (scan.take(ARROW) || FtraceItems.isReportHead(b, from, to)) {
            return; // a frame of ftrace's stacks, the head of trace-cmd's report
        }
        if (LineScan.startsWith(b, from, to, STRACE_FRAME)) {
            return; // of strace -k: more of them than of calls
        }
        lines++;
        profileLines += ProfileItems.is(b, from, to) ? 1 : 0;
        ftraceLines += ftrace.parse(b, from, to) ? 1 : 0;
        graphLines += isGraph(b, from, to) ? 1 : 0;
        dmesgLines += dmesg.parse(b, from, to) ? 1 : 0;
        straceHead.parse(b, from, to);
        StraceCall.Kind kind = strace.parse(b, straceHead.body, to);
        straceLines += kind == StraceCall.Kind.NONE || kind == StraceCall.Kind.REMARK ? 0 : 1;
        boolean head = perf.parse(b, from, to) && (perf.timed || perf.cpu >= 0 || isEvent(b));
        perfHeads += head ? 1 : 0;
        if (!head) {
            chain(b, from, to);
        }
        tickLines += LineScan.find(b, from, to, new byte[] {'`'}) > from ? 1 : 0;
        scan.over(b, from, to).blanks();
        boolean number = scan.decimal() && LineScan.trimEnd(b, scan.at, to) == scan.at;
        numberLines += number ? 1 : 0;
        foldedLines += FoldedItems.count(b, from, to) > 0 ? 1 : 0;
        semicolonLines += LineScan.find(b, from, to, new byte[] {';'}) > from ? 1 : 0;
    }

    /** Frames of perf script, and its heads with few fields. */
    private void chain(byte[] b, int from, int to) {
        boolean framed = LineScan.isBlank(b[from]) && isAddress(b, from, to);
        if (!framed && perf.loose(b, from, to)) {
            anchoredLines += perf.anchored ? 1 : 0;
            plainLines += perf.anchored ? 0 : 1;
        }
        if (inChain && LineScan.startsWith(b, from, to, SOURCE)) {
            lines--; // -F srcline
            return;
        }
        inChain = framed;
        if (frame.parse(b, from, to)) {
            frameLines++;
            moduleLines += frame.moduleTo > frame.moduleFrom ? 1 : 0;
            addressLines += framed ? 1 : 0;
        }
    }

    /** A tab and an address of 16 columns: "\t%16lx". */
    private boolean isAddress(byte[] b, int from, int to) {
        scan.over(b, from, to);
        if (!scan.take('\t')) {
            return false;
        }
        scan.blanks();
        return scan.hex() && scan.at - from == 17;
    }

    /** Whether the lines are heads with few fields and frames. */
    private boolean isLoose() {
        boolean anchors = (anchoredLines + frameLines) * 10 >= lines * 9 && anchoredLines > 0;
        int known = perfHeads + anchoredLines + plainLines + addressLines;
        return anchors || addressLines * 2 >= lines && known * 20 >= lines * 19;
    }

    /** Whether the head, which tells neither time nor CPU, names an event of perf. */
    private boolean isEvent(byte[] b) {
        return LineScan.isLetter(b[Math.min(perf.eventFrom, b.length - 1)]);
    }

    private static boolean isGraph(byte[] b, int from, int to) {
        int bar = LineScan.find(b, from, to, new byte[] {'|'});
        int end = LineScan.trimEnd(b, from, to);
        boolean closes =
                end > from
                        && (b[end - 1] == '{'
                                || b[end - 1] == ';'
                                || b[end - 1] == '}'
                                || b[end - 1] == '/');
        return bar > from && closes && LineScan.find(b, from, bar, new byte[] {')'}) > from;
    }

    private @Nullable TextFormat verdict() {
        if (lines == 0) {
            return null;
        }
        if (profileLines == lines) {
            return TextFormat.PROBE_PROFILE;
        }
        if (isMost(ftraceLines) || isMost(graphLines)) {
            return TextFormat.FTRACE;
        }
        if (isMost(dmesgLines)) {
            return TextFormat.DMESG;
        }
        // On a terminal the output of the program stands between the calls.
        if (straceLines * 4 >= lines && straceLines > 0) {
            return TextFormat.STRACE;
        }
        boolean chains = frameLines > 0 && moduleLines * 10 >= lines * 9;
        if (perfHeads > 0 && isMost(perfHeads + frameLines) || chains) {
            return TextFormat.PERF_SCRIPT;
        }
        if (numberLines > 0 && tickLines > 0 && isMost(tickLines + numberLines)) {
            return TextFormat.STACK_BLOCKS;
        }
        if (isLoose()) {
            return TextFormat.PERF_SCRIPT;
        }
        boolean folded = foldedLines * 20 >= lines * 19 && semicolonLines > 0;
        // Without any time the log has nothing else that tells.
        return folded ? TextFormat.FOLDED : banner ? TextFormat.DMESG : null;
    }

    private boolean isMost(int count) {
        return count * 2 >= lines && count > 0;
    }
}
