package sonde.recording.perfdata;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sonde.event.EventType;

/** What a perf.data says of itself: its events, the features of its header, its records. */
public interface PerfDescription {
    /** The events, in the order of the file, with their names where it tells them. */
    List<AttrEntry> attrs();

    /** The event type of an attr's samples. */
    EventType typeOf(int attr);

    /** Those whose samples have an event type. */
    default List<AttrEntry> entriesOf(EventType type) {
        List<AttrEntry> entries = new ArrayList<>();
        for (int i = 0; i < attrs().size(); i++) {
            if (typeOf(i).id() == type.id()) {
                entries.add(attrs().get(i));
            }
        }
        return entries;
    }

    /** What the header says about the recording. */
    RecordedFeatures features();

    /** The content of a header feature, HEADER_*, as it lies; empty when a pipe told it. */
    Optional<byte[]> section(int feature);

    /** Byte order of the machine that recorded. */
    ByteOrder order();

    /**
     * The text of {@code /proc/kallsyms} of {@code perf record --kcore}; empty when it has none.
     */
    byte[] copiedKallsyms();

    /** Bytes of the records. */
    long dataBytes();

    /** False when the recorder was killed before it could finish the file. */
    boolean isFinished();

    /**
     * How many records of each kind there are, by the names of {@code perf report --stats}; whole
     * when all lanes have been read.
     */
    Map<String, Long> recordCounts();
}
