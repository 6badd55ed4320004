package sonde.lang.ir;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.source.Span;

/** The stack that functions take together along the deepest chain of calls. */
final class CallTree {
    private static final int STACK_BYTES = 512; // MAX_BPF_STACK
    private static final int FRAMES = 8; // MAX_CALL_FRAMES
    private static final int UNIT = 32; // frames of programs with several functions

    private record Depth(int bytes, int frames) {}

    private final Map<Function, Compiled> functions;
    private final Map<Function, Depth> depths = new HashMap<>();
    private final Set<Function> open = new HashSet<>();

    CallTree(Map<Function, Compiled> functions) {
        this.functions = functions;
    }

    /**
     * Bytes of the deepest chain.
     *
     * @throws CompilationException when that is more than kernels take, or functions call
     *     themselves
     */
    int check(Function main) throws CompilationException {
        Depth depth = depth(main, main.place());
        if (depth.frames > FRAMES) {
            throw new CompilationException(
                    main.place(),
                    "functions call each other %d deep; kernels take %d"
                            .formatted(depth.frames, FRAMES));
        }
        return depth.bytes;
    }

    private Depth depth(Function function, @Nullable Span use) throws CompilationException {
        Depth known = depths.get(function);
        if (known != null) {
            return known;
        }
        Compiled compiled = functions.get(function);
        if (compiled == null) {
            return new Depth(0, 0);
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
        for (Function callee : compiled.callees()) {
            Span call = compiled.useOf(callee);
            Depth below = depth(callee, call);
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
        Depth depth = new Depth(rounded + most, frames + 1);
        depths.put(function, depth);
        return depth;
    }
}
