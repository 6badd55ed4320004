package sonde.analysis.stack;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.binary.unwind.RegisterValues;
import sonde.binary.unwind.UnwindMachine;
import sonde.event.Batch;
import sonde.event.result.Frame;
import sonde.recording.perfdata.CopiedStackUnwinder;
import sonde.recording.perfdata.UserState;
import sonde.symbol.ProcessMaps;
import sonde.symbol.unwind.ModuleFrames;
import sonde.symbol.unwind.StackPiece;
import sonde.symbol.unwind.StackUnwinder;
import sonde.symbol.unwind.UnwindEnd;

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
    public CopiedStackUnwinder lane() {
        return new LaneUnwinding();
    }

    private final class LaneUnwinding implements CopiedStackUnwinder {
        private final ProcessMaps maps = new ProcessMaps();
        private final ProcessSymbols follower =
                new ProcessSymbols(maps, LaneUnwinding::unnamed, buildIds);
        private final MachineMode wide = new MachineMode(maps, false);
        private final MachineMode narrow = new MachineMode(maps, true);
        private UnwindEnd end = UnwindEnd.COMPLETE;

        private static Frame unnamed(long location) {
            throw new IllegalStateException("nobody names locations here: " + location);
        }

        @Override
        public void record(Batch batch, int row) {
            follower.accept(batch, row, row + 1);
        }

        @Override
        public int unwind(UserState state, long[] chain) {
            MachineMode mode = state.isNarrow() ? narrow : wide;
            int count = mode.unwind(state, chain);
            end = mode.end;
            return count;
        }

        @Override
        public int end() {
            return end.ordinal();
        }
    }

    /** One mode of the machine, and where the registers of its samples lie. */
    private final class MachineMode {
        private final ProcessMaps maps;
        private final Optional<UnwindMachine> machine;
        private @Nullable StackUnwinder unwinder;
        private long registers;
        private int[] columns = {};
        private int programCounter = -1;
        private int stackPointer = -1;
        private int framePointer = -1;
        UnwindEnd end = UnwindEnd.COMPLETE;

        MachineMode(ProcessMaps maps, boolean narrow) {
            this.maps = maps;
            machine = UnwindMachine.of(recorded, narrow);
        }

        int unwind(UserState state, long[] chain) {
            if (registers != state.registers()) {
                machine.ifPresent(of -> learn(of, state.registers()));
            }
            StackUnwinder by = unwinder;
            if (by == null || programCounter < 0 || stackPointer < 0) {
                return 0;
            }
            long pointer = state.register(stackPointer);
            StackPiece stack = new StackPiece(state, pointer);
            int count = 0;
            if (framePointer >= 0) {
                long address = state.register(programCounter);
                long frame = state.register(framePointer);
                count = by.known(state.pid(), address, pointer, frame, stack, chain);
            }
            if (count == 0) {
                fill(by.first(), state);
                count = by.unwind(state.pid(), stack, chain);
            }
            end = by.end();
            return count;
        }

        private void fill(RegisterValues first, UserState state) {
            first.clear();
            for (int i = 0; i < columns.length; i++) {
                if (columns[i] >= 0) {
                    first.set(columns[i], state.register(i));
                }
            }
        }

        private void learn(UnwindMachine of, long mask) {
            if (unwinder == null) {
                unwinder = new StackUnwinder(of, maps, modules);
            }
            registers = mask;
            columns = new int[Long.bitCount(mask)];
            long left = mask;
            for (int i = 0; i < columns.length; i++) {
                columns[i] = of.ofPerf(Long.numberOfTrailingZeros(left));
                left &= left - 1;
            }
            List<Integer> all = Arrays.stream(columns).boxed().toList();
            programCounter = all.indexOf(of.programCounter());
            stackPointer = all.indexOf(of.stackPointer());
            framePointer = all.indexOf(of.framePointer());
        }
    }
}
