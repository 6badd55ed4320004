package sonde.recording.ftrace;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.binary.MalformedInputException;

/**
 * How a sub-buffer of the ring begins: what tracefs says in {@code events/header_page}.
 *
 * @param order of the recorded kernel
 * @param commitBytes size of {@code commit}, which is the kernel's {@code long}: 4 or 8
 * @param dataOffset bytes from the start of the page to its first event
 * @param old whether events begin as before kernel 2.6.31: two bits of type, three of length
 */
public record PageLayout(ByteOrder order, int commitBytes, int dataOffset, boolean old) {
    /** A 64-bit kernel of this machine's byte order. */
    public static final PageLayout NATIVE = new PageLayout(ByteOrder.nativeOrder(), 8, 16);

    /** A layout of kernel 2.6.31 or later. */
    public PageLayout(ByteOrder order, int commitBytes, int dataOffset) {
        this(order, commitBytes, dataOffset, false);
    }

    /** Kernels before 2.6.31, which have no {@code header_page}. */
    public static PageLayout old(ByteOrder order, int longBytes) {
        return new PageLayout(order, longBytes, 8 + longBytes, true);
    }

    private static final Pattern COMMIT = pattern("commit");
    private static final Pattern DATA = pattern("data");

    /** Reads {@code header_page}. */
    public static PageLayout parse(byte[] headerPage, ByteOrder order)
            throws MalformedInputException {
        String text = new String(headerPage, StandardCharsets.UTF_8);
        int commitBytes = number(COMMIT, text, 2);
        int dataOffset = number(DATA, text, 1);
        if ((commitBytes != 4 && commitBytes != 8) || dataOffset != 8 + commitBytes) {
            throw new MalformedInputException(
                    "header_page",
                    "commit",
                    0,
                    "commit of " + commitBytes + " bytes, data at " + dataOffset);
        }
        return new PageLayout(order, commitBytes, dataOffset);
    }

    private static Pattern pattern(String field) {
        return Pattern.compile(
                "field:[^;]*\\b" + field + ";\\s*offset:(\\d{1,5});\\s*size:(\\d{1,6});");
    }

    private static int number(Pattern pattern, String text, int group)
            throws MalformedInputException {
        Matcher matcher = pattern.matcher(text);
        if (!matcher.find()) {
            throw new MalformedInputException("header_page", pattern.pattern(), 0, "missing");
        }
        return Integer.parseInt(matcher.group(group));
    }
}
