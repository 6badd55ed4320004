package sonde.probe.stack;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.sys.MappedRange;
import sonde.sys.SyscallException;

/**
 * Code that processes have mapped, as records of perf tell it, so that a stack can be finished
 * whose process is gone already. What was mapped before the recording is read from {@code /proc}.
 */
public final class MappingLog {
    private static final int MOST_PROCESSES = 4096;
    private static final int MOST_MAPPINGS = 4096;

    /** Forks between an exec and a stack. */
    private static final int MOST_FORKS = 8;

    private final Map<Integer, List<MappedRange>> logged = bounded();
    private final Map<Integer, List<MappedRange>> read = bounded();
    private final Map<Integer, Integer> parents = bounded();

    MappingLog() {}

    private static <V> Map<Integer, V> bounded() {
        return new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<Integer, V> eldest) {
                return size() > MOST_PROCESSES;
            }
        };
    }

    /** A PERF_RECORD_MMAP2. */
    public void mapped(int pid, MappedRange range) {
        List<MappedRange> of = logged.computeIfAbsent(pid, _ -> new ArrayList<>());
        if (of.size() == MOST_MAPPINGS) {
            of.subList(0, MOST_MAPPINGS / 2).clear();
        }
        of.add(range);
    }

    /**
     * A PERF_RECORD_FORK of a process. What the parent has mapped may come later: each CPU has a
     * ring of its own.
     */
    public void forked(int parent, int pid) {
        if (parent != pid) {
            parents.put(pid, parent);
        }
        read.remove(pid);
    }

    /**
     * A PERF_RECORD_COMM of an exec. What was mapped before is kept, for stacks of that time may
     * still be in the rings; what is mapped from now on comes first.
     */
    public void executed(int pid) {
        read.remove(pid);
    }

    /** The mapping that holds an address; null for none, or when it is no code. */
    @Nullable MappedRange find(int pid, long pc) {
        MappedRange found = null;
        Integer of = pid;
        for (int i = 0; i < MOST_FORKS && of != null && found == null; i++) {
            found = find(logged.getOrDefault(of, List.of()), pc);
            of = parents.get(of);
        }
        if (found == null) {
            found = find(read.getOrDefault(pid, List.of()), pc);
        }
        if (found != null) {
            return found;
        }
        try {
            List<MappedRange> now = MappedRange.of(pid);
            read.put(pid, now);
            return find(now, pc);
        } catch (SyscallException e) {
            return null; // the process is gone
        }
    }

    /** The latest one that holds the address. */
    private static @Nullable MappedRange find(List<MappedRange> ranges, long pc) {
        for (MappedRange range : ranges.reversed()) {
            if (Long.compareUnsigned(pc, range.start()) >= 0
                    && Long.compareUnsigned(pc, range.end()) < 0) {
                return range.permissions().charAt(2) == 'x' ? range : null;
            }
        }
        return null;
    }
}
