package sonde.lang.declare;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.declare.CExpression.CValue;
import sonde.lang.declare.CToken.Kind;
import sonde.lang.declare.MacroExpansion.CMacro;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/**
 * Lines of C with their directives carried out (C17, 6.10). Headers are read where they are found.
 */
final class Preprocessor implements CExpression.CExpressionNames {
    private static final int MOST_DEPTH = 48;
    private static final int MOST_CONDITIONS = 256;
    private static final int MOST_FILES = 1000;

    /** Words of all headers together. */
    private static final int MOST_TOKENS = 2_000_000;

    private final MacroExpansion macros;
    private final IncludeFolders includes;
    private final TypeSource kernel;
    private final CErrors errors;
    private final List<CToken> out = new ArrayList<>();
    private final List<CToken> pending = new ArrayList<>();
    private final Set<Path> once = new HashSet<>();
    private Deque<ConditionalGroup> conditions = new ArrayDeque<>();
    private @Nullable Path file;

    /** What in the script brought the header along that is being read. */
    private @Nullable SourceSpan brought;

    private int depth;
    private int files;
    private int tokens;
    private int scriptLines = 1;

    Preprocessor(
            MacroExpansion macros, IncludeFolders includes, TypeSource kernel, CErrors errors) {
        this.macros = macros;
        this.includes = includes;
        this.kernel = kernel;
        this.errors = errors;
    }

    /** An {@code #if} that has not ended. */
    private static final class ConditionalGroup {
        final CToken place;
        final boolean outer;
        boolean taken;
        boolean now;

        ConditionalGroup(CToken place, boolean outer, boolean now) {
            this.place = place;
            this.outer = outer;
            this.now = outer && now;
            this.taken = now;
        }
    }

    /** A part of a script; behind one that is no directive a semicolon may be missing. */
    void script(SourceSpan part) {
        List<CToken> words = CLexer.script(part);
        if (!words.isEmpty()) {
            lines(words);
            if (!words.getFirst().is("#")) {
                flush();
                out.add(words.getLast().as(Kind.SIGN, ";"));
            }
        }
        scriptLines += (int) part.text().lines().count();
    }

    /** A header that the command line names. */
    void header(String name, CToken place) {
        include(name, false, place);
    }

    /** All words, after the last part. */
    List<CToken> end() {
        flush();
        unended();
        if (macros.isSpent() && !out.isEmpty()) {
            errors.error(out.getFirst(), "macros make too much of this");
        }
        return out;
    }

    private void unended() {
        for (ConditionalGroup condition : conditions) {
            errors.error(condition.place, "unterminated conditional directive");
        }
    }

    private boolean isActive() {
        ConditionalGroup inner = conditions.peek();
        return inner == null || inner.now;
    }

    private void flush() {
        if (!pending.isEmpty()) {
            out.addAll(macros.expand(pending));
            pending.clear();
        }
    }

    private void lines(List<CToken> words) {
        int at = 0;
        while (at < words.size() && !errors.isFull()) {
            int end = at + 1;
            while (end < words.size() && !words.get(end).first()) {
                end++;
            }
            CToken first = words.get(at);
            if (first.first() && first.is("#")) {
                flush();
                try {
                    directive(new CCursor(words.subList(at + 1, end), first), first);
                } catch (CSyntaxException e) {
                    errors.error(e);
                }
            } else if (isActive()) {
                pending.addAll(words.subList(at, end));
            }
            at = end;
        }
    }

    private void directive(CCursor line, CToken hash) throws CSyntaxException {
        CToken name = line.take();
        switch (name.text()) {
            case "if" -> condition(hash, isActive() && truth(line));
            case "ifdef", "ifndef" -> {
                boolean defined = macros.find(line.token().text()) != null;
                condition(hash, isActive() && defined == name.is("ifdef"));
            }
            case "elif", "else", "elifdef", "elifndef" -> otherwise(line, name);
            case "endif" -> {
                if (conditions.poll() == null) {
                    throw new CSyntaxException(name, "#endif without #if");
                }
            }
            default -> {
                if (isActive()) {
                    active(line, name);
                }
            }
        }
    }

    private void condition(CToken hash, boolean now) throws CSyntaxException {
        if (conditions.size() >= MOST_CONDITIONS) {
            throw new CSyntaxException(hash, "conditions are nested too deeply");
        }
        conditions.push(new ConditionalGroup(hash, isActive(), now));
    }

    private void otherwise(CCursor line, CToken name) throws CSyntaxException {
        ConditionalGroup inner = conditions.peek();
        if (inner == null) {
            throw new CSyntaxException(name, "#" + name.text() + " without #if");
        }
        boolean holds = false;
        if (inner.outer && !inner.taken) {
            boolean defined = macros.find(line.token().text()) != null;
            holds =
                    switch (name.text()) {
                        case "elif" -> truth(line);
                        case "elifdef" -> defined;
                        case "elifndef" -> !defined;
                        default -> true;
                    };
        }
        inner.now = holds;
        inner.taken |= holds;
    }

    private void active(CCursor line, CToken name) throws CSyntaxException {
        switch (name.text()) {
            case "define" -> define(line);
            case "undef" -> macros.remove(line.token().text());
            case "include", "include_next", "import" -> include(line, name);
            case "error" -> throw new CSyntaxException(name, rest(line));
            case "pragma" -> {
                Path here = file;
                if (line.is("once") && here != null) {
                    once.add(here);
                }
            }
            // Of no use to types: #line, #ident, #warning, # alone.
            default -> {}
        }
    }

