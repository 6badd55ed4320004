package sonde.recording.ftrace;

import java.util.ArrayList;
import java.util.List;

/** Cuts a {@code print fmt} into tokens of C. */
final class PrintLexer {
    /** What a token is. */
    enum Kind {
        NAME,
        NUMBER,
        STRING,
        CHARACTER,
        SIGN,
        END,
    }

    /**
     * One token.
     *
     * @param text as it stands; strings and characters without their quotes
     */
    record PrintToken(Kind kind, String text) {
        boolean is(String sign) {
            return kind != Kind.STRING && kind != Kind.CHARACTER && text.equals(sign);
        }
    }

    private static final List<String> LONG_SIGNS =
            List.of(
                    "<<=", ">>=", "...", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++",
                    "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=");

    private PrintLexer() {}

    static List<PrintToken> tokens(String text) throws UnsupportedPrintException {
        List<PrintToken> tokens = new ArrayList<>();
        int at = 0;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (Character.isWhitespace(c)) {
                at++;
                continue;
            }
            int end;
            if (c == '"' || c == '\'') {
                end = quoteEnd(text, at, c);
                Kind kind = c == '"' ? Kind.STRING : Kind.CHARACTER;
                tokens.add(new PrintToken(kind, text.substring(at + 1, end)));
                at = end + 1;
                continue;
            }
            if (isWord(c)) {
                end = at + 1;
                while (end < text.length() && isWord(text.charAt(end))) {
                    end++;
                }
                Kind kind = Character.isDigit(c) ? Kind.NUMBER : Kind.NAME;
                tokens.add(new PrintToken(kind, text.substring(at, end)));
            } else {
                end = at + signLength(text, at);
                tokens.add(new PrintToken(Kind.SIGN, text.substring(at, end)));
            }
            at = end;
        }
        tokens.add(new PrintToken(Kind.END, ""));
        return tokens;
    }

    private static int quoteEnd(String text, int start, char quote)
            throws UnsupportedPrintException {
        int at = start + 1;
        while (at < text.length() && text.charAt(at) != quote) {
            at += text.charAt(at) == '\\' ? 2 : 1;
        }
        if (at >= text.length()) {
            throw new UnsupportedPrintException("a quote is not closed");
        }
        return at;
    }

    private static int signLength(String text, int at) {
        for (String sign : LONG_SIGNS) {
            if (text.startsWith(sign, at)) {
                return sign.length();
            }
        }
        return 1;
    }

    private static boolean isWord(char c) {
        return c == '_' || Character.isLetterOrDigit(c);
    }
}
