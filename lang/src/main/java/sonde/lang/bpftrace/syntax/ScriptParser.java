package sonde.lang.bpftrace.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.MapName;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.Script.AttachPointText;
import sonde.lang.bpftrace.syntax.Script.ConfigEntry;
import sonde.lang.bpftrace.syntax.Script.ProbeBlock;
import sonde.lang.bpftrace.syntax.Script.ScriptFunction;
import sonde.lang.bpftrace.syntax.Script.ScriptFunction.ParameterDeclaration;
import sonde.lang.bpftrace.syntax.Script.ScriptImport;
import sonde.lang.bpftrace.syntax.Script.ScriptItem;
import sonde.lang.bpftrace.syntax.Script.ScriptMacro;
import sonde.lang.bpftrace.syntax.ScriptToken.Kind;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/**
 * Parses a script by recursive descent. An error costs its statement, or its item where it is not
 * in one; the rest is parsed.
 */
public final class ScriptParser {
    private static final Set<String> DEFINES = Set.of("struct", "union", "enum");

    private final SourceText source;
    private final ScriptLexer lexer;
    private final ParserCursor cursor;
    private final BlockParser blocks;
    private final List<SourceSpan> definitions = new ArrayList<>();
    private final List<ScriptImport> imports = new ArrayList<>();
    private final List<ScriptItem> items = new ArrayList<>();
    private Script.@Nullable Config config;

    private ScriptParser(SourceText source, CompilerDiagnostics diagnostics, int from) {
        this.source = source;
        this.lexer = new ScriptLexer(source, diagnostics);
        this.cursor = new ParserCursor(lexer, diagnostics, from);
        this.blocks = new BlockParser(cursor);
    }

    /** Parses; where {@code diagnostics} then has errors, the script lacks what they are about. */
    public static Script parse(SourceText source, CompilerDiagnostics diagnostics) {
        String header = "";
        String text = source.text();
        int start = text.startsWith("\ufeff") ? 1 : 0; // the mark that some editors write first
        if (text.startsWith("#!", start)) {
            int end = text.indexOf('\n');
            header = text.substring(start, end < 0 ? text.length() : end);
        }
        return new ScriptParser(source, diagnostics, start + header.length()).script(header);
    }

    /**
     * Parses a text that is one expression: what a constant of a C header stands for. Null where it
     * is none, which {@code diagnostics} then says.
     */
    public static @Nullable Expression parseExpression(
            SourceText source, CompilerDiagnostics diagnostics) {
        ScriptParser parser = new ScriptParser(source, diagnostics, 0);
        try {
            Expression expression = parser.blocks.expressions().expression();
            if (!parser.cursor.isEnd()) {
                throw parser.cursor.fail(
                        "expected the end but found " + parser.cursor.token().shown());
            }
            return expression;
        } catch (SyntaxException e) {
            return null;
        }
    }

    private Script script(String header) {
        while (!cursor.isEnd() && !cursor.isFull()) {
            int before = cursor.token().from();
            try {
                top();
            } catch (SyntaxException e) {
                if (cursor.token().from() == before) {
                    cursor.take();
                }
                cursor.skipItem();
            }
        }
        return new Script(source, header, definitions, config, imports, items, lexer.comments());
    }

    private void top() throws SyntaxException {
        ScriptToken token = cursor.token();
        int from = token.from();
        if (lexer.charAt(from) == '#') {
            int end = lexer.directiveEnd(from);
            definition(from, end);
            cursor.continueAt(end);
        } else if (token.kind() == Kind.WORD && DEFINES.contains(token.text()) && definesType()) {
            int end = definitionEnd();
            definition(from, end);
            cursor.continueAt(end);
        } else if (token.isWord("config") && cursor.peek().isSign("=")) {
            config();
        } else if (token.isWord("import") && cursor.peek().kind() == Kind.STRING) {
            ScriptImport read = importLine();
            imports.add(read);
            if (!items.isEmpty()) {
                cursor.error(read.span(), "imports stand before probes and macros", "");
            }
        } else if (token.isWord("macro") && cursor.peek().kind() == Kind.WORD) {
            items.add(macro());
        } else if (token.isWord("fn") && cursor.peek().kind() == Kind.WORD) {
            items.add(function());
        } else if (token.isWord("let")) {
            items.add(mapDeclaration());
        } else {
            items.add(probe());
        }
    }

