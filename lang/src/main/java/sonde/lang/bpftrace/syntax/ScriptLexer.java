package sonde.lang.bpftrace.syntax;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import sonde.lang.bpftrace.syntax.ScriptToken.Kind;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/**
 * Cuts a script into words. A word depends on nothing but where it begins, so the parser may go
 * back; it asks for an attach point where one stands, which has rules of its own.
 */
final class ScriptLexer {
    /** Longest first. */
    private static final List<String> SIGNS =
            List.of(
                    "<<=", ">>=", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=",
                    "/=", "%=", "&=", "|=", "^=", "++", "--", "->", "..");

    private static final String SINGLE = "{}()[];,.:?=<>+-*/%&|^~!";

    private final SourceText source;
    private final String text;
    private final CompilerDiagnostics diagnostics;
    private final NavigableMap<Integer, SourceSpan> comments = new TreeMap<>();

    ScriptLexer(SourceText source, CompilerDiagnostics diagnostics) {
        this.source = source;
        this.text = source.text();
        this.diagnostics = diagnostics;
    }

    /** Comments passed so far. */
    List<SourceSpan> comments() {
        return new ArrayList<>(comments.values());
    }

    SourceSpan span(int from, int to) {
        return new SourceSpan(source, from, to);
    }

    private char at(int offset) {
        return offset < text.length() ? text.charAt(offset) : '\0';
    }

