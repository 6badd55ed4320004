package sonde.sys;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;
import java.util.Collections;

/**
 * A shared library other than libc, mapped until the process ends.
 *
 * <p>All its functions are called through one stub that passes longs: in the C calling conventions
 * of x86-64 and arm64 arguments beyond those declared are ignored, narrower ones are taken from the
 * low bits of their register, and of a result narrower than a long the upper bits mean nothing.
 * Floating-point arguments cannot be passed.
 */
public final class NativeLibrary {
    private final SymbolLookup symbols;

    private NativeLibrary(SymbolLookup symbols) {
        this.symbols = symbols;
    }

    /**
     * Maps a library.
     *
     * @throws IOException when it is not there or cannot be loaded here
     */
    public static NativeLibrary open(Path file) throws IOException {
        try {
            return new NativeLibrary(SymbolLookup.libraryLookup(file, Arena.global()));
        } catch (IllegalArgumentException e) {
            throw new IOException(file + " cannot be loaded", e);
        }
    }

    /**
     * Maps a library that the system's loader finds, as {@code libzstd.so.1}.
     *
     * @throws IOException when this system has none of that name
     */
    public static NativeLibrary open(String soname) throws IOException {
        try {
            return new NativeLibrary(SymbolLookup.libraryLookup(soname, Arena.global()));
        } catch (IllegalArgumentException e) {
            throw new IOException("no " + soname + " on this system", e);
        }
    }

    /** The address of a function; the library must have it. */
    public MemorySegment function(String name) {
        return symbols.findOrThrow(name);
    }

    /** Calls a function of up to six integers or pointers. It may block and call back. */
    public static long call(
            MemorySegment function, long a0, long a1, long a2, long a3, long a4, long a5) {
        return NativeSyscall.call(function, a0, a1, a2, a3, a4, a5);
    }

    /** Calls a function that takes one structure of six words by value. */
    public static long callByValue(MemorySegment function, MemorySegment sixWords) {
        try {
            return (long) ByValue.CALL.invokeExact(function, sixWords);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static final class ByValue {
        static final MethodHandle CALL =
                Linker.nativeLinker()
                        .downcallHandle(
                                FunctionDescriptor.of(
                                        JAVA_LONG,
                                        MemoryLayout.structLayout(
                                                Collections.nCopies(6, JAVA_LONG)
                                                        .toArray(MemoryLayout[]::new))));
    }

    /**
     * A C function pointer for a static method that takes longs and returns nothing. The method
     * must not throw: the process would end.
     *
     * @param lookup of the class that has the method
     */
    public static MemorySegment callback(MethodHandles.Lookup lookup, String name, int arguments) {
        MemoryLayout[] layouts =
                Collections.nCopies(arguments, JAVA_LONG).toArray(MemoryLayout[]::new);
        MethodType type =
                MethodType.methodType(void.class, Collections.nCopies(arguments, long.class));
        try {
            MethodHandle target = lookup.findStatic(lookup.lookupClass(), name, type);
            return Linker.nativeLinker()
                    .upcallStub(target, FunctionDescriptor.ofVoid(layouts), Arena.global());
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(name, e);
        }
    }

    /** Memory that the library owns; valid as long as the library says. */
    public static MemorySegment memory(long address, long sizeBytes) {
        return MemorySegment.ofAddress(address).reinterpret(sizeBytes);
    }

    /** A copy of a NUL-terminated string of the library, cut after {@code maxBytes}. */
    public static String text(long address, int maxBytes) {
        MemorySegment all = memory(address, maxBytes);
        int length = 0;
        while (length < maxBytes && all.get(ValueLayout.JAVA_BYTE, length) != 0) {
            length++;
        }
        byte[] bytes = all.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
        return new String(bytes, java.nio.charset.StandardCharsets.UTF_8);
    }
}
