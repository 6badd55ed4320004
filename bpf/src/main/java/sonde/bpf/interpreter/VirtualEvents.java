package sonde.bpf.interpreter;

import java.util.ArrayList;
import java.util.List;
import sonde.sys.Errno;

/** BPF_MAP_TYPE_PERF_EVENT_ARRAY: takes what bpf_perf_event_output emits, a list for each CPU. */
public final class VirtualEvents extends VirtualMap {
    /** Bytes that all buffers together hold. */
    private static final long ROOM = 64 << 20;

    private long held;
    private final List<List<byte[]>> records = new ArrayList<>();

    /** With an open perf event on each CPU. */
    public VirtualEvents(String name, int cpus) {
        super(name, 4, 4, cpus);
        for (int i = 0; i < cpus; i++) {
            records.add(new ArrayList<>());
        }
    }

    int output(int index, byte[] record) {
        if (index < 0 || index >= maxEntries()) {
            return -Errno.E2BIG;
        }
        if (held + record.length > ROOM) {
            return -Errno.ENOSPC;
        }
        held += record.length + Long.BYTES;
        records.get(index).add(record);
        return 0;
    }

    /** What programs emitted on a CPU. */
    public List<byte[]> records(int cpu) {
        return List.copyOf(records.get(cpu));
    }
}
