package sonde.binary.archive;

/**
 * What unwrapping may cost: a small file can stand for terabytes.
 *
 * @param mostBytes of everything that comes out
 * @param mostRatio bytes out for one byte in, once more than {@code freeBytes} have come out
 * @param freeBytes the ratio is not looked at below this
 * @param mostFiles of an archive
 * @param mostDepth wrappers in wrappers
 */
public record UnwrapLimits(
        long mostBytes, long mostRatio, long freeBytes, int mostFiles, int mostDepth) {
    /** 256 GiB, 1000 : 1 beyond 1 GiB, 100,000 files, three deep. */
    public static final UnwrapLimits DEFAULT =
            new UnwrapLimits(256L << 30, 1000, 1L << 30, 100_000, 3);

    /** Whether that many bytes may come out of so many. */
    boolean allows(long out, long in) {
        return out <= mostBytes && (out <= freeBytes || out / mostRatio <= in);
    }
}
