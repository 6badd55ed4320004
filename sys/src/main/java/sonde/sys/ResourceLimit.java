package sonde.sys;

/**
 * A resource limit (struct rlimit64).
 *
 * @param soft what holds now; {@link #INFINITY} for none
 * @param hard how far it may be raised
 */
public record ResourceLimit(long soft, long hard) {
    /** RLIM_INFINITY: all bits set. */
    public static final long INFINITY = -1L;

    /** Resources (include/uapi/asm-generic/resource.h; equal on x86-64 and arm64). */
    public static final int RLIMIT_CORE = 4;

    public static final int RLIMIT_NOFILE = 7;
    public static final int RLIMIT_MEMLOCK = 8;

    /** How many resources there are, 0 to 15. */
    public static final int COUNT = 16;
}
