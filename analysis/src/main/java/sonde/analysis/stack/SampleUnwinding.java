package sonde.analysis.stack;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.result.Frame;
import sonde.format.perfdata.UserStacks;
import sonde.format.perfdata.UserState;
import sonde.format.unwind.Registers;
import sonde.format.unwind.UnwindMachine;
import sonde.symbol.ProcessMaps;
import sonde.symbol.unwind.ModuleFrames;
import sonde.symbol.unwind.StackPiece;
import sonde.symbol.unwind.UnwindEnd;
import sonde.symbol.unwind.Unwinder;

/**
 * Unwinds the user stacks of a perf.data while it is read: {@code
 * recording.userStacks(unwinding::lane)}. The end of a chain ({@link sonde.event.Batch#chainEnd})
 * is the ordinal of an {@link UnwindEnd}; {@link ChainEnds} counts them.
 */
public final class SampleUnwinding {
    private final String recorded;
    private final ModuleFrames modules;
    private final Map<String, byte[]> buildIds;

    /**
     * @param machine that recorded, as {@code uname -m} names it
     * @param buildIds of files by path, for mappings that do not tell theirs
     */
    public SampleUnwinding(String machine, ModuleFrames modules, Map<String, byte[]> buildIds) {
        this.recorded = machine;
        this.modules = modules;
        this.buildIds = Map.copyOf(buildIds);
    }

    /** For one lane. */
    public UserStacks lane() {
        return new Lane();
    }

    private final class Lane implements UserStacks {
        private final ProcessMaps maps = new ProcessMaps();
        private final ProcessSymbols follower = new ProcessSymbols(maps, Lane::unnamed, buildIds);
        private final Map<Boolean, Optional<Unwinder>> unwinders = new HashMap<>();
        private UnwindEnd end = UnwindEnd.COMPLETE;

        /** Columns of the registers of {@link #mask}, in the order of its bits. */
        private int[] columns = {};

        private long mask;
        private @Nullable UnwindMachine machine;

        private static Frame unnamed(long location) {
            throw new IllegalStateException("nobody names locations here: " + location);
        }

        @Override
        public void record(Batch batch, int row) {
            follower.accept(batch, row, row + 1);
        }

        @Override
        public int unwind(UserState state, long[] chain) {
            Unwinder unwinder = unwinder(state.isNarrow());
            if (unwinder == null) {
                return 0;
            }
            Registers first = unwinder.first();
            first.clear();
            UnwindMachine of = first.machine();
            if (mask != state.registers() || machine != of) {
                learn(of, state.registers());
            }
            for (int i = 0; i < columns.length; i++) {
                if (columns[i] >= 0) {
                    first.set(columns[i], state.register(i));
                }
            }
            if (!first.has(of.programCounter()) || !first.has(of.stackPointer())) {
                return 0;
            }
            StackPiece stack = new StackPiece(state, first.get(of.stackPointer()));
            int count = unwinder.unwind(state.pid(), stack, chain);
            end = unwinder.end();
            return count;
        }

        private void learn(UnwindMachine of, long registers) {
            machine = of;
            mask = registers;
            columns = new int[Long.bitCount(registers)];
            long left = registers;
            for (int i = 0; i < columns.length; i++) {
                columns[i] = of.ofPerf(Long.numberOfTrailingZeros(left));
                left &= left - 1;
            }
        }

        @Override
        public int end() {
            return end.ordinal();
        }

        private @Nullable Unwinder unwinder(boolean narrow) {
            return unwinders
                    .computeIfAbsent(
                            narrow,
                            key ->
                                    UnwindMachine.of(recorded, key)
                                            .map(of -> new Unwinder(of, maps, modules)))
                    .orElse(null);
        }
    }
}
