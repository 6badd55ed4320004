package sonde.format.ftrace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.IntegerField;

/**
 * The function tracer: functions are indented below their callers, as far as the callers of one CPU
 * can be followed.
 */
final class FunctionInfo implements EventInfo {
    private static final int INDENT = 3;
    // Deeper than kernel stacks go; a damaged file must not make the list grow for ever.
    private static final int DEEPEST = 512;

    private final TextContext context;
    private final IntegerField ip;
    private final IntegerField parentIp;
    private final Map<Integer, List<byte[]>> chains = new HashMap<>();

    /** For the type {@code ftrace:function}. */
    FunctionInfo(EventType type, TextContext context) throws NoSuchElementException {
        this.context = context;
        this.ip = type.integer("ip");
        this.parentIp = type.integer("parent_ip");
    }

    @Override
    public boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
        KernelSymbols symbols = context.symbols();
        long address = ip.of(batch, row);
        int function = symbols.find(address);
        int parent = symbols.find(parentIp.of(batch, row));
        if (parent >= 0) {
            byte[] name = function < 0 ? null : symbols.name(function);
            out.blanks(INDENT * indent(batch.cpu(row), symbols.name(parent), name));
        }
        EventInfos.function(out, context, address);
        return false;
    }

    /** Position of the caller in the CPU's chain; the callee takes the place behind it. */
    private int indent(int cpu, byte[] parent, byte @Nullable [] child) {
        List<byte[]> chain = chains.computeIfAbsent(cpu, number -> new ArrayList<>());
        for (int i = 0; i < chain.size(); i++) {
            if (Arrays.equals(parent, chain.get(i))) {
                set(chain, i + 1, child);
                return i;
            }
        }
        set(chain, 0, parent);
        set(chain, 1, child);
        return 0;
    }

    private static void set(List<byte[]> chain, int at, byte @Nullable [] name) {
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
