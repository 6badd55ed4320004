package sonde.store.derive;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Threads;
import sonde.store.duckdb.Connection;
import sonde.store.table.Utids;

/** Fills derived tables when statements first name them, and knows whose number is which. */
public final class Derivations implements Utids {
    private final List<TraceInput> inputs;
    private final Connection connection;
    private final Set<Derived> filled = EnumSet.noneOf(Derived.class);
    private volatile @Nullable List<Numbers> numbers;

    /** Nothing is filled yet; {@code connection} is this object's own. */
    public Derivations(List<TraceInput> inputs, Connection connection) {
        this.inputs = List.copyOf(inputs);
        this.connection = connection;
    }

    /** The threads of one trace by tid: those of equal tid follow each other by birth. */
    private record Numbers(int firstUtid, int[] starts, int[] members, long[] born) {
        static Numbers of(Threads threads, int firstUtid) {
            int most = 0;
            for (int i = 0; i < threads.size(); i++) {
                most = Math.max(most, threads.tid(i));
            }
            int[] starts = new int[most + 2];
            for (int i = 0; i < threads.size(); i++) {
                starts[threads.tid(i) + 1]++;
            }
            for (int tid = 0; tid <= most; tid++) {
                starts[tid + 1] += starts[tid];
            }
            int[] next = starts.clone();
            int[] members = new int[threads.size()];
            long[] born = new long[threads.size()];
            for (int i = 0; i < members.length; i++) {
                int place = next[threads.tid(i)]++;
                members[place] = i;
                born[place] = threads.born(i);
            }
            return new Numbers(firstUtid, starts, members, born);
        }

        int of(int tid, long time) {
            if (tid == 0) {
                return firstUtid;
            }
            if (tid < 0 || tid >= starts.length - 1 || starts[tid] == starts[tid + 1]) {
                return NONE;
            }
            int place = starts[tid + 1] - 1;
            while (place > starts[tid] && born[place] > time) {
                place--;
            }
            return firstUtid + 1 + members[place];
        }
    }

    /** Fills the tables of these that are empty yet. */
    public synchronized void fill(Set<Derived> wanted) throws IOException {
        Set<Derived> missing = EnumSet.noneOf(Derived.class);
        missing.addAll(wanted);
        missing.removeAll(filled);
        if (missing.isEmpty()) {
            return;
        }
        run(missing);
        filled.addAll(missing);
    }

    private void run(Set<Derived> tables) throws IOException {
        List<Numbers> found = new ArrayList<>();
        int utid = 0;
        int callsite = 0;
        for (int trace = 0; trace < inputs.size(); trace++) {
            TraceInput input = inputs.get(trace);
            Target target = new Target(trace, input.shiftNanos(), utid, callsite);
            Derivation.Outcome outcome = Derivation.run(input, target, tables, connection);
            found.add(Numbers.of(outcome.threads(), utid));
            utid += outcome.threads().size() + 1;
            callsite += outcome.callsites();
        }
        numbers = found;
    }

    @Override
    public synchronized void prepare() throws IOException {
        if (numbers == null) {
            run(Set.of());
        }
    }

    @Override
    public int of(int trace, int tid, long time) {
        List<Numbers> known = numbers;
        return known == null ? NONE : known.get(trace).of(tid, time);
    }
}
