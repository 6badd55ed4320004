package sonde.event;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Something events can be read from: a trace.dat, a perf.data, a bundle of both. Nobody asks for
 * the class of a recording: what only some of them know is asked of all, and is empty for the rest.
 */
public interface Recording extends AutoCloseable {
    /** The sources, in the order in which equal times are to be taken. */
    List<Source> sources();

    /** Fresh lanes over everything, positioned at the start; may be called again. */
    List<Lane> lanes() throws IOException;

    /** Sentences about what could not be read and why; whole when its lanes have been read. */
    default List<String> notes() {
        return List.of();
    }

    /** Names of the entries of call chains; null where they are addresses. */
    default @Nullable FrameNames frames() {
        return null;
    }

    /** The kernel and the machine that it was made on. */
    default KernelIdentity kernel() {
        return KernelIdentity.UNKNOWN;
    }

    /** The text of {@code /proc/kallsyms} that was kept in it; empty when none was. */
    default byte[] kallsyms() {
        return new byte[0];
    }

    /** Build-ids of programs and libraries by path, where mappings do not tell their own. */
    default Map<String, byte[]> fileIds() {
        return Map.of();
    }

    /**
     * Whether its rows {@code perf_record:…} are the records of the kernel, header included. They
     * tell mappings, names and births of processes, from before the first event too; the addresses
     * of its call chains get their names by them.
     */
    default boolean hasKernelRecords() {
        return false;
    }

    /**
     * Names of threads by tid, where it has a list of them; empty where only rows tell names, each
     * when it begins to hold.
     */
    default Optional<Map<Integer, String>> threadNames() {
        return Optional.empty();
    }

    /**
     * Nanoseconds from one sample of what runs to the next, as the recorder was told to take them;
     * 0 when nothing tells.
     */
    default long sampleNanos() {
        return 0;
    }

    /** Names of system calls that no table has; the first has the number 512. */
    default List<String> moreCalls() {
        return List.of();
    }

    /**
     * What only recordings of some kinds have, under the type that describes it: the packages of
     * formats define such types. A recording that wraps another one passes the question on.
     */
    default <C> Optional<C> capability(Class<C> kind) {
        return kind.isInstance(this) ? Optional.of(kind.cast(this)) : Optional.empty();
    }

    /** Unmaps and closes; batches of its lanes must not be used afterwards. */
    @Override
    void close();
}
