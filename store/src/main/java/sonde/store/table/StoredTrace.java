package sonde.store.table;

import java.util.List;
import sonde.event.Recording;

/**
 * A recording as the tables see it.
 *
 * @param id the {@code trace_id}, from 0 in the order given
 * @param name for people
 * @param recordings whose clocks are one
 * @param shiftNanos to be added to its times to get to the common axis
 */
public record StoredTrace(int id, String name, List<Recording> recordings, long shiftNanos) {
    public StoredTrace {
        recordings = List.copyOf(recordings);
    }
}
