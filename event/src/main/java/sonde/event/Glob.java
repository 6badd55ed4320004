package sonde.event;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;

/**
 * A pattern of names, in which {@code *} stands for any characters, also none. A match takes linear
 * time in practice: only the last star is ever tried again.
 */
public final class Glob {
    private enum Grammar {
        STARS,
        SHELL,
        KERNEL,
    }

    private static final int STAR = 1 << 8;
    private static final int ONE = STAR + 1;
    private static final int FIRST_SET = STAR + 2;

    private static final Glob ALL = of("*");

    private final String pattern;
    private final List<IntPredicate> sets = new ArrayList<>();

    /** Bytes of UTF-8, as they are in a {@code byte[]}, and the numbers above. */
    private final int[] tokens;

    private Glob(String pattern, Grammar grammar) {
        this.pattern = pattern;
        tokens = tokens(grammar);
    }

    /** A pattern of bpftrace: {@code *} alone is special. */
    public static Glob of(String pattern) {
        return new Glob(pattern, Grammar.STARS);
    }

    /** A pattern in which {@code ?} stands for one character. */
    public static Glob shell(String pattern) {
        return new Glob(pattern, Grammar.SHELL);
    }

    /**
     * A pattern of lib/glob.c of the kernel: also {@code [a-z]}, {@code [!a-z]}, and {@code \}
     * before a character that stands for itself.
     */
    public static Glob kernel(String pattern) {
        return new Glob(pattern, Grammar.KERNEL);
    }

    /** Matches every text. */
    public static Glob all() {
        return ALL;
    }

    private int[] tokens(Grammar grammar) {
        int[] made = new int[3 * pattern.length()]; // a char has three bytes at most
        int size = 0;
        int i = 0;
        while (i < pattern.length()) {
            int c = pattern.codePointAt(i);
            int close = c == '[' && grammar == Grammar.KERNEL ? closing(i) : -1;
            if (c == '*') {
                made[size++] = STAR;
            } else if (c == '?' && grammar != Grammar.STARS) {
                made[size++] = ONE;
            } else if (close > 0) {
                made[size++] = FIRST_SET + sets.size();
                sets.add(set(pattern.substring(i + 1, close)));
                i = close;
            } else {
                boolean escaped = c == '\\' && grammar == Grammar.KERNEL;
                if (escaped && i + 1 < pattern.length()) {
                    c = pattern.codePointAt(++i);
                }
                for (byte one : Character.toString(c).getBytes(StandardCharsets.UTF_8)) {
                    made[size++] = one;
                }
            }
            i += close > 0 ? 1 : Character.charCount(c);
        }
        return Arrays.copyOf(made, size);
    }

    /**
     * The bracket that ends the set at an index, -1 for none; one that closes at once is a member.
     */
    private int closing(int open) {
        boolean not = pattern.startsWith("!", open + 1) || pattern.startsWith("^", open + 1);
        return pattern.indexOf(']', open + (not ? 3 : 2));
    }

    private static IntPredicate set(String text) {
        boolean not = text.startsWith("!") || text.startsWith("^");
        int[] members = (not ? text.substring(1) : text).codePoints().toArray();
        return c -> contains(members, c) != not;
    }

    private static boolean contains(int[] members, int c) {
        for (int i = 0; i < members.length; i++) {
            // A range that goes backwards is three members.
            boolean range =
                    i + 2 < members.length && members[i + 1] == '-' && members[i] <= members[i + 2];
            if (range ? members[i] <= c && c <= members[i + 2] : members[i] == c) {
                return true;
            }
            i += range ? 2 : 0;
        }
        return false;
    }

    /** Whether it means a whole text. */
    public boolean matches(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return matches(bytes, 0, bytes.length);
    }

    /** Whether it means the bytes {@code from} (inclusive) to {@code to} (exclusive), UTF-8. */
    public boolean matches(byte[] text, int from, int to) {
        int p = 0;
        int t = from;
        int star = -1;
        int resume = 0;
        while (t < to) {
            int token = p < tokens.length ? tokens[p] : Integer.MAX_VALUE;
            if (token == STAR) {
                star = p++;
                resume = t;
            } else if (token == text[t]) {
                p++;
                t++;
            } else if (token >= ONE && isOne(token, text, t, to)) {
                p++;
                t = next(text, t, to);
            } else if (star >= 0) {
                p = star + 1;
                resume = next(text, resume, to);
                t = resume;
            } else {
                return false;
            }
        }
        while (p < tokens.length && tokens[p] == STAR) {
            p++;
        }
        return p == tokens.length;
    }

    private boolean isOne(int token, byte[] text, int at, int to) {
        if (token == ONE || token == Integer.MAX_VALUE) {
            return token == ONE;
        }
        String one = new String(text, at, next(text, at, to) - at, StandardCharsets.UTF_8);
        return sets.get(token - FIRST_SET).test(one.codePointAt(0));
    }

    /** Behind the character at an index. */
    private static int next(byte[] text, int at, int to) {
        int next = at + 1;
        while (next < to && (text[next] & 0xc0) == 0x80) {
            next++;
        }
        return next;
    }

    @Override
    public String toString() {
        return pattern;
    }
}