    /** Where the next word begins: behind white space and comments. */
    int skipLayout(int from) {
        int at = from;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c == '/' && at(at + 1) == '/') {
                int end = text.indexOf('\n', at);
                at = comment(at, end < 0 ? text.length() : end);
            } else if (c == '/' && at(at + 1) == '*') {
                int end = text.indexOf("*/", at + 2);
                if (end < 0) {
                    diagnostics.error(span(at, at + 2), "this comment has no end", "close it: */");
                }
                at = comment(at, end < 0 ? text.length() : end + 2);
            } else if (Character.isWhitespace(c)) {
                at++;
            } else {
                break;
            }
        }
        return at;
    }

    private int comment(int from, int to) {
        comments.put(from, span(from, to));
        return to;
    }

    /** The word at or behind an offset. */
    ScriptToken next(int offset) {
        int from = skipLayout(offset);
        char c = at(from);
        if (from >= text.length()) {
            return new ScriptToken(Kind.END, text.length(), text.length(), "", 0);
        }
        if (isWordStart(c)) {
            return token(Kind.WORD, from, wordEnd(from));
        }
        if (isDigit(c)) {
            return IntegerLiterals.read(this, from);
        }
        return switch (c) {
            case '"' -> string(from);
            case '@' -> token(Kind.MAP, from, wordEnd(from + 1));
            case '$' -> dollar(from);
            default -> sign(from);
        };
    }

    private ScriptToken dollar(int from) {
        if (at(from + 1) == '#') {
            return token(Kind.POSITIONAL_COUNT, from, from + 2);
        }
        int end = wordEnd(from + 1);
        if (end == from + 1) {
            diagnostics.error(span(from, end), "'$' has no name behind it");
        }
        if (!isDigit(at(from + 1))) {
            return token(Kind.VARIABLE, from, end);
        }
        String digits = text.substring(from + 1, end);
        boolean fits = digits.matches("[1-9][0-9]{0,8}");
        if (!fits) {
            diagnostics.error(
                    span(from, end), "no argument has this number", "arguments are $1, $2, …");
        }
        int number = fits ? Integer.parseInt(digits) : 0;
        return new ScriptToken(Kind.POSITIONAL, from, end, text.substring(from, end), number);
    }

    private ScriptToken sign(int from) {
        for (String sign : SIGNS) {
            if (text.startsWith(sign, from)) {
                return token(Kind.SIGN, from, from + sign.length());
            }
        }
        // A '#' begins a line for the C preprocessor, which has no words.
        boolean directive = at(from) == '#' && (from == 0 || at(from - 1) == '\n');
        if (!directive && SINGLE.indexOf(at(from)) < 0) {
            diagnostics.error(span(from, from + 1), "this character means nothing here");
        }
        return token(Kind.SIGN, from, from + 1);
    }

    private ScriptToken token(Kind kind, int from, int to) {
        return new ScriptToken(kind, from, to, text.substring(from, to), 0);
    }

    /** A string in quotes on one line. */
    private ScriptToken string(int from) {
        StringBuilder bytes = new StringBuilder();
        int at = from + 1;
        while (at < text.length() && at(at) != '"') {
            if (at(at) == '\\') {
                at = escape(at, bytes);
            } else {
                int end = text.offsetByCodePoints(at, 1);
                for (byte b : text.substring(at, end).getBytes(StandardCharsets.UTF_8)) {
                    bytes.append((char) (b & 0xff));
                }
                at = end;
            }
        }
        if (at(at) == '"' && at < text.length()) {
            at++;
        } else {
            diagnostics.error(span(from, at), "this string has no end", "close it: \"");
        }
        return new ScriptToken(Kind.STRING, from, at, bytes.toString(), 0);
    }

    /** Returns the offset behind it. */
    private int escape(int from, StringBuilder bytes) {
        char c = at(from + 1);
        int simple = "ntr\"\\".indexOf(c);
        if (simple >= 0 && c != '\0') {
            bytes.append("\n\t\r\"\\".charAt(simple));
            return from + 2;
        }
        int radix = c == 'x' || c == 'X' ? 16 : 8;
        int start = from + (radix == 16 ? 2 : 1);
        int end = start;
        while (end < start + (radix == 16 ? 2 : 3) && Character.digit(at(end), radix) >= 0) {
            end++;
        }
        if (end == start) {
            int next = Math.min(from + 2, text.length());
            diagnostics.error(
                    span(from, next),
                    "no such escape",
                    "there are \\n \\t \\r \\\" \\\\ \\0nn \\xnn");
            return next;
        }
        int value = Integer.parseInt(text.substring(start, end), radix);
        if (value > 255) {
            diagnostics.error(span(from, end), "this is not a byte: the largest is \\377");
        }
        bytes.append((char) (value & 0xff));
        return end;
    }

    /**
     * End of the attach point that begins there: at a brace, a comma, white space or a comment; at
     * a slash too as long as no colon came before (behind one it is part of a path).
     */
    int attachPointEnd(int from) {
        int at = from;
        boolean colon = false;
        while (at < text.length()) {
            char c = text.charAt(at);
            boolean slash = c == '/' && !colon;
            if (c == '{' || c == ',' || slash || Character.isWhitespace(c)) {
                break;
            }
            colon |= c == ':';
            at = c == '"' ? quotedEnd(at) : at + 1;
        }
        return at;
    }

    private int quotedEnd(int from) {
        int at = from + 1;
        while (at < text.length() && text.charAt(at) != '"') {
            at += text.charAt(at) == '\\' ? 2 : 1;
        }
        return Math.min(at + 1, text.length());
    }

    /** End of a preprocessor line with its continuations. */
    int directiveEnd(int from) {
        int at = from;
        while (true) {
            int end = text.indexOf('\n', at);
            if (end < 0) {
                return text.length();
            }
            if (end == 0 || text.charAt(end - 1) != '\\') {
                return end;
            }
            at = end + 1;
        }
    }

    int wordEnd(int from) {
        int at = from;
        while (at < text.length() && (isWordStart(text.charAt(at)) || isDigit(text.charAt(at)))) {
            at++;
        }
        return at;
    }

    String text(int from, int to) {
        return text.substring(from, to);
    }

    char charAt(int offset) {
        return at(offset);
    }

    void error(int from, int to, String message, String hint) {
        diagnostics.error(span(from, to), message, hint);
    }

    static boolean isWordStart(char c) {
        return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    }

    static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
