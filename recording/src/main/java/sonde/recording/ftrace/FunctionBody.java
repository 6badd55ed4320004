package sonde.recording.ftrace;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.IntegerField;
import sonde.recording.ftrace.PrintExpression.PayloadArray;

/**
 * The function tracer: functions are indented below their callers, as far as the callers of one CPU
 * can be followed.
 */
final class FunctionBody implements EventBody {
    private static final int INDENT = 3;
    // Deeper than kernel stacks go; a damaged file must not make the list grow for ever.
    private static final int DEEPEST = 512;

    private final TextContext context;
    private final IntegerField ip;
    private final IntegerField parentIp;
    private final @Nullable PayloadArray arguments;
    private final @Nullable Repeats repeats;
    private final Map<Integer, List<PackedText>> chains = new HashMap<>();

    /** How often a function was called again, and when last: {@code func_repeats} (5.14). */
    private record Repeats(IntegerField count, IntegerField deltaHigh, IntegerField deltaLow) {
        static @Nullable Repeats of(EventType type) {
            IntegerField count = EventBodies.integer(type, "count");
            IntegerField high = EventBodies.integer(type, "top_delta_ts");
            IntegerField low = EventBodies.integer(type, "bottom_delta_ts");
            return count == null || high == null || low == null
                    ? null
                    : new Repeats(count, high, low);
        }

        void append(TextBuffer out, Batch batch, int row) {
            long delta = deltaHigh.of(batch, row) << 32 | deltaLow.of(batch, row);
            long micros = Long.divideUnsigned(batch.time(row) - delta + 500, 1000);
            out.put(" (count: ").decimal(count.of(batch, row)).put("  last_ts: ");
            int start = out.size();
            out.unsigned(micros / 1_000_000).pad(start, 6, false);
            out.put('.').digits(micros % 1_000_000, 6).put(')');
        }
    }

    private FunctionBody(
            EventType type, TextContext context, IntegerField ip, IntegerField parentIp) {
        this.context = context;
        this.ip = ip;
        this.parentIp = parentIp;
        this.arguments = EventBodies.place(type, "args");
        this.repeats = type.name().equals("func_repeats") ? Repeats.of(type) : null;
    }

    /**
     * For {@code ftrace:function}, with arguments from kernel 6.15 on, and {@code
     * ftrace:func_repeats}; null when fields are missing.
     */
    static @Nullable EventBody of(EventType type, TextContext context) {
        IntegerField ip = EventBodies.integer(type, "ip");
        IntegerField parentIp = EventBodies.integer(type, "parent_ip");
        return ip == null || parentIp == null
                ? null
                : new FunctionBody(type, context, ip, parentIp);
    }

    @Override
    public boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
        KallsymsIndex symbols = context.symbols();
        long address = ip.of(batch, row);
        PackedText name = symbols.nameAt(address);
        PackedText parent = symbols.nameAt(parentIp.of(batch, row));
        if (parent != null) {
            out.blanks(INDENT * indent(batch.cpu(row), parent, name));
        }
        if (name == null) {
            out.put("0x").hex(address, 1);
        } else {
            out.put(name);
        }
        if (arguments != null && batch.payloadBytes(row) > arguments.field().offset()) {
            out.put('(');
            GraphBody.arguments(out, context, arguments, batch, row);
            out.put(')');
        }
        if (repeats != null) {
            repeats.append(out, batch, row);
        }
        return false;
    }

    /** Position of the caller in the CPU's chain; the callee takes the place behind it. */
    private int indent(int cpu, PackedText parent, @Nullable PackedText child) {
        List<PackedText> chain = chains.computeIfAbsent(cpu, number -> new ArrayList<>());
        for (int i = 0; i < chain.size(); i++) {
            if (parent.isSame(chain.get(i))) {
                set(chain, i + 1, child);
                return i;
            }
        }
        set(chain, 0, parent);
        set(chain, 1, child);
        return 0;
    }

    private static void set(List<PackedText> chain, int at, @Nullable PackedText name) {
        if (name == null || at >= DEEPEST) {
            return;
        }
        if (at < chain.size()) {
            chain.set(at, name);
        } else {
            chain.add(name);
        }
    }
}
