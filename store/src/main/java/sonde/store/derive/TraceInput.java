package sonde.store.derive;

import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sonde.analysis.CountedThreads;
import sonde.analysis.LogIncident.IncidentSearch;
import sonde.analysis.stack.ProcessSymbols;
import sonde.event.EventType;
import sonde.event.Recording;
import sonde.recording.bundle.RecordingMeta.RecordedLoss;

/**
 * A recording to be queried, and what is known beside its events.
 *
 * @param name of the file, for people
 * @param recordings its parts, on one clock
 * @param shiftNanos to be added to its times to get to the axis of all traces
 * @param tree whose rows count in derived tables
 * @param comms names of threads that no event names
 * @param silence what threads without rows did; null when nobody knows
 * @param losses what was lost by the recorder's account, or the file's own
 * @param stacked whether events of a type were recorded for their stacks: they are samples, too
 * @param partial what states of threads cannot be made of: a filter let a part through
 * @param callName name of a system call by its number on the recorded machine
 * @param symbols fresh names of call chains; made only when a statement asks for them
 * @param incidents a fresh search in the kernel's log
 */
public record TraceInput(
        String name,
        List<Recording> recordings,
        long shiftNanos,
        CountedThreads tree,
        Map<Integer, String> comms,
        @Nullable SilentThreads silence,
        List<RecordedLoss> losses,
        Predicate<EventType> stacked,
        Predicate<EventType> partial,
        IntFunction<String> callName,
        Supplier<ProcessSymbols> symbols,
        Supplier<IncidentSearch> incidents) {
    public TraceInput {
        recordings = List.copyOf(recordings);
        comms = Map.copyOf(comms);
    }
}
