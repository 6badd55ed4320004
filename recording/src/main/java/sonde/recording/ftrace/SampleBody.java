package sonde.recording.ftrace;

import org.jspecify.annotations.Nullable;
import sonde.event.Batch;

/**
 * A sample that is not a tracepoint: {@code "period ip function"}, as {@code perf script} shows it
 * without call chain.
 */
record SampleBody(TextContext context, AddressNames names) implements EventBody {
    // include/uapi/linux/perf_event.h PERF_CONTEXT_MAX: markers lie above it.
    static final long PERF_CONTEXT_MAX = -4095;

    static final long PERF_CONTEXT_USER = -512;

    @Override
    public boolean append(TextBuffer out, Batch batch, int row, @Nullable Batch next, int nextRow) {
        out.decimal(batch.weight(row));
        long address = address(batch, row);
        if (address != 0) {
            out.put(' ').hex(address, 1);
            int start = out.size();
            out.put(' ');
            name(out, batch.pid(row), address);
            if (out.size() == start + 1) {
                out.truncate(start);
            }
        }
        return false;
    }

    /** Appends the function: {@code name+0xoffset} in the kernel, the name elsewhere. */
    void name(TextBuffer out, int pid, long address) {
        if (address >= 0) {
            out.put(names.name(pid, address));
            return;
        }
        int symbol = context.symbols().find(address);
        if (symbol >= 0) {
            context.symbols().appendName(out, symbol);
            out.put("+0x").hex(address - context.symbols().address(symbol), 1);
        }
    }

    /** Where the sample was taken; 0 when it does not say. */
    static long address(Batch batch, int row) {
        for (int i = 0; i < batch.stackDepth(row); i++) {
            long entry = batch.stackEntry(row, i);
            if (Long.compareUnsigned(entry, PERF_CONTEXT_MAX) < 0) {
                return entry;
            }
        }
        return 0;
    }
}