    private void definition(int from, int to) {
        SourceSpan span = lexer.span(from, to);
        definitions.add(span);
        if (!items.isEmpty() || config != null || !imports.isEmpty()) {
            cursor.error(span, "C definitions stand before everything else", "");
        }
    }

    /** Whether a brace comes before anything that only an attach point could have. */
    private boolean definesType() {
        int at = cursor.token().to();
        int parentheses = 0;
        while (true) {
            ScriptToken token = lexer.next(at);
            if (token.isSign("{") && parentheses == 0) {
                return true;
            }
            parentheses += token.isSign("(") ? 1 : token.isSign(")") ? -1 : 0;
            boolean part = token.kind() == Kind.WORD || parentheses > 0 || token.isSign(")");
            if (!part || token.kind() == Kind.END) {
                return false;
            }
            at = token.to();
        }
    }

    /** Behind the closing brace and the semicolon that may follow. */
    private int definitionEnd() throws SyntaxException {
        int at = cursor.token().from();
        int open = 0;
        while (true) {
            ScriptToken token = lexer.next(at);
            if (token.kind() == Kind.END) {
                throw cursor.fail("this definition has no end");
            }
            at = token.to();
            open += token.isSign("{") ? 1 : token.isSign("}") ? -1 : 0;
            if (open == 0 && token.isSign("}")) {
                return afterDeclarators(at);
            }
        }
    }

    /** {@code } __attribute__((packed));} */
    private int afterDeclarators(int end) {
        int at = end;
        ScriptToken token = lexer.next(at);
        while (token.isWord("__attribute__")) {
            int open = 0;
            do {
                at = token.to();
                token = lexer.next(at);
                open += token.isSign("(") ? 1 : token.isSign(")") ? -1 : 0;
            } while (open > 0 && token.kind() != Kind.END);
            at = token.to();
            token = lexer.next(at);
        }
        return token.isSign(";") ? token.to() : at;
    }

    private void config() throws SyntaxException {
        int from = cursor.take().from();
        cursor.expect("=");
        cursor.expect("{");
        List<ConfigEntry> settings = new ArrayList<>();
        while (!cursor.isSign("}")) {
            ScriptToken key = cursor.expect(Kind.WORD, "the name of a setting");
            cursor.expect("=");
            ScriptToken value = cursor.token();
            if (value.kind() != Kind.WORD
                    && value.kind() != Kind.INTEGER
                    && value.kind() != Kind.STRING) {
                throw cursor.fail("expected a value but found " + value.shown());
            }
            cursor.take();
            boolean number = value.kind() == Kind.INTEGER;
            String text = number ? Long.toUnsignedString(value.value()) : value.text();
            settings.add(new ConfigEntry(cursor.since(key.from()), key.text(), text));
            if (!cursor.accept(";") && !cursor.isSign("}")) {
                throw cursor.fail("expected ';' but found " + cursor.token().shown());
            }
        }
        cursor.expect("}");
        SourceSpan span = cursor.since(from);
        if (config != null) {
            cursor.error(span, "there is a config block already", "");
        } else if (!items.isEmpty()) {
            cursor.error(span, "the config block must come before probes and macros", "");
        }
        config = new Script.Config(span, settings);
    }

    private ScriptImport importLine() throws SyntaxException {
        int from = cursor.take().from();
        String path = cursor.expect(Kind.STRING, "a path in quotes").text();
        cursor.expect(";");
        return new ScriptImport(cursor.since(from), path);
    }

