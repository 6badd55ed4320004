package sonde.exchange.perfetto;

import java.util.ArrayList;
import java.util.List;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.event.Recording;
import sonde.recording.RowStore;
import sonde.recording.TraceRows;

/**
 * Reads a Perfetto trace: kernel events under the kernel's names, slices, counters, samples, names
 * of processes and threads. What a packet's state refers to is resolved; what is not read is told
 * in the recording's notes, with counts.
 */
public final class PerfettoReader {
    private PerfettoReader() {}

    /** Whether the bytes are packets, by their first ones. */
    public static boolean isPerfetto(Input input) {
        return TracePackets.begin(input.segment());
    }

    /**
     * Reads a trace; the input may be closed afterwards.
     *
     * @throws MalformedInputException when it is none
     */
    public static Recording open(Input input) throws MalformedInputException {
        if (!isPerfetto(input)) {
            throw new MalformedInputException(TracePackets.FORMAT, "packet", 0, "no trace packets");
        }
        RowStore store = new RowStore();
        return store.filled(() -> {
            List<String> notes = new ArrayList<>();
            TracePackets packets = new TracePackets(input.segment(), notes);
            TraceRows rows = new TraceRows(store);
            TraceClocks clocks = new TraceClocks();
            PacketReader reader =
                    new PacketReader(
                            rows, clocks, new TrackDescriptors(), new InternedCallstacks(store));
            packets.forEach(reader::look);
            packets.forEach(reader::take);
            packets.tell();
            reader.finish(notes, packets.corrupt());
            return store.recording("perfetto", clocks.traceClock(), notes);
        });
    }
}
