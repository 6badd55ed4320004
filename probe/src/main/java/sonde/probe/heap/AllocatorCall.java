package sonde.probe.heap;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a function of an allocator does with its arguments; the ordinal is the probe's cookie. */
public enum AllocatorCall {
    /** (bytes) */
    FIRST,
    /** (count, bytes) */
    PRODUCT,
    /** (alignment, bytes) */
    SECOND,
    /** (block, bytes) */
    RESIZE,
    /** (block, count, bytes) */
    RESIZE_PRODUCT,
    /** (place of the address, alignment, bytes); the result is an errno */
    PLACED,
    /** (block) */
    FREE,
    /** As FREE, and may call it for the same block. */
    DELETE,
    /** (block, bytes, blocks): a sampled block stands for some. */
    SAMPLED;

    private static final Map<String, AllocatorCall> C =
            Map.ofEntries(
                    Map.entry("malloc", FIRST),
                    Map.entry("zalloc", FIRST),
                    Map.entry("valloc", FIRST),
                    Map.entry("pvalloc", FIRST),
                    Map.entry("mallocx", FIRST),
                    Map.entry("calloc", PRODUCT),
                    Map.entry("mallocn", PRODUCT),
                    Map.entry("memalign", SECOND),
                    Map.entry("aligned_alloc", SECOND),
                    Map.entry("realloc", RESIZE),
                    Map.entry("rallocx", RESIZE),
                    Map.entry("reallocarray", RESIZE_PRODUCT),
                    Map.entry("posix_memalign", PLACED),
                    Map.entry("free", FREE),
                    Map.entry("cfree", DELETE),
                    Map.entry("dallocx", DELETE),
                    Map.entry("sdallocx", DELETE),
                    Map.entry("free_sized", DELETE),
                    Map.entry("free_aligned_sized", DELETE));

    /** Whether it gives a block back and makes none. */
    boolean frees() {
        return this == FREE || this == DELETE;
    }

    /** By the name of a symbol: of C, with an allocator's own prefix, or an operator of C++. */
    static @Nullable AllocatorCall of(String name) {
        if (name.startsWith("_Znwm") || name.startsWith("_Znam")) {
            return FIRST;
        }
        if (name.startsWith("_ZdlPv") || name.startsWith("_ZdaPv")) {
            return DELETE;
        }
        return C.get(name.replaceFirst("^(mi|je|tc|rte|scalable)_|^__libc_", ""));
    }
}
