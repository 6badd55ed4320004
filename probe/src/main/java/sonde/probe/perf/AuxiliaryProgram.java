package sonde.probe.perf;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * A program in the kernel that writes records into perf rings through bpf-output events
 * (PERF_COUNT_SW_BPF_OUTPUT), one per CPU: samples of the event {@code bpf-output} whose RAW part
 * is what the program gave to bpf_perf_event_output.
 */
public interface AuxiliaryProgram extends AutoCloseable {
    /**
     * Loads and attaches; called before the events are enabled.
     *
     * @param outputs descriptor of the bpf-output event of each CPU, to be put into a
     *     PERF_EVENT_ARRAY; they stay open until after {@link #close}
     * @throws IOException when the kernel refuses; the recording goes on without it
     */
    void attach(Map<Integer, Integer> outputs) throws IOException;

    /** Event types it delivers, for the list of owners, with the reason. */
    List<String> events();

    /** Records it could not write, when it counts them; called after the events stopped. */
    default long lost() {
        return 0;
    }

    /** Detaches; nothing stays in the kernel. */
    @Override
    void close();

    /** Takes another process and what it starts from now on in. */
    default void follow(int pid) throws IOException {}

    /**
     * Detaches; {@link #close} has only descriptors to close then.
     *
     * @return events on tracepoints among them, whose closing takes long
     */
    default List<Integer> detach() {
        return List.of();
    }
}
