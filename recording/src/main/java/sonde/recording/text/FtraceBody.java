package sonde.recording.text;

import org.jspecify.annotations.Nullable;

/** What an event of ftrace tells behind its head. */
final class FtraceBody {
    /** A name that is longer is not a name. */
    private static final int MOST_NAME = 128;

    /** Columns of a name with its colon in trace-cmd's listing. */
    private static final int NAME_COLUMNS = 22;

    private static final byte[] STACK = KeyValueTokens.bytes("<stack trace");
    private static final byte[] USER_STACK = KeyValueTokens.bytes("<user stack trace");
    private static final byte[] FROM = KeyValueTokens.bytes(" <-");
    private static final byte[] IP = KeyValueTokens.bytes("ip");
    private static final byte[] PARENT_IP = KeyValueTokens.bytes("parent_ip");
    private static final byte[] BUF = KeyValueTokens.bytes("buf");
    private static final byte[] PRINT = KeyValueTokens.bytes("print");
    private static final byte[] BPRINT = KeyValueTokens.bytes("bprint");
    private static final byte[] BPUTS = KeyValueTokens.bytes("bputs");
    private static final byte[] MARKER = KeyValueTokens.bytes("tracing_mark_write");
    private static final byte[] FUNCTION = KeyValueTokens.bytes("function");
    private static final byte[] KERNEL_STACK = KeyValueTokens.bytes("kernel_stack");
    private static final byte[] USER_STACK_EVENT = KeyValueTokens.bytes("user_stack");
    private static final byte[] ENTRY = KeyValueTokens.bytes("funcgraph_entry");
    private static final byte[] EXIT = KeyValueTokens.bytes("funcgraph_exit");
    private static final byte[] SWITCH = KeyValueTokens.bytes("sched_switch");
    private static final byte[] WAKE = KeyValueTokens.bytes("sched_wak");
    private static final byte[] SYS_ENTER = KeyValueTokens.bytes("sys_enter");
    private static final byte[] SYS_EXIT = KeyValueTokens.bytes("sys_exit");

    private final FtraceText model;
    private final LineScan scan = new LineScan();
    private final FtraceTracers tracers;
    private final GraphCall call = new GraphCall();
    final KeyValueTokens tokens = new KeyValueTokens();

    /** The type; null when nothing fits. */
    @Nullable LearntType shape;

    /** Where what stands behind the name begins. */
    int info;

    /** Whether lines with the frames of a stack may follow. */
    boolean stack;

    FtraceBody(FtraceText model) {
        this.model = model;
        this.tracers = new FtraceTracers(model, tokens);
    }

    /** Reads it; false when it is nothing that the kernel prints. */
    boolean parse(byte[] b, int start, int end) {
        scan.over(b, start, end).blanks();
        int from = scan.at;
        int to = LineScan.trimEnd(b, from, end);
        info = from;
        stack = false;
        tokens.arguments = -1;
        if (from < to && b[from] == '<') {
            return stack(b, from, to);
        }
        int colon = name(b, from, to);
        if (colon > from) {
            scan.over(b, colon + 1, to).blanks();
            info = scan.at;
            event(b, from, colon, to);
            return true;
        }
        LearntType tracer = tracers.parse(b, from, to);
        shape = tracer != null ? tracer : call(b, from, to);
        if (shape == null) {
            shape = function(b, from, to);
        }
        return true;
    }

    /**
     * Reads what stands between the calls of a graph: an event, or the message of a trace_printk,
     * which has no name there (print_graph_comment of trace_functions_graph.c).
     */
    boolean comment(byte[] b, int start, int end) {
        scan.over(b, start, end).blanks();
        int from = scan.at;
        int to = LineScan.trimEnd(b, from, end);
        boolean named = name(b, from, to) > from || from < to && b[from] == '<';
        if (named || LineScan.startsWith(b, from, to, SYS)) {
            return parse(b, start, end);
        }
        info = from;
        stack = false;
        tokens.arguments = -1;
        tokens.pairs(b, from, from);
        tokens.add(BUF, from, to);
        shape = model.print;
        return true;
    }

