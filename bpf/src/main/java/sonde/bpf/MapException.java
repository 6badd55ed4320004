package sonde.bpf;

import sonde.bpf.call.BpfAttr;
import sonde.sys.Errno;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/** What the kernel did not do with a map: which map, its sizes, and the reason behind the errno. */
public final class MapException extends SyscallException {
    private static final long serialVersionUID = 1L;

    /** Kinds of reasons. */
    public enum MapFailure {
        /** Key, value or the whole is larger than the kernel takes (E2BIG, ENOSPC at creation). */
        TOO_LARGE,
        /** Memory is used up (ENOMEM). */
        NO_MEMORY,
        /** Sizes or flags that the type does not take, or a type the kernel does not know. */
        BAD_SPEC,
        /** All entries are taken (E2BIG of an element). */
        FULL,
        /** There is such a key already. */
        EXISTS,
        /** There is no such key. */
        MISSING,
        /** Frozen or made read-only. */
        READ_ONLY,
        /** The type has no such operation. */
        NO_SUCH_OPERATION,
        OTHER
    }

    private final MapFailure reason;

    private MapException(String object, int errno, MapFailure reason, String why) {
        super("bpf", object, errno, why);
        this.reason = reason;
    }

    /** Why. */
    public MapFailure reason() {
        return reason;
    }

    static MapException creation(MapSpec spec, int errno) {
        return switch (errno) {
            case Errno.E2BIG, Errno.ENOSPC ->
                    new MapException(spec.toString(), errno, MapFailure.TOO_LARGE, "too large");
            case Errno.ENOMEM ->
                    new MapException(
                            spec.toString(),
                            errno,
                            MapFailure.NO_MEMORY,
                            "the kernel has no memory for about "
                                    + (estimateBytes(spec) >> 20)
                                    + " MiB");
            case Errno.EINVAL ->
                    new MapException(spec.toString(), errno, MapFailure.BAD_SPEC, badSpec(spec));
            default -> new MapException(spec.toString(), errno, MapFailure.OTHER, "");
        };
    }

    private static long estimateBytes(MapSpec spec) {
        if (spec.type() == MapType.RING_BUFFER || spec.type() == MapType.USER_RING_BUFFER) {
            return spec.maxEntries();
        }
        long entry = (spec.keyBytes() + 7L & ~7L) + (spec.valueBytes() + 7L & ~7L);
        return entry * Integer.toUnsignedLong(spec.maxEntries());
    }

    /** Rules of the alloc_check functions in kernel/bpf/{arraymap,hashtab,ringbuf,...}.c. */
    private static String badSpec(MapSpec spec) {
        MapType type = spec.type();
        if (type.isArray() && spec.keyBytes() != 4) {
            return "keys of an array have 4 bytes";
        }
        if (type == MapType.RING_BUFFER || type == MapType.USER_RING_BUFFER) {
            int size = spec.maxEntries();
            if (spec.keyBytes() != 0 || spec.valueBytes() != 0) {
                return "a ring buffer has neither key nor value";
            }
            if (Integer.bitCount(size) != 1 || size % MachineFacts.pageBytes() != 0) {
                return "the size of a ring buffer is a power of two and of whole pages";
            }
        }
        if (type == MapType.LPM_TRIE && spec.keyBytes() < 5) {
            return "keys of a trie are a u32 and at least one byte";
        }
        if (spec.maxEntries() == 0 && !type.isLocalStorage()) {
            return "it has room for no entry";
        }
        if (type.isLocalStorage() && spec.maxEntries() != 0) {
            return "local storage has no size; maxEntries must be 0";
        }
        if ((type == MapType.ARRAY_OF_MAPS || type == MapType.HASH_OF_MAPS)
                && spec.inner() == null) {
            return "a map of maps needs a pattern";
        }
        return "sizes or flags it does not take, or Linux "
                + MachineFacts.uname().release()
                + " has no such type";
    }

    static MapException element(String map, String action, int errno) {
        String what = action + " " + map;
        return switch (errno) {
            case Errno.E2BIG ->
                    new MapException(
                            what, errno, MapFailure.FULL, "full, or beyond its last index");
            case Errno.EEXIST -> new MapException(what, errno, MapFailure.EXISTS, "");
            case Errno.ENOENT -> new MapException(what, errno, MapFailure.MISSING, "");
            case Errno.EPERM -> new MapException(what, errno, MapFailure.READ_ONLY, "frozen");
            case Errno.ENOMEM -> new MapException(what, errno, MapFailure.NO_MEMORY, "");
            case Errno.EOPNOTSUPP, BpfAttr.ENOTSUPP ->
                    new MapException(what, errno, MapFailure.NO_SUCH_OPERATION, "not of this type");
            default -> {
                boolean keyless = errno == Errno.EINVAL && action.startsWith("next key");
                yield keyless
                        ? new MapException(
                                what, errno, MapFailure.NO_SUCH_OPERATION, "it has no keys")
                        : new MapException(what, errno, MapFailure.OTHER, "");
            }
        };
    }
}