    private ScriptItem macro() throws SyntaxException {
        int from = cursor.take().from();
        String name = cursor.expect(Kind.WORD, "the macro's name").text();
        List<Expression> parameters = new ArrayList<>();
        // Without parameters the parentheses may be missing.
        if (cursor.accept("(")) {
            while (!cursor.isSign(")")) {
                parameters.add(macroParameter());
                if (!cursor.accept(",")) {
                    break;
                }
            }
            cursor.expect(")");
        }
        BlockExpression body = blocks.block();
        return new ScriptMacro(cursor.since(from), name, parameters, body);
    }

    private Expression macroParameter() throws SyntaxException {
        ScriptToken token = cursor.token();
        SourceSpan span = cursor.span(token);
        Expression parameter =
                switch (token.kind()) {
                    case WORD -> new BareName(span, token.text());
                    case VARIABLE -> new ScratchVariable(span, token.text());
                    case MAP -> new MapName(span, token.text());
                    case INTEGER, STRING, POSITIONAL, POSITIONAL_COUNT, SIGN, END -> null;
                };
        if (parameter == null) {
            throw cursor.fail(
                    "expected a parameter but found " + token.shown(),
                    "parameters are $variables, @maps and names");
        }
        cursor.take();
        return parameter;
    }

    private ScriptItem function() throws SyntaxException {
        int from = cursor.take().from();
        String name = cursor.expect(Kind.WORD, "the function's name").text();
        List<ParameterDeclaration> parameters = new ArrayList<>();
        cursor.expect("(");
        while (!cursor.isSign(")")) {
            ScriptToken variable = cursor.expect(Kind.VARIABLE, "a parameter ($name)");
            cursor.expect(":");
            parameters.add(
                    new ParameterDeclaration(
                            new ScratchVariable(cursor.span(variable), variable.text()),
                            blocks.types().type()));
            if (!cursor.accept(",")) {
                break;
            }
        }
        cursor.expect(")");
        cursor.expect(":");
        TypeSyntax result = blocks.types().type();
        BlockExpression body = BlockParser.withoutResult(blocks.block());
        return new ScriptFunction(cursor.since(from), name, parameters, result, body);
    }

    private ScriptItem mapDeclaration() throws SyntaxException {
        int from = cursor.take().from();
        if (cursor.token().kind() != Kind.MAP) {
            throw cursor.fail(
                    "outside of probes 'let' declares maps", "for example let @a = lruhash(100);");
        }
        String map = cursor.take().text();
        cursor.expect("=");
        String type = cursor.expect(Kind.WORD, "the type of the map").text();
        cursor.expect("(");
        long entries = cursor.expect(Kind.INTEGER, "how many entries it may have").value();
        cursor.expect(")");
        cursor.accept(";");
        return new Script.MapDeclaration(cursor.since(from), map, type, entries);
    }

    private ScriptItem probe() throws SyntaxException {
        int from = cursor.token().from();
        List<AttachPointText> points = new ArrayList<>();
        do {
            if (!points.isEmpty() && (cursor.isSign("{") || cursor.isSign("/"))) {
                break;
            }
            points.add(attachPoint());
        } while (cursor.accept(","));
        Expression predicate = null;
        if (cursor.accept("/")) {
            predicate = blocks.expressions().predicate();
            cursor.expect("/");
        }
        if (!cursor.isSign("{")) {
            throw cursor.fail(
                    "expected '{' but found " + cursor.token().shown(),
                    "a probe is: PROBE[,PROBE] [/CONDITION/] { STATEMENTS }");
        }
        BlockExpression body = BlockParser.withoutResult(blocks.block());
        return new ProbeBlock(cursor.since(from), points, predicate, body);
    }

    private AttachPointText attachPoint() throws SyntaxException {
        int from = cursor.token().from();
        int end = lexer.attachPointEnd(from);
        if (end == from) {
            throw cursor.fail("expected a probe but found " + cursor.token().shown());
        }
        cursor.continueAt(end);
        return new AttachPointText(lexer.span(from, end), lexer.text(from, end));
    }
}
