package sonde.lang.bpftrace.syntax;

import sonde.lang.bpftrace.syntax.ScriptToken.Kind;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;

/** Where the parser stands: one word ahead. */
final class ParserCursor {
    /** Deeper nesting is not a program of a person; each level costs some frames of the stack. */
    private static final int MAX_DEPTH = 200;

    private final ScriptLexer lexer;
    private final CompilerDiagnostics diagnostics;
    private ScriptToken token;
    private int lastEnd;
    private int depth;

    ParserCursor(ScriptLexer lexer, CompilerDiagnostics diagnostics, int from) {
        this.lexer = lexer;
        this.diagnostics = diagnostics;
        this.token = lexer.next(from);
        this.lastEnd = from;
    }

    ScriptToken token() {
        return token;
    }

    /** The word after the next. */
    ScriptToken peek() {
        return lexer.next(token.to());
    }

    ScriptToken take() {
        ScriptToken taken = token;
        lastEnd = taken.to();
        token = lexer.next(taken.to());
        return taken;
    }

    /** Goes on at an offset, behind text that has no words. */
    void continueAt(int offset) {
        lastEnd = offset;
        token = lexer.next(offset);
    }

    boolean isSign(String sign) {
        return token.isSign(sign);
    }

    boolean isWord(String word) {
        return token.isWord(word);
    }

    boolean isEnd() {
        return token.kind() == Kind.END;
    }

    boolean accept(String sign) {
        boolean is = token.isSign(sign);
        if (is) {
            take();
        }
        return is;
    }

    ScriptToken expect(String sign) throws SyntaxException {
        if (!token.isSign(sign)) {
            boolean compared = token.isSign("=") && (sign.equals("/") || sign.equals(")"));
            throw fail(
                    "expected '" + sign + "' but found " + token.shown(),
                    compared ? "values are compared with ==" : "");
        }
        return take();
    }

    ScriptToken expect(Kind kind, String what) throws SyntaxException {
        if (token.kind() != kind) {
            throw fail("expected " + what + " but found " + token.shown());
        }
        return take();
    }

    SyntaxException fail(String message) {
        return fail(message, "");
    }

    SyntaxException fail(String message, String hint) {
        diagnostics.error(lexer.span(token.from(), token.to()), message, hint);
        return new SyntaxException();
    }

    void error(SourceSpan span, String message, String hint) {
        diagnostics.error(span, message, hint);
    }

    boolean isFull() {
        return diagnostics.isFull();
    }

    /** From an offset to the end of the word taken last. */
    SourceSpan since(int from) {
        return lexer.span(from, Math.max(from, lastEnd));
    }

    SourceSpan span(ScriptToken of) {
        return lexer.span(of.from(), of.to());
    }

    /** Goes one level of nesting deeper; {@link #leave()} must follow. */
    void enter() throws SyntaxException {
        if (++depth > MAX_DEPTH) {
            depth--;
            throw fail("this is nested too deeply: more than " + MAX_DEPTH + " levels");
        }
    }

    void leave() {
        depth--;
    }

    /** Skips to behind the next semicolon, or to before the brace that ends the block. */
    void skipStatement() {
        int open = 0;
        while (!isEnd()) {
            if (open == 0 && isSign("}")) {
                return;
            }
            boolean ends = open == 0 && isSign(";");
            open += isSign("{") ? 1 : isSign("}") ? -1 : 0;
            take();
            if (ends) {
                return;
            }
        }
    }

    /** Skips to behind the next block. */
    void skipItem() {
        int open = 0;
        while (!isEnd()) {
            boolean closes = isSign("}");
            open += isSign("{") ? 1 : closes ? -1 : 0;
            take();
            if (closes && open <= 0) {
                return;
            }
        }
    }
}
