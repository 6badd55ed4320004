package sonde.recording.ctf.tsdl;

import java.util.List;
import sonde.binary.MalformedInputException;
import sonde.recording.ctf.tsdl.Lexer.Kind;
import sonde.recording.ctf.tsdl.Lexer.Token;

/** Where the parser stands. */
final class Tokens {
    private final List<Token> tokens;
    private int next;

    Tokens(List<Token> tokens) {
        this.tokens = tokens;
    }

    Token peek() {
        return tokens.get(next);
    }

    Token peek(int ahead) {
        return tokens.get(Math.min(next + ahead, tokens.size() - 1));
    }

    Token take() {
        Token token = tokens.get(next);
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

    /** Whether the number that comes next has a minus. */
    boolean isNegative() {
        return peek().is("-");
    }

    MalformedInputException unexpected(String wanted) {
        Token token = peek();
        String found = token.kind() == Kind.END ? token.text() : "'" + token.text() + "'";
        return malformed(token, wanted + " wanted, " + found + " found");
    }

    MalformedInputException malformed(Token token, String found) {
        return new MalformedInputException("ctf", "metadata", token.at(), found);
    }

    MalformedInputException malformed(String found) {
        return malformed(tokens.get(Math.max(0, next - 1)), found);
    }
}
