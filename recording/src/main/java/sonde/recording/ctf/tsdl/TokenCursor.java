package sonde.recording.ctf.tsdl;

import java.util.List;
import sonde.binary.MalformedInputException;
import sonde.recording.ctf.tsdl.TsdlLexer.Kind;
import sonde.recording.ctf.tsdl.TsdlLexer.TsdlToken;

/** Where the parser stands. */
final class TokenCursor {
    private final List<TsdlToken> tokens;
    private int next;

    TokenCursor(List<TsdlToken> tokens) {
        this.tokens = tokens;
    }

    TsdlToken peek() {
        return tokens.get(next);
    }

    TsdlToken peek(int ahead) {
        return tokens.get(Math.min(next + ahead, tokens.size() - 1));
    }

    TsdlToken take() {
        TsdlToken token = tokens.get(next);
        if (next < tokens.size() - 1) {
            next++;
        }
        return token;
    }

    /** Takes the sign if it comes next. */
    boolean accept(String sign) {
        if (peek().is(sign)) {
            take();
            return true;
        }
        return false;
    }

    /** Takes the word if it comes next. */
    boolean acceptWord(String word) {
        if (peek().isWord(word)) {
            take();
            return true;
        }
        return false;
    }

    void expect(String sign) throws MalformedInputException {
        if (!accept(sign)) {
            throw unexpected("'" + sign + "'");
        }
    }

    String word(String what) throws MalformedInputException {
        if (peek().kind() != Kind.WORD) {
            throw unexpected(what);
        }
        return take().text();
    }

    /** A number with its sign. */
    long number(String what) throws MalformedInputException {
        boolean negative = false;
        while (peek().is("-") || peek().is("+")) {
            negative ^= take().is("-");
        }
        if (peek().kind() != Kind.NUMBER) {
            throw unexpected(what);
        }
        long value = take().number();
        return negative ? -value : value;
    }

    MalformedInputException unexpected(String wanted) {
        TsdlToken token = peek();
        String found = token.kind() == Kind.END ? token.text() : "'" + token.text() + "'";
        return malformed(token, wanted + " wanted, " + found + " found");
    }

    MalformedInputException malformed(TsdlToken token, String found) {
        return new MalformedInputException("ctf", "metadata", token.at(), found);
    }

    MalformedInputException malformed(String found) {
        return malformed(tokens.get(Math.max(0, next - 1)), found);
    }
}
