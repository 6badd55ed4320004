package sonde.recording.ctf.tsdl;

import java.util.ArrayList;
import java.util.List;
import sonde.binary.MalformedInputException;

/** Cuts TSDL into tokens (CTF 1.8.3, annex C, lexical grammar of C). */
final class TsdlLexer {
    /** What a token is. */
    enum Kind {
        WORD,
        NUMBER,
        TEXT,
        SIGN,
        END,
    }

    /**
     * A token.
     *
     * @param text its characters; of a text its content
     * @param number of a number, 64 bits
     * @param at where it begins
     */
    record TsdlToken(Kind kind, String text, long number, int at) {
        boolean is(String sign) {
            return kind == Kind.SIGN && text.equals(sign);
        }

        boolean isWord(String word) {
            return kind == Kind.WORD && text.equals(word);
        }
    }

    private static final int MOST_TOKENS = 1 << 23;

    private final String source;
    private int at;

    private TsdlLexer(String source) {
        this.source = source;
    }

    static List<TsdlToken> tokens(String source) throws MalformedInputException {
        TsdlLexer lexer = new TsdlLexer(source);
        List<TsdlToken> tokens = new ArrayList<>();
        while (true) {
            lexer.skipBlanks();
            TsdlToken token = lexer.next();
            tokens.add(token);
            if (token.kind == Kind.END) {
                return tokens;
            }
            if (tokens.size() > MOST_TOKENS) {
                throw lexer.malformed("more than " + MOST_TOKENS + " tokens");
            }
        }
    }

    private MalformedInputException malformed(String found) {
        return new MalformedInputException("ctf", "metadata", at, found);
    }

    private void skipBlanks() throws MalformedInputException {
        while (at < source.length()) {
            char c = source.charAt(at);
            if (c <= ' ') {
                at++;
            } else if (source.startsWith("/*", at)) {
                int end = source.indexOf("*/", at + 2);
                if (end < 0) {
                    throw malformed("a comment without end");
                }
                at = end + 2;
            } else if (source.startsWith("//", at)) {
                int end = source.indexOf('\n', at);
                at = end < 0 ? source.length() : end;
            } else {
                return;
            }
        }
    }

    private TsdlToken next() throws MalformedInputException {
        int start = at;
        if (at >= source.length()) {
            return new TsdlToken(Kind.END, "end of the metadata", 0, start);
        }
        char c = source.charAt(at);
        if (c == '"' || c == '\'') {
            return text(c);
        }
        if (c == 'L' && at + 1 < source.length() && source.charAt(at + 1) == '"') {
            at++;
            return text('"');
        }
        if (isWordStart(c)) {
            while (at < source.length() && isWordPart(source.charAt(at))) {
                at++;
            }
            return new TsdlToken(Kind.WORD, source.substring(start, at), 0, start);
        }
        if (isDigit(c)) {
            return number();
        }
        for (String sign : new String[] {"...", ":=", "->"}) {
            if (source.startsWith(sign, at)) {
                at += sign.length();
                return new TsdlToken(Kind.SIGN, sign, 0, start);
            }
        }
        if ("[](){}<>*+-:;.=,".indexOf(c) < 0) {
            throw malformed("the character " + (c < 0x7f ? "'" + c + "'" : "U+" + hex(c)));
        }
        at++;
        return new TsdlToken(Kind.SIGN, String.valueOf(c), 0, start);
    }

    private static String hex(int c) {
        return Integer.toHexString(c);
    }

    private static boolean isWordStart(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_';
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }

    private static boolean isWordPart(char c) {
        return isWordStart(c) || isDigit(c);
    }

    private TsdlToken number() throws MalformedInputException {
        int start = at;
        while (at < source.length() && isWordPart(source.charAt(at))) {
            at++;
        }
        String all = source.substring(start, at);
        int end = all.length();
        while (end > 1 && "uUlL".indexOf(all.charAt(end - 1)) >= 0) {
            end--;
        }
        String digits = all.substring(0, end);
        int radix = 10;
        if (digits.startsWith("0x") || digits.startsWith("0X")) {
            radix = 16;
            digits = digits.substring(2);
        } else if (digits.length() > 1 && digits.startsWith("0")) {
            radix = 8;
        }
        try {
            long value = Long.parseUnsignedLong(digits, radix);
            return new TsdlToken(Kind.NUMBER, all, value, start);
        } catch (NumberFormatException e) {
            throw malformed("the number " + all);
        }
    }

    private TsdlToken text(char quote) throws MalformedInputException {
        int start = at++;
        StringBuilder text = new StringBuilder();
        while (at < source.length() && source.charAt(at) != quote) {
            char c = source.charAt(at++);
            if (c == '\\' && at < source.length()) {
                escape(text);
            } else {
                text.append(c);
            }
        }
        if (at >= source.length()) {
            at = start;
            throw malformed("a text without end");
        }
        at++;
        return new TsdlToken(Kind.TEXT, text.toString(), 0, start);
    }

    private void escape(StringBuilder text) throws MalformedInputException {
        char c = source.charAt(at++);
        int plain = "ntrabfve".indexOf(c);
        if (plain >= 0) {
            text.append("\n\t\r\u0007\b\f\u000b\u001b".charAt(plain));
        } else if (c == 'x') {
            text.append((char) digits(16, 2));
        } else if (c >= '0' && c <= '7') {
            at--;
            text.append((char) digits(8, 3));
        } else {
            text.append(c);
        }
    }

    private int digits(int radix, int most) throws MalformedInputException {
        int value = 0;
        int count = 0;
        while (count < most && at < source.length()) {
            int digit = Character.digit(source.charAt(at), radix);
            if (digit < 0) {
                break;
            }
            value = value * radix + digit;
            at++;
            count++;
        }
        if (count == 0) {
            throw malformed("an escape without digits");
        }
        return value;
    }
}
