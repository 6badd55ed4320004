package sonde.lang.probes;

import java.nio.charset.StandardCharsets;

/**
 * A pattern in which {@code *} stands for any characters, also none, and all else for itself.
 *
 * @param pattern in UTF-8
 */
public record Glob(byte[] pattern) {
    private static final Glob ALL = of("*");

    public static Glob of(String pattern) {
        return new Glob(pattern.getBytes(StandardCharsets.UTF_8));
    }

    static Glob all() {
        return ALL;
    }

    /** Whether a text means more than itself. */
    public static boolean isPattern(String text) {
        return text.indexOf('*') >= 0 || text.indexOf('[') >= 0 && text.indexOf(']') >= 0;
    }

    public boolean matches(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return matches(bytes, 0, bytes.length);
    }

    /** Linear in practice: only the last star is ever tried again. */
    public boolean matches(byte[] text, int from, int to) {
        int p = 0;
        int t = from;
        int star = -1;
        int resume = 0;
        while (t < to) {
            if (p < pattern.length && pattern[p] == '*') {
                star = p++;
                resume = t;
            } else if (p < pattern.length && pattern[p] == text[t]) {
                p++;
                t++;
            } else if (star >= 0) {
                p = star + 1;
                t = ++resume;
            } else {
                return false;
            }
        }
        while (p < pattern.length && pattern[p] == '*') {
            p++;
        }
        return p == pattern.length;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Glob that && java.util.Arrays.equals(pattern, that.pattern);
    }

    @Override
    public int hashCode() {
        return java.util.Arrays.hashCode(pattern);
    }

    @Override
    public String toString() {
        return new String(pattern, StandardCharsets.UTF_8);
    }
}
