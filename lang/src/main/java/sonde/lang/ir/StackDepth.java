package sonde.lang.ir;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.source.SourceSpan;

/** The stack that functions take together along the deepest chain of calls. */
final class StackDepth {
    private static final int STACK_BYTES = 512; // MAX_BPF_STACK
    private static final int FRAMES = 8; // MAX_CALL_FRAMES
    private static final int UNIT = 32; // frames of programs with several functions

    private record DepthAtCall(int bytes, int frames) {}

    private final Map<IrFunction, CompiledFunction> functions;
    private final Map<IrFunction, DepthAtCall> depths = new HashMap<>();
    private final Set<IrFunction> open = new HashSet<>();

    StackDepth(Map<IrFunction, CompiledFunction> functions) {
        this.functions = functions;
    }

    /**
     * Bytes of the deepest chain.
     *
     * @throws CompilationException when that is more than kernels take, or functions call
     *     themselves
     */
    int check(IrFunction main) throws CompilationException {
        DepthAtCall depth = depth(main, main.place());
        if (depth.frames > FRAMES) {
            throw new CompilationException(
                    main.place(),
                    "functions call each other %d deep; kernels take %d"
                            .formatted(depth.frames, FRAMES));
        }
        return depth.bytes;
    }

    private DepthAtCall depth(IrFunction function, @Nullable SourceSpan use)
            throws CompilationException {
        DepthAtCall known = depths.get(function);
        if (known != null) {
            return known;
        }
        CompiledFunction compiled = functions.get(function);
        if (compiled == null) {
            return new DepthAtCall(0, 0);
        }
        if (!open.add(function)) {
            throw new CompilationException(
                    use, function.name() + " calls itself, which no kernel takes");
        }
        int own = compiled.frame().sizeBytes();
        if (own > STACK_BYTES) {
            throw new CompilationException(
                    use,
                    "%s needs %d bytes of stack; kernels give %d"
                            .formatted(function.name(), own, STACK_BYTES));
        }
        int frames = 0;
        int most = 0;
        for (IrFunction callee : compiled.callees()) {
            SourceSpan call = compiled.useOf(callee);
            DepthAtCall below = depth(callee, call);
            frames = Math.max(frames, below.frames);
            most = Math.max(most, below.bytes);
            if (own + below.bytes > STACK_BYTES) {
                throw new CompilationException(
                        call,
                        "%s and what it calls need %d bytes of stack; kernels give %d"
                                .formatted(function.name(), own + below.bytes, STACK_BYTES));
            }
        }
        open.remove(function);
        int rounded = functions.size() == 1 ? own : Math.max(own, 1) + UNIT - 1 & -UNIT;
        DepthAtCall depth = new DepthAtCall(rounded + most, frames + 1);
        depths.put(function, depth);
        return depth;
    }
}