    private static String rest(CCursor line) {
        List<CToken> words = new ArrayList<>();
        while (!line.isEnd()) {
            words.add(line.take());
        }
        return MacroExpansion.text(words);
    }

    private void define(CCursor line) throws CSyntaxException {
        CToken name = line.take();
        if (name.kind() != Kind.WORD || name.is("defined")) {
            throw new CSyntaxException(name, "macro name must be an identifier");
        }
        List<String> parameters = null;
        boolean variadic = false;
        if (line.is("(") && !line.token().spaced()) {
            line.take();
            parameters = new ArrayList<>();
            while (!line.accept(")")) {
                CToken parameter = line.take();
                if (parameter.kind() == Kind.END || variadic) {
                    throw new CSyntaxException(name, "expected ')' in macro parameter list");
                }
                variadic = parameter.is("...") || line.accept("...");
                parameters.add(parameter.is("...") ? "__VA_ARGS__" : parameter.text());
                line.accept(",");
            }
        }
        List<CToken> body = new ArrayList<>();
        while (!line.isEnd()) {
            body.add(line.take());
        }
        macros.define(new CMacro(name.text(), parameters, variadic, body, false));
    }

    private void include(CCursor line, CToken directive) throws CSyntaxException {
        CToken place = line.token();
        if (place.kind() == Kind.STRING) {
            String text = place.text();
            include(text.substring(1, Math.max(1, text.length() - 1)), true, place);
            return;
        }
        if (!line.is("<")) {
            List<CToken> words = new ArrayList<>();
            while (!line.isEnd()) {
                words.add(line.take());
            }
            List<CToken> expanded = macros.expand(words);
            boolean some = !expanded.isEmpty() && !expanded.equals(words);
            if (!some || ++depth > MOST_DEPTH) {
                throw new CSyntaxException(directive, "expected \"FILENAME\" or <FILENAME>");
            }
            include(new CCursor(expanded, directive), directive);
            depth--;
            return;
        }
        line.take();
        StringBuilder name = new StringBuilder();
        while (!line.is(">") && !line.isEnd()) {
            name.append(line.take().text());
        }
        include(name.toString(), false, place);
    }

    private void include(String name, boolean quotes, CToken place) {
        Path here = file;
        Path beside = quotes && here != null ? here.getParent() : null;
        Path found = includes.find(name, quotes && here == null ? Path.of("") : beside);
        if (found == null) {
            if (!includes.isKnown(name, kernel.isThere())) {
                missing(name, place);
            }
            return;
        }
        if (once.contains(found) || depth >= MOST_DEPTH || ++files > MOST_FILES) {
            return;
        }
        String text = IncludeFolders.read(found);
        if (text == null || tokens > MOST_TOKENS) {
            return;
        }
        SourceSpan origin = brought;
        if (!place.header() || origin == null) {
            origin = place.origin();
            brought = origin;
        }
        List<CToken> words =
                includes.isSystems(found)
                        ? CLexer.header(text, origin)
                        : CLexer.ownHeader(new SourceText(found.toString(), text));
        tokens += words.size();
        Deque<ConditionalGroup> outer = conditions;
        conditions = new ArrayDeque<>();
        depth++;
        file = found;
        lines(words);
        flush();
        unended();
        file = here;
        depth--;
        conditions = outer;
    }

    /** As clang says it, who counts the lines of the definitions alone, from 2. */
    private void missing(String name, CToken place) {
        if (place.header()) {
            errors.error(place, "'" + name + "' file not found");
            return;
        }
        SourceSpan span = place.origin();
        int line = scriptLines + 1;
        errors.missing(
                span,
                "definitions.h:%d:%d: fatal error: '%s' file not found"
                        .formatted(line, span.source().column(span.from()), name),
                kernel.isThere() ? "" : "this kernel has no BTF, so its headers must be there");
    }

    private boolean truth(CCursor line) throws CSyntaxException {
        List<CToken> words = new ArrayList<>();
        CToken first = line.token();
        while (!line.isEnd()) {
            CToken word = line.take();
            if (word.is("defined") || word.is("__has_include")) {
                words.add(word.as(Kind.NUMBER, test(word, line) ? "1" : "0"));
            } else {
                words.add(word);
            }
        }
        CCursor cursor = new CCursor(macros.expand(words), first);
        CValue value = CExpression.read(cursor, this);
        return value.bits() != 0;
    }

    private boolean test(CToken word, CCursor line) throws CSyntaxException {
        boolean parentheses = line.accept("(");
        if (word.is("__has_include")) {
            StringBuilder name = new StringBuilder();
            while (!line.is(")") && !line.isEnd()) {
                name.append(line.take().text());
            }
            line.accept(")");
            String file = name.toString().replaceAll("^[<\"]|[>\"]$", "");
            return includes.find(file, null) != null;
        }
        CToken name = line.take();
        if (name.kind() != Kind.WORD) {
            throw new CSyntaxException(name, "macro name must be an identifier");
        }
        if (parentheses) {
            line.expect(")");
        }
        return macros.find(name.text()) != null;
    }

    @Override
    public @Nullable CValue constant(String name) {
        return null;
    }

    @Override
    public @Nullable CDeclaredType typeName(CCursor cursor) {
        return null;
    }

    @Override
    public CValue size(CToken place, CDeclaredType type, boolean align) throws CSyntaxException {
        throw new CSyntaxException(place, "there are no types in #if");
    }

    @Override
    public boolean unknownIsZero() {
        return true;
    }
}
