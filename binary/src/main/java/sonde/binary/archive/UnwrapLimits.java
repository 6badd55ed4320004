package sonde.binary.archive;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What unwrapping may cost: a small file can stand for terabytes.
 *
 * @param mostBytes of everything that comes out
 * @param mostRatio bytes out for one byte in, once more than {@code freeBytes} have come out
 * @param freeBytes the ratio is not looked at below this
 * @param mostFiles of an archive
 * @param mostDepth wrappers in wrappers
 * @param remedy what a user can do about the limits of bytes; empty for nothing
 */
public record UnwrapLimits(
        long mostBytes,
        long mostRatio,
        long freeBytes,
        int mostFiles,
        int mostDepth,
        String remedy) {
    /** The variable that sets {@code mostBytes} and lifts the ratio. */
    public static final String VARIABLE = "SONDE_UNPACK_MAX";

    /** 64 GiB, 200 : 1 beyond 128 MiB, 100,000 files, three deep. */
    public static final UnwrapLimits DEFAULT =
            new UnwrapLimits(
                    64L << 30,
                    200,
                    128L << 20,
                    100_000,
                    3,
                    VARIABLE + "=SIZE (such as 20G) unpacks so much");

    private static final Pattern SIZE = Pattern.compile("(\\d{1,9})([KMGT]?)");

    /** Without a remedy. */
    public UnwrapLimits(
            long mostBytes, long mostRatio, long freeBytes, int mostFiles, int mostDepth) {
        this(mostBytes, mostRatio, freeBytes, mostFiles, mostDepth, "");
    }

    /**
     * The usual limits, or those that a user set.
     *
     * @param most the variable's value
     */
    public static UnwrapLimits of(@Nullable String most) throws IOException {
        if (most == null || most.isEmpty()) {
            return DEFAULT;
        }
        Matcher size = SIZE.matcher(most);
        if (!size.matches()) {
            throw new IOException(VARIABLE + "=" + most + ": a size is a number and K, M, G or T");
        }
        int shift = size.group(2).isEmpty() ? 0 : 10 * (1 + "KMGT".indexOf(size.group(2)));
        long bytes = Long.parseLong(size.group(1)) << shift;
        return new UnwrapLimits(
                bytes, Long.MAX_VALUE, bytes, DEFAULT.mostFiles, DEFAULT.mostDepth, DEFAULT.remedy);
    }

    /** Whether that many bytes may come out of so many. */
    boolean allows(long out, long in) {
        return out <= mostBytes && (out <= freeBytes || out / mostRatio <= in);
    }
}
