package sonde.sys;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * libc's {@code syscall(2)}: the one way into the kernel.
 *
 * <p>Arguments that are pointers are passed as {@link MemorySegment#address()}; the caller keeps
 * the segment reachable and its arena open until the call returns. errno is captured into a segment
 * of the calling thread, so the value belongs to this call.
 */
public final class NativeSyscall {
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final FunctionDescriptor SEVEN_LONGS =
            FunctionDescriptor.of(
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG,
                    ValueLayout.JAVA_LONG);
    private static final Linker.Option[] OPTIONS = {
        Linker.Option.captureCallState("errno"), Linker.Option.firstVariadicArg(1)
    };
    // The one stub: each shape that is linked takes the JVM some 20 ms.
    private static final MethodHandle CALL =
            Linker.nativeLinker().downcallHandle(SEVEN_LONGS, OPTIONS);
    private static final MemorySegment SYSCALL = function("syscall");
    private static final ThreadLocal<MemorySegment> STATES =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(STATE));

    private NativeSyscall() {}

    /** Calls the kernel; a failure comes back as {@code -errno}, as the kernel itself gives it. */
    public static long syscall(int number, long a0, long a1, long a2, long a3, long a4, long a5) {
        MemorySegment state = STATES.get();
        try {
            long result =
                    (long) CALL.invokeExact(SYSCALL, state, (long) number, a0, a1, a2, a3, a4, a5);
            return result == -1 ? -(int) ERRNO.get(state, 0L) : result;
        } catch (Throwable e) {
            throw new AssertionError("syscall " + number, e);
        }
    }

    /** {@link #syscall(int, long, long, long, long, long, long)} with fewer arguments. */
    public static long syscall(int number, long a0, long a1, long a2) {
        return syscall(number, a0, a1, a2, 0, 0, 0);
    }

    /** The address of a function of libc. */
    static MemorySegment function(String name) {
        return Linker.nativeLinker().defaultLookup().findOrThrow(name);
    }

    /**
     * Calls a C function that takes up to six integers or pointers and returns one. It shares the
     * shape of {@code syscall}, so the linker makes no second stub: in the C calling conventions of
     * x86-64 and arm64 arguments beyond those declared are ignored. Of a result narrower than a
     * long the upper bits mean nothing.
     */
    static long call(MemorySegment function, long a0, long a1, long a2, long a3, long a4, long a5) {
        MemorySegment state = STATES.get();
        try {
            return (long) CALL.invokeExact(function, state, a0, a1, a2, a3, a4, a5, 0L);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