    private boolean stack(byte[] b, int from, int to) {
        boolean user = LineScan.startsWith(b, from, to, USER_STACK);
        if (!user && !LineScan.startsWith(b, from, to, STACK)) {
            return false;
        }
        tokens.pairs(b, from, from);
        shape = user ? model.userStack : model.kernelStack;
        stack = true;
        return true;
    }

    /** The colon behind a name; -1 when there is no name. */
    static int name(byte[] b, int from, int to) {
        int end = Math.min(to, from + MOST_NAME);
        for (int i = from; i < end; i++) {
            int c = b[i];
            if (c == ':') {
                return i + 1 == to || LineScan.isBlank(b[i + 1]) ? i : -1;
            }
            boolean fits =
                    LineScan.isLetter(c) || LineScan.isDigit(c) || c == '.' || c == '-' || c < 0;
            if (!fits) {
                return -1;
            }
        }
        return -1;
    }

    private void event(byte[] b, int from, int colon, int to) {
        byte first = b[from];
        boolean special =
                first == 's'
                        || first == 'f'
                        || first == 'b'
                        || first == 'p'
                        || first == 't'
                        || first == 'k'
                        || first == 'u'
                        || first == '0';
        if (special && special(b, from, colon, to)) {
            return;
        }
        shape = named(b, from, colon, to);
        tokens.pairs(b, info, to);
    }

    private LearntType named(byte[] b, int from, int colon, int to) {
        LearntType found = model.learning ? null : model.schema.find(b, from, colon);
        if (found != null) {
            return found;
        }
        boolean probe = info < to && b[info] == '(';
        boolean user = probe && info + 1 < to && b[info + 1] == '0';
        String fallback = user ? "uprobes" : probe ? "kprobes" : EventSystems.UNKNOWN;
        return model.schema.named(b, from, colon, fallback);
    }

    private boolean special(byte[] b, int from, int colon, int to) {
        if (LineScan.startsWith(b, from, colon, WAKE) || LineScan.is(b, from, colon, SWITCH)) {
            shape = named(b, from, colon, to);
            sched(b, from, colon, to);
            return true;
        }
        if (LineScan.is(b, from, colon, SYS_ENTER) || LineScan.is(b, from, colon, SYS_EXIT)) {
            shape = named(b, from, colon, to);
            if (!tokens.rawSyscall(b, info, to)) {
                tokens.pairs(b, info, to);
            }
            return true;
        }
        boolean address = colon - from > 3 && b[from] == '0' && b[from + 1] == 'x';
        if (address || LineScan.is(b, from, colon, MARKER)) {
            tokens.pairs(b, from, from);
            tokens.add(IP, from, colon);
            tokens.add(BUF, info, to);
            shape = model.print;
            return true;
        }
        return printed(b, from, colon, to) || traced(b, from, colon, to);
    }

    private void sched(byte[] b, int from, int colon, int to) {
        tokens.pairs(b, info, to);
        if (!tokens.rest) {
            return;
        }
        boolean plugin =
                LineScan.is(b, from, colon, SWITCH)
                        ? tokens.pluginSwitch(b, info, to)
                        : tokens.pluginWakeup(b, info, to);
        if (!plugin) {
            tokens.pairs(b, info, to);
        }
    }

    /** trace_printk as trace-cmd lists it: {@code bprint: function: text}. */
    private boolean printed(byte[] b, int from, int colon, int to) {
        boolean printed =
                LineScan.is(b, from, colon, PRINT)
                        || LineScan.is(b, from, colon, BPRINT)
                        || LineScan.is(b, from, colon, BPUTS);
        if (!printed) {
            return false;
        }
        tokens.pairs(b, from, from);
        int end = name(b, info, to);
        if (end > 0) {
            tokens.add(IP, info, end);
            scan.over(b, end + 1, to).blanks();
            tokens.add(BUF, scan.at, to);
        } else {
            tokens.add(BUF, info, to);
        }
        shape = b[from] == 'p' ? model.print : named(b, from, colon, to);
        return true;
    }

