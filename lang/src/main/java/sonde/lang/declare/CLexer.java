package sonde.lang.declare;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.declare.CToken.Kind;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/**
 * Cuts C into words (C17, 6.4). What no word begins with is a sign of one character, so every text
 * can be cut.
 */
final class CLexer {
    private static final List<String> SIGNS =
            List.of(
                    "<<=", ">>=", "...", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "->", "++",
                    "--", "##", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=");

    private final String text;
    private final int end;
    private final @Nullable SourceText source;
    private final @Nullable SourceSpan origin;
    private final List<CToken> tokens = new ArrayList<>();
    private int at;
    private boolean first = true;
    private boolean spaced;

    private CLexer(
            String text,
            int from,
            int to,
            @Nullable SourceText source,
            @Nullable SourceSpan origin) {
        this.text = text;
        this.at = from;
        this.end = to;
        this.source = source;
        this.origin = origin;
    }

    /** The words of a part of a script. */
    static List<CToken> script(SourceSpan part) {
        SourceText source = part.source();
        return new CLexer(source.text(), part.from(), part.to(), source, null).all();
    }

    /** The words of a header of the script's own, each with its place there. */
    static List<CToken> ownHeader(SourceText source) {
        String text = source.text();
        SourceSpan none = new SourceSpan(source, 0, 0);
        return new CLexer(text, 0, text.length(), source, none).all();
    }

    /**
     * The words of a header of the system.
     *
     * @param origin what in the script brought it along
     */
    static List<CToken> header(String text, SourceSpan origin) {
        return new CLexer(text, 0, text.length(), null, origin).all();
    }

    private List<CToken> all() {
        while (at < end) {
            char c = text.charAt(at);
            if (c == '\n') {
                first = true;
                spaced = true;
                at++;
            } else if (c == '\\' && isLineEnd(at + 1)) {
                at = text.indexOf('\n', at) + 1;
                spaced = true;
            } else if (Character.isWhitespace(c)) {
                spaced = true;
                at++;
            } else if (text.startsWith("//", at)) {
                int stop = text.indexOf('\n', at);
                at = stop < 0 ? end : stop;
            } else if (text.startsWith("/*", at)) {
                int stop = text.indexOf("*/", at + 2);
                at = stop < 0 ? end : stop + 2;
                spaced = true;
            } else {
                word(c);
            }
        }
        return tokens;
    }

    private boolean isLineEnd(int from) {
        return from < end
                && (text.charAt(from) == '\n'
                        || text.charAt(from) == '\r'
                                && from + 1 < end
                                && text.charAt(from + 1) == '\n');
    }

    private void word(char c) {
        int from = at;
        if (isLetter(c)) {
            while (at < end && (isLetter(text.charAt(at)) || isDigit(text.charAt(at)))) {
                at++;
            }
            boolean prefix = at - from == 1 && "LuU".indexOf(c) >= 0 && at < end;
            if (!prefix || text.charAt(at) != '"' && text.charAt(at) != '\'') {
                add(Kind.WORD, from);
                return;
            }
            c = text.charAt(at);
        } else if (isDigit(c) || c == '.' && at + 1 < end && isDigit(text.charAt(at + 1))) {
            number();
            add(Kind.NUMBER, from);
            return;
        }
        if (c == '"' || c == '\'') {
            quoted(c);
            add(c == '"' ? Kind.STRING : Kind.CHARACTER, from);
            return;
        }
        at++;
        for (String sign : SIGNS) {
            if (text.startsWith(sign, from) && from + sign.length() <= end) {
                at = from + sign.length();
                break;
            }
        }
        add(Kind.SIGN, from);
    }

    private void number() {
        while (at < end) {
            char c = text.charAt(at);
            boolean exponent =
                    (c == '+' || c == '-')
                            && "eEpP".indexOf(text.charAt(at - 1)) >= 0
                            && !isHex(at);
            if (!isLetter(c) && !isDigit(c) && c != '.' && !exponent) {
                break;
            }
            at++;
        }
    }

    /** In {@code 0xe+1} the sign is none of an exponent. */
    private boolean isHex(int to) {
        int from = to;
        while (from > 0 && (isLetter(text.charAt(from - 1)) || isDigit(text.charAt(from - 1)))) {
            from--;
        }
        return text.startsWith("0x", from) && "pP".indexOf(text.charAt(to - 1)) < 0;
    }

    private void quoted(char quote) {
        at++;
        while (at < end && text.charAt(at) != quote && text.charAt(at) != '\n') {
            at += text.charAt(at) == '\\' ? 2 : 1;
        }
        at = Math.min(at, end);
        if (at < end && text.charAt(at) == quote) {
            at++;
        }
    }

    private void add(Kind kind, int from) {
        SourceText script = source;
        SourceSpan place = origin;
        if (script != null) {
            place = new SourceSpan(script, from, at);
        }
        if (place != null) {
            boolean header = origin != null;
            tokens.add(new CToken(kind, text.substring(from, at), first, spaced, place, header));
        }
        first = false;
        spaced = false;
    }

    private static boolean isLetter(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$';
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
