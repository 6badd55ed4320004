package sonde.recording.text;

import org.jspecify.annotations.Nullable;

/** Lines of the tracers hwlat, osnoise, timerlat and wakeup, which name no event. */
final class FtraceTracers {
    private static final byte[] ID = KeyValueTokens.bytes("seqnum");
    private static final byte[] INNER = KeyValueTokens.bytes("inner/outer(us):");
    private static final byte[][] HWLAT = {
        KeyValueTokens.bytes("duration"),
        KeyValueTokens.bytes("outer_duration"),
        KeyValueTokens.bytes("timestamp"),
        KeyValueTokens.bytes("count")
    };
    private static final byte[][] OSNOISE = {
        KeyValueTokens.bytes("runtime"), KeyValueTokens.bytes("noise"),
                KeyValueTokens.bytes("percent"),
        KeyValueTokens.bytes("max_sample"), KeyValueTokens.bytes("hw_count"),
                KeyValueTokens.bytes("nmi_count"),
        KeyValueTokens.bytes("irq_count"), KeyValueTokens.bytes("softirq_count"),
                KeyValueTokens.bytes("thread_count")
    };
    private static final byte[] CONTEXT_WORD = KeyValueTokens.bytes("context");
    private static final byte[] LATENCY_WORD = KeyValueTokens.bytes("timer_latency");
    private static final byte[] CONTEXT = KeyValueTokens.bytes("context");
    private static final byte[] LATENCY = KeyValueTokens.bytes("timer_latency");
    private static final byte[][] SWITCH = {
        KeyValueTokens.bytes("prev_pid"), KeyValueTokens.bytes("prev_prio"),
                KeyValueTokens.bytes("prev_state"),
        KeyValueTokens.bytes("next_cpu"), KeyValueTokens.bytes("next_pid"),
                KeyValueTokens.bytes("next_prio"),
        KeyValueTokens.bytes("next_state"), KeyValueTokens.bytes("next_comm")
    };

    private final FtraceText model;
    private final KeyValueTokens tokens;
    private final LineScan scan = new LineScan();

    FtraceTracers(FtraceText model, KeyValueTokens tokens) {
        this.model = model;
        this.tokens = tokens;
    }

    /** The type of the line, its fields in the tokens; null when it is none of these. */
    @Nullable LearntType parse(byte[] b, int from, int to) {
        if (from == to || b[from] != '#' && !LineScan.isDigit(b[from])) {
            return null;
        }
        tokens.pairs(b, from, from);
        scan.over(b, from, to);
        if (scan.take('#')) {
            return numbered();
        }
        int start = scan.at;
        scan.decimal();
        boolean pair = scan.peek() == ':';
        scan.at = start;
        return pair ? switched() : noise();
    }

    /** {@code #1 inner/outer(us): 11/12 …} and {@code #1 context irq timer_latency 932 ns}. */
    private @Nullable LearntType numbered() {
        if (!number(ID)) {
            return null;
        }
        scan.blanks();
        if (scan.take(INNER)) {
            scan.blanks();
            if (!number(HWLAT[0]) || !scan.take('/') || !number(HWLAT[1])) {
                return null;
            }
            labelled(HWLAT[2], "ts:");
            labelled(HWLAT[3], "count:");
            return model.hwlat;
        }
        if (!scan.take(CONTEXT_WORD)) {
            return null;
        }
        scan.blanks();
        word(CONTEXT);
        scan.blanks();
        if (!scan.take(LATENCY_WORD)) {
            return null;
        }
        scan.blanks();
        return number(LATENCY) ? model.timerlat : null;
    }

    private void labelled(byte[] key, String label) {
        scan.blanks();
        if (scan.take(KeyValueTokens.bytes(label))) {
            word(key);
        }
    }

    private @Nullable LearntType noise() {
        for (byte[] key : OSNOISE) {
            scan.blanks();
            if (!LineScan.isDigit(scan.peek())) {
                return null;
            }
            word(key);
        }
        return scan.atEnd() ? model.osnoise : null;
    }

    /** {@code 0:120:R ==> [002] 5882: 94:R sleep}, a plus for a wake-up. */
    private @Nullable LearntType switched() {
        if (!number(SWITCH[0]) || !scan.take(':') || !number(SWITCH[1]) || !scan.take(':')) {
            return null;
        }
        word(SWITCH[2]);
        scan.blanks();
        boolean wakes = scan.take('+');
        if (!wakes && !scan.take(KeyValueTokens.bytes("==>"))) {
            return null;
        }
        scan.blanks();
        if (!scan.take('[') || !number(SWITCH[3]) || !scan.take(']')) {
            return null;
        }
        scan.blanks();
        if (!number(SWITCH[4]) || !scan.take(':')) {
            return null;
        }
        scan.blanks();
        if (!number(SWITCH[5]) || !scan.take(':')) {
            return null;
        }
        word(SWITCH[6]);
        scan.blanks();
        tokens.add(SWITCH[7], scan.at, scan.to);
        return wakes ? model.wakeup : model.contextSwitch;
    }

    private boolean number(byte[] key) {
        int start = scan.at;
        if (!scan.decimal()) {
            return false;
        }
        tokens.add(key, start, scan.at);
        return true;
    }

    private void word(byte[] key) {
        int start = scan.at;
        scan.word();
        tokens.add(key, start, scan.at);
    }
}