    /** The events of tracers as trace-cmd lists them. */
    private boolean traced(byte[] b, int from, int colon, int to) {
        if (LineScan.is(b, from, colon, FUNCTION)) {
            shape = function(b, info, to);
        } else if (LineScan.is(b, from, colon, KERNEL_STACK)) {
            return info < to && b[info] == '<' && stack(b, info, to);
        } else if (LineScan.is(b, from, colon, USER_STACK_EVENT)) {
            tokens.pairs(b, from, from);
            shape = model.userStack;
            stack = true;
        } else if (LineScan.is(b, from, colon, ENTRY) || LineScan.is(b, from, colon, EXIT)) {
            boolean entry = LineScan.is(b, from, colon, ENTRY);
            if (!call.parse(b, info, to, tokens)) {
                return false;
            }
            info = Math.min(info, from + NAME_COLUMNS); // the rest of the blanks is the duration's
            shape = entry ? model.entry : model.exit;
        } else {
            return false;
        }
        return true;
    }

    /**
     * {@code function <-caller}, or only the function; text where it is neither. Behind the names
     * their modules may stand, behind the first its arguments (func-args, kernel 6.15).
     */
    private LearntType function(byte[] b, int from, int to) {
        tokens.pairs(b, from, from);
        int arrow = LineScan.find(b, from, to, FROM);
        int end = arrow < 0 ? to : LineScan.trimEnd(b, from, arrow);
        int nameEnd = from;
        while (nameEnd < end && !LineScan.isBlank(b[nameEnd]) && b[nameEnd] != '(') {
            nameEnd++;
        }
        int behind = LineScan.afterModule(b, nameEnd, end);
        boolean arguments = arrow >= 0 && behind < end && b[behind] == '(' && b[end - 1] == ')';
        if (nameEnd == from || behind < end && !arguments) {
            return raw(b, from);
        }
        tokens.add(IP, from, nameEnd);
        if (arrow >= 0) {
            int parent = arrow + FROM.length;
            scan.over(b, parent, to).take('-');
            scan.blanks();
            int caller = scan.at;
            scan.word();
            tokens.add(PARENT_IP, caller, scan.at);
        }
        return model.function;
    }

    private LearntType raw(byte[] b, int from) {
        tokens.pairs(b, from, from);
        tokens.rest = true;
        info = from;
        return model.raw;
    }

    private static final byte[] RETURNS = KeyValueTokens.bytes(" -> ");
    private static final byte[] SYS = KeyValueTokens.bytes("sys_");
    private static final byte[] RET = KeyValueTokens.bytes("ret");

    /** {@code sys_name(key: value, …)} and {@code sys_name -> 0x0}: the events of system calls. */
    private @Nullable LearntType call(byte[] b, int from, int to) {
        if (!LineScan.startsWith(b, from, to, SYS)) {
            return null;
        }
        int end = from;
        while (end < to && (LineScan.isLetter(b[end]) || LineScan.isDigit(b[end]))) {
            end++;
        }
        boolean enters = end < to && b[end] == '(';
        if (!enters && !LineScan.startsWith(b, end, to, RETURNS) || end - from > MOST_NAME) {
            return null;
        }
        byte[] prefix = enters ? SYS_ENTER : SYS_EXIT;
        byte[] name = new byte[prefix.length + end - from - 3];
        System.arraycopy(prefix, 0, name, 0, prefix.length);
        System.arraycopy(b, from + 3, name, prefix.length, end - from - 3);
        tokens.pairs(b, from, from);
        if (enters) {
            arguments(b, end + 1, to);
        } else {
            tokens.add(RET, end + RETURNS.length, to);
        }
        return model.schema.named(name, 0, name.length, EventSystems.UNKNOWN);
    }

    private void arguments(byte[] b, int start, int to) {
        int at = start;
        while (at < to && b[at] != ')') {
            scan.over(b, at, to).blanks();
            int key = scan.at;
            while (scan.at < to && b[scan.at] != ':' && b[scan.at] != ')') {
                scan.at++;
            }
            int keyEnd = scan.at;
            if (!scan.take(':')) {
                return;
            }
            scan.blanks();
            int value = scan.at;
            while (scan.at < to && b[scan.at] != ',' && b[scan.at] != ')') {
                scan.at++;
            }
            tokens.add(java.util.Arrays.copyOfRange(b, key, keyEnd), value, scan.at);
            at = scan.at + 1;
        }
    }
}
