package sonde.lang.declare;

import java.util.List;
import sonde.lang.declare.CToken.Kind;

/** A place among the words of C. */
final class CCursor {
    private final List<CToken> tokens;
    private final CToken end;
    private int at;

    /**
     * @param end stands for what follows the last word
     */
    CCursor(List<CToken> tokens, CToken end) {
        this.tokens = tokens;
        this.end = end.as(Kind.END, "");
    }

    CToken token() {
        return peek(0);
    }

    CToken peek(int ahead) {
        return at + ahead < tokens.size() ? tokens.get(at + ahead) : end;
    }

    CToken take() {
        CToken token = token();
        at++;
        return token;
    }

    /** A place to come back to. */
    record Mark(int at) {}

    Mark mark() {
        return new Mark(at);
    }

    void backTo(Mark mark) {
        at = mark.at();
    }

    boolean isEnd() {
        return at >= tokens.size();
    }

    boolean is(String text) {
        return token().is(text);
    }

    boolean accept(String text) {
        if (!is(text)) {
            return false;
        }
        at++;
        return true;
    }

    void expect(String text) throws CSyntaxException {
        if (!accept(text)) {
            throw fail("expected '" + text + "' but found " + token().shown());
        }
    }

    CSyntaxException fail(String message) {
        CToken place = at < tokens.size() || tokens.isEmpty() ? token() : tokens.getLast();
        return new CSyntaxException(place, message);
    }

    /** Behind a balanced group that begins here with an opening bracket of any kind. */
    void skipGroup() {
        int depth = 0;
        do {
            CToken token = take();
            if (token.is("(") || token.is("[") || token.is("{")) {
                depth++;
            } else if (token.is(")") || token.is("]") || token.is("}")) {
                depth--;
            }
        } while (depth > 0 && !isEnd());
    }

    /** Behind the next semicolon or group in braces, whichever ends a declaration. */
    void skipDeclaration() {
        while (!isEnd()) {
            if (is("{")) {
                skipGroup();
                if (!is(";") && !is(",") && !is("=") && !is("__attribute__")) {
                    return;
                }
            } else if (is("(") || is("[")) {
                skipGroup();
            } else if (take().is(";")) {
                return;
            }
        }
    }
}
