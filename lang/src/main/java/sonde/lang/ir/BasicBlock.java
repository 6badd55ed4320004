package sonde.lang.ir;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.source.SourceSpan;

/** Steps that run one after the other; only the last may go elsewhere. */
public final class BasicBlock {
    /**
     * An operation and where it comes from.
     *
     * @param span null for what no line of the program says
     */
    public record BlockStep(IrOperation operation, @Nullable SourceSpan span) {
        @Override
        public String toString() {
            return operation.toString();
        }
    }

    private final int index;
    private final List<BlockStep> steps = new ArrayList<>();

    BasicBlock(int index) {
        this.index = index;
    }

    /** Its number within its function, from 0; not its place in the layout. */
    public int index() {
        return index;
    }

    /** Its steps, to be changed by passes. */
    public List<BlockStep> steps() {
        return steps;
    }

    /** Whether it has its last step. */
    public boolean isClosed() {
        return !steps.isEmpty() && steps.getLast().operation() instanceof IrOperation.Ending;
    }

    @Override
    public String toString() {
        return "b" + index;
    }
}
