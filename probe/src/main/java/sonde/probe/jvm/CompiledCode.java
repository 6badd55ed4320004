package sonde.probe.jvm;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Frame;
import sonde.probe.jvm.JavaMethod.NumberCode;

/**
 * A piece of code that a JVM made: a compiled method with the places that its compiler recorded, or
 * a stub with a name. All of it was read from the process, which may have ended.
 */
public final class CompiledCode {
    /**
     * Stands for the callers of a virtual thread that its JVM keeps in the heap until they are
     * returned to.
     */
    public static final String IN_HEAP = "[callers of a virtual thread, in the heap]";

    /** The stubs of continuations (src/hotspot/cpu/x86/stubGenerator_x86_64.cpp). */
    static final Pattern CONTINUATIONS = Pattern.compile("StubRoutines \\(continuation ?stubs\\)");

    private static final int MOST_INLINED = 64;

    /** Length of a call by its distance. */
    private static final int CALL_BYTES = 5;

    // src/hotspot/share/code/pcDesc.hpp: pc offset, offset in the scopes, of objects, flags
    private static final int PC_DESC_BYTES = 16;

    private final int compileId;
    private final Frame whole;
    private final int firstLine;
    private final int codeOffset;
    private final ByteBuffer places;
    private final Scopes scopes;

    /** Of the stubs of continuations, from the beginning of the blob; empty of other code. */
    private final ByteBuffer stubs;

    /**
     * What a scope consists of (src/hotspot/share/code/scopeDesc.cpp): where the caller's is, a
     * method, an index in its bytecode.
     *
     * @param methods by their index, from 1
     */
    private record Scopes(ByteBuffer data, NumberCode code, Map<Integer, JavaMethod> methods) {}

    private CompiledCode(
            int compileId,
            JavaMethod method,
            int codeOffset,
            ByteBuffer places,
            Scopes scopes,
            ByteBuffer stubs) {
        this.stubs = stubs;
        this.compileId = compileId;
        whole = method.frame(-1, false);
        firstLine = method.firstLine();
        this.codeOffset = codeOffset;
        this.places = places;
        this.scopes = scopes;
    }

    /**
     * Code without methods.
     *
     * @param stubs its bytes, if it is {@link #CONTINUATIONS}
     */
    static CompiledCode stub(String name, ByteBuffer stubs) {
        ByteBuffer none = ByteBuffer.allocate(0);
        return new CompiledCode(
                0,
                new JavaMethod(name, "", new int[0], new int[0]),
                0,
                none,
                new Scopes(none, new NumberCode(0), Map.of()),
                stubs);
    }

    /** Gives a method by its index in the code's table, from 1; null when there is none. */
    interface MethodTable {
        @Nullable JavaMethod method(int index);
    }

    /**
     * A compiled method. All methods that are inlined in it are asked for now.
     *
     * @param codeOffset of the code from the beginning of the blob
     */
    static CompiledCode of(
            int compileId,
            JavaMethod method,
            int codeOffset,
            ByteBuffer places,
            ByteBuffer scopes,
            NumberCode code,
            MethodTable table) {
        Map<Integer, JavaMethod> methods = new HashMap<>();
        CompiledCode made =
                new CompiledCode(
                        compileId,
                        method,
                        codeOffset,
                        places,
                        new Scopes(scopes, code, methods),
                        ByteBuffer.allocate(0));
        for (int i = 0; i < made.count(); i++) {
            made.eachScope(
                    i,
                    (index, _) -> {
                        if (!methods.containsKey(index)) {
                            JavaMethod one = table.method(index);
                            if (one != null) {
                                methods.put(index, one);
                            }
                        }
                    });
        }
        return made;
    }

    /** Whether it is that compilation of the JVM, which numbers them. */
    boolean is(int compilation) {
        return compileId == compilation;
    }

    /** The first line of the compiled method; 0 when it is not known. */
    public int firstLine() {
        return firstLine;
    }

    private int count() {
        return places.limit() / PC_DESC_BYTES;
    }

    /** The methods at an offset from the beginning of the blob, innermost first. */
    public List<Frame> frames(int offset) {
        if (isBarrier(offset)) {
            return List.of(new Frame(IN_HEAP, JavaMethod.MODULE, Frame.Kind.JIT));
        }
        int pc = offset - codeOffset;
        int low = 0;
        int high = count() - 1;
        // The first place at the address or behind it, as the JVM itself has it.
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (places.getInt(middle * PC_DESC_BYTES) < pc) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        List<Frame> frames = new ArrayList<>();
        if (low <= high) {
            List<Integer> bcis = new ArrayList<>();
            List<JavaMethod> found = new ArrayList<>();
            eachScope(
                    low,
                    (index, bci) -> {
                        JavaMethod method = scopes.methods().get(index);
                        if (method != null) {
                            found.add(method);
                            bcis.add(bci);
                        }
                    });
            for (int i = 0; i < found.size(); i++) {
                frames.add(found.get(i).frame(bcis.get(i), i < found.size() - 1));
            }
        }
        return frames.isEmpty() ? List.of(whole) : frames;
    }

    /**
     * Whether a frame returns to the beginning of a stub, cont_returnBarrier: behind the end of
     * another one, and not behind a call.
     */
    private boolean isBarrier(int offset) {
        if (offset < CALL_BYTES || offset > stubs.limit()) {
            return false;
        }
        int last = stubs.get(offset - 1) & 0xff;
        boolean isByRegister = (stubs.get(offset - 2) & 0xff) == 0xff;
        boolean isCall = (stubs.get(offset - CALL_BYTES) & 0xff) == 0xe8;
        return !isCall && (last == 0xc3 || isByRegister && (last & 0xf8) == 0xe0); // ret, jmp
    }

    private interface ScopeVisitor {
        void scope(int methodIndex, int bci);
    }

    private void eachScope(int place, ScopeVisitor visitor) {
        ByteBuffer data = scopes.data().duplicate();
        int at = places.getInt(place * PC_DESC_BYTES + 4);
        for (int depth = 0; depth < MOST_INLINED && at > 0 && at < data.limit(); depth++) {
            data.position(at);
            int caller = scopes.code().read(data);
            int method = scopes.code().read(data);
            // InvocationEntryBci is -1
            int bci = scopes.code().read(data) - 1;
            visitor.scope(method, bci);
            at = caller;
        }
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof CompiledCode code
                && code.compileId == compileId
                && code.whole.equals(whole)
                && code.codeOffset == codeOffset;
    }

    @Override
    public int hashCode() {
        return 31 * compileId + whole.hashCode();
    }
}
