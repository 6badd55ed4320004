package sonde.recording.ftrace;

import java.util.List;
import sonde.recording.ftrace.PrintLexer.Kind;
import sonde.recording.ftrace.PrintLexer.PrintToken;

/** Goes through the tokens of a {@code print fmt}; counts how deep its reader is nested. */
class TokenReader {
    // The deepest of the 6.18 kernel's formats nests 34 parentheses.
    private static final int DEEPEST = 200;

    private final List<PrintToken> tokens;
    private int at;
    private int depth;

    TokenReader(List<PrintToken> tokens) {
        this.tokens = tokens;
    }

    /** The token that comes {@code ahead} tokens behind the next one; END behind the last. */
    final PrintToken peek(int ahead) {
        return tokens.get(Math.min(at + ahead, tokens.size() - 1));
    }

    final PrintToken peek() {
        return tokens.get(at);
    }

    final PrintToken take() {
        final PrintToken token = tokens.get(at);
        if (token.kind() != Kind.END) {
            at++;
        }
        return token;
    }

    final boolean takes(String sign) {
        if (peek().is(sign)) {
            at++;
            return true;
        }
        return false;
    }

    final void expect(String sign) throws UnsupportedPrintException {
        if (!takes(sign)) {
            throw unsupported(peek().text() + " where " + sign + " was expected");
        }
    }

    static UnsupportedPrintException unsupported(String what) {
        return new UnsupportedPrintException(what);
    }

    final int position() {
        return at;
    }

    final void seek(int position) {
        at = position;
    }

    final void enter() throws UnsupportedPrintException {
        if (++depth > DEEPEST) {
            throw unsupported("nested too deep");
        }
    }

    final void leave() {
        depth--;
    }

    /** Passes over a token, brackets with all that is in them. */
    final void skipToken() throws UnsupportedPrintException {
        PrintToken token = peek();
        if (token.is("(") || token.is("{") || token.is("[")) {
            skipBracket();
        } else if (token.kind() == Kind.END) {
            throw unsupported("the end");
        } else {
            at++;
        }
    }

    /** Passes over a bracket and all that is in it. */
    final void skipBracket() throws UnsupportedPrintException {
        int open = 0;
        do {
            PrintToken token = take();
            if (token.kind() == Kind.END) {
                throw unsupported("the end");
            }
            boolean opens = token.is("(") || token.is("{") || token.is("[");
            boolean closes = token.is(")") || token.is("}") || token.is("]");
            open += opens ? 1 : closes ? -1 : 0;
        } while (open > 0);
    }

    /** Skips to the bracket that closes the call, and over it. */
    final void skipCall() throws UnsupportedPrintException {
        while (!peek().is(")")) {
            skipToken();
        }
        take();
    }
}
