package sonde.lang.bpftrace.expand;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.If;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.Script.AttachPointText;
import sonde.lang.bpftrace.syntax.Script.ProbeBlock;
import sonde.lang.bpftrace.syntax.Script.ScriptFunction;
import sonde.lang.bpftrace.syntax.Script.ScriptImport;
import sonde.lang.bpftrace.syntax.Script.ScriptItem;
import sonde.lang.bpftrace.syntax.Script.ScriptMacro;
import sonde.lang.bpftrace.syntax.ScriptStatement;
import sonde.lang.bpftrace.syntax.ScriptStatement.JumpStatement;
import sonde.lang.bpftrace.syntax.ScriptStatement.LocalImport;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/**
 * A script in the one layout: two spaces for each level, an attach point and a statement a line, no
 * more than one blank line. Comments stay before or behind what they stand at; a statement with a
 * comment in it stays as it is. What comes out parses to the same tree, and comes out of itself
 * unchanged.
 */
public final class ScriptFormatter {
    private final SourceText source;
    private final List<SourceSpan> comments;
    private final StringBuilder out = new StringBuilder();
    private final FormatterExpressions expressions = new FormatterExpressions(this);
    private int next;
    private int last;

    private ScriptFormatter(Script script) {
        this.source = script.source();
        // Within a definition a comment is part of its text.
        this.comments =
                script.comments().stream()
                        .filter(comment ->
                                script.definitions().stream()
                                        .noneMatch(span -> contains(span, comment)))
                        .toList();
    }

    private static boolean contains(SourceSpan outer, SourceSpan inner) {
        return outer.source().equals(inner.source())
                && outer.from() <= inner.from()
                && inner.to() <= outer.to();
    }

    /** The text of a parsed script; ends with a newline. */
    public static String format(Script script) {
        ScriptFormatter formatter = new ScriptFormatter(script);
        formatter.script(script);
        return formatter.out.toString();
    }

    /** What stands at a place if it still is what the tree says, in the form given. */
    String written(SourceSpan span, String form, String otherwise) {
        String text = span.source().equals(source) ? span.text() : "";
        return text.matches(form) ? text : otherwise;
    }

    private record CommentedPart(SourceSpan span, String text) {}

    private void script(Script script) {
        if (!script.header().isEmpty()) {
            out.append(script.header().stripTrailing()).append('\n');
            last = script.header().length();
        }
        for (CommentedPart part : preamble(script)) {
            before(0, part.span());
            out.append(part.text()).append('\n');
            if (part.text().equals(part.span().text())) {
                skip(part.span());
            }
            done(0, part.span());
        }
        boolean first = script.definitions().isEmpty() && script.config() == null;
        first &= script.imports().isEmpty();
        for (ScriptItem item : script.items()) {
            if (!first) {
                blank();
            }
            first = false;
            before(0, item.span());
            item(item);
            done(0, item.span());
        }
        comments(0, source.text().length());
    }

    private List<CommentedPart> preamble(Script script) {
        List<CommentedPart> parts = new ArrayList<>();
        script.definitions()
                .forEach(span -> parts.add(new CommentedPart(span, span.text().strip())));
        for (ScriptImport one : script.imports()) {
            String text = "import " + TreeText.quoted(one.path()) + ";";
            parts.add(
                    new CommentedPart(
                            one.span(), commented(one.span()) ? one.span().text() : text));
        }
        Script.Config config = script.config();
        if (config != null) {
            parts.add(new CommentedPart(config.span(), config(config)));
        }
        parts.sort(Comparator.comparingInt(part -> part.span().from()));
        return parts;
    }

    private String config(Script.Config config) {
        if (commented(config.span())) {
            return config.span().text();
        }
        return config.settings().stream()
                .map(setting -> {
                    String text = setting.span().text();
                    int equals = text.indexOf('=');
                    String value = text.substring(equals + 1).strip();
                    return "  " + setting.key() + " = " + value + ";\n";
                })
                .collect(Collectors.joining("", "config = {\n", "}"));
    }

    private void item(ScriptItem item) {
        switch (item) {
            case ProbeBlock probe -> probe(probe);
            case ScriptMacro macro -> {
                String parameters =
                        macro.parameters().stream()
                                .map(MacroTable::name)
                                .collect(Collectors.joining(", ", "(", ")"));
                out.append("macro ").append(macro.name()).append(parameters).append("\n");
                body(macro.body(), true);
            }
            case Script.MapDeclaration(var span, var map, var type, var entries) -> {
                String text = "let " + map + " = " + type + "(" + entries + ");";
                out.append(commented(span) ? span.text() : text).append('\n');
                skip(span);
            }
            case ScriptFunction function -> {
                String parameters =
                        function.parameters().stream()
                                .map(one ->
                                        one.variable().name() + ": " + expressions.type(one.type()))
                                .collect(Collectors.joining(", ", "(", ")"));
                String result = expressions.type(function.result());
                out.append("fn " + function.name() + parameters + ": " + result + "\n");
                body(function.body(), true);
            }
        }
    }

    private void probe(ProbeBlock probe) {
        List<AttachPointText> points = probe.attachPoints();
        for (int i = 0; i < points.size(); i++) {
            SourceSpan span = points.get(i).span();
            comments(0, span.from(), false);
            out.append(points.get(i).text()).append(i + 1 < points.size() ? ",\n" : "\n");
            last = Math.max(last, span.to());
        }
        Expression predicate = probe.predicate();
        if (predicate != null) {
            comments(0, predicate.span().from(), false);
            boolean keep = commented(predicate.span());
            String text = keep ? predicate.span().text() : expressions.text(0, 1, predicate);
            skip(predicate.span());
            out.append('/').append(text).append("/\n");
        }
        body(probe.body(), false);
    }

    /** The block of an item. */
    private void body(BlockExpression block, boolean value) {
        comments(0, block.span().from(), false);
        String text = block(0, block, false, value);
        out.append(text).append('\n');
    }

    /**
     * From its brace to its brace.
     *
     * @param small whether a block that is only a value may stand on one line
     */
    String block(int depth, BlockExpression block, boolean small) {
        return block(depth, block, small, true);
    }

    /** The body of what has no value: a loop, a probe. */
    private String loop(int depth, BlockExpression block) {
        return block(depth, block, false, false);
    }

    private String block(int depth, BlockExpression block, boolean small, boolean value) {
        Expression result = block.result();
        boolean plain = small && block.statements().isEmpty() && !commented(block.span());
        if (plain && result != null && !(result instanceof If)) {
            String text = expressions.text(depth, 0, result);
            if (text.indexOf('\n') < 0 && text.length() < 60) {
                return "{ " + text + " }";
            }
        }
        if (block.statements().isEmpty() && result == null && !commented(block.span())) {
            return small ? "{ }" : "{\n" + "  ".repeat(depth) + "}";
        }
        int start = out.length();
        out.append("{\n");
        last = Math.max(last, block.span().from() + 1);
        for (int i = 0; i < block.statements().size(); i++) {
            boolean closes = value && result == null && i + 1 == block.statements().size();
            statement(depth + 1, block.statements().get(i), closes);
        }
        if (result != null) {
            before(depth + 1, result.span());
            boolean keep = commented(result.span()) && !(result instanceof If);
            int begin = out.length();
            String text = keep ? result.span().text() : text(depth + 1, result);
            out.setLength(begin);
            if (keep) {
                skip(result.span());
            }
            indent(depth + 1).append(text).append('\n');
            done(depth + 1, result.span());
        }
        comments(depth + 1, block.span().to() - 1);
        String text = out.substring(start);
        out.setLength(start);
        return text + "  ".repeat(depth) + "}";
    }

    private StringBuilder indent(int depth) {
        return out.append("  ".repeat(depth));
    }

    /**
     * @param closes whether it is the last of a block without a value, where an {@code if} without
     *     a semicolon would be one
     */
    private void statement(int depth, ScriptStatement statement, boolean closes) {
        before(depth, statement.span());
        SourceSpan head = head(statement);
        if (commented(head)) {
            String text = statement.span().text().strip();
            skip(statement.span());
            boolean ends = text.endsWith(";") || (isClosed(statement) && !closes);
            indent(depth).append(text).append(ends ? "" : ";").append('\n');
        } else {
            // What is written before the rest is there is measured from the line's beginning.
            int start = out.length();
            String text = text(depth, statement, closes);
            out.setLength(start);
            indent(depth).append(text).append('\n');
        }
        done(depth, statement.span());
    }

    /** Whether it ends with a brace and needs no semicolon. */
    private static boolean isClosed(ScriptStatement statement) {
        return switch (statement) {
            case ScriptStatement.Evaluate(var span, var value) ->
                    value instanceof If || value instanceof BlockExpression;
            case ScriptStatement.ForMap loop -> true;
            case ScriptStatement.ForRange loop -> true;
            case ScriptStatement.While loop -> true;
            case ScriptStatement.Unroll loop -> true;
            case ScriptStatement.Assign assign -> false;
            case ScriptStatement.Declare declare -> false;
            case ScriptStatement.Discard discard -> false;
            case JumpStatement jump -> false;
            case LocalImport one -> false;
        };
    }

    /** What of a statement cannot have a comment before a part of it; all but its body. */
    private static SourceSpan head(ScriptStatement statement) {
        SourceSpan all = statement.span();
        BlockExpression body =
                switch (statement) {
                    case ScriptStatement.Evaluate(var span, If choice) -> choice.then();
                    case ScriptStatement.Evaluate(var span, BlockExpression block) -> block;
                    case ScriptStatement.ForMap loop -> loop.body();
                    case ScriptStatement.ForRange loop -> loop.body();
                    case ScriptStatement.While loop -> loop.body();
                    case ScriptStatement.Unroll loop -> loop.body();
                    default -> null;
                };
        return body == null
                ? all
                : new SourceSpan(
                        all.source(), all.from(), Math.max(all.from(), body.span().from()));
    }

    private String text(int depth, ScriptStatement statement, boolean closes) {
        return switch (statement) {
            case ScriptStatement.Evaluate(var span, var expression) ->
                    text(depth, expression) + (isClosed(statement) && !closes ? "" : ";");
            case ScriptStatement.Assign(var span, var target, var operator, var value) ->
                    value(
                            depth,
                            expressions.in(depth, 0, target)
                                    + (operator == null ? " = " : " " + operator.sign() + "= "),
                            value);
            case ScriptStatement.Declare(var span, var variable, var type, var value) -> {
                String named =
                        "let "
                                + variable.name()
                                + (type == null ? "" : ": " + expressions.type(type));
                yield value == null ? named + ";" : value(depth, named + " = ", value);
            }
            case ScriptStatement.Discard(var span, var expression) ->
                    value(depth, "_ = ", expression);
            case ScriptStatement.ForRange(var span, var variable, var from, var to, var body) ->
                    "for ("
                            + variable.name()
                            + " : "
                            + expressions.in(depth, 11, from)
                            + ".."
                            + expressions.in(depth, 11, to)
                            + ") "
                            + loop(depth, body);
            case ScriptStatement.ForMap(var span, var variable, var map, var body) ->
                    "for (" + variable.name() + " : " + map.name() + ") " + loop(depth, body);
            case ScriptStatement.While(var span, var condition, var body) ->
                    "while ("
                            + expressions.text(depth, 2 * depth + 7, condition)
                            + ") "
                            + loop(depth, body);
            case ScriptStatement.Unroll(var span, var count, var body) ->
                    "unroll ("
                            + expressions.text(depth, 2 * depth + 8, count)
                            + ") "
                            + loop(depth, body);
            case JumpStatement(var span, var kind, var value) ->
                    switch (kind) {
                        case BREAK -> "break;";
                        case CONTINUE -> "continue;";
                        case RETURN -> value == null ? "return;" : value(depth, "return ", value);
                    };
            case LocalImport(var span, var path) -> "import " + TreeText.quoted(path) + ";";
        };
    }

    private String value(int depth, String head, Expression value) {
        int column = 2 * depth + head.length();
        return head + expressions.text(depth, column, value) + ";";
    }

    private String text(int depth, Expression expression) {
        return switch (expression) {
            case If choice -> expressions.choice(depth, choice);
            case BlockExpression block -> block(depth, block, false);
            default -> expressions.text(depth, 2 * depth, expression);
        };
    }

    private boolean commented(SourceSpan span) {
        return comments.stream().anyMatch(comment -> contains(span, comment));
    }

    /** Passes over comments that were written with the text they stand in. */
    private void skip(SourceSpan span) {
        while (next < comments.size() && comments.get(next).from() < span.to()) {
            next++;
        }
    }

    /** The comments and the blank line before something. */
    private void before(int depth, SourceSpan span) {
        comments(depth, span.from());
        if (blanks(last, span.from())) {
            blank();
        }
    }

    /** Comments up to an offset, each on its line. */
    private void comments(int depth, int to) {
        comments(depth, to, true);
    }

    /**
     * @param apart whether blank lines between them stay
     */
    private void comments(int depth, int to, boolean apart) {
        while (next < comments.size() && comments.get(next).from() < to) {
            SourceSpan comment = comments.get(next++);
            if (apart && blanks(last, comment.from())) {
                blank();
            }
            indent(depth).append(comment.text().stripTrailing()).append('\n');
            last = comment.to();
        }
    }

    /** Behind something: the comment that stands in the same line. */
    private void done(int depth, SourceSpan span) {
        late(depth, span);
        last = Math.max(last, span.to());
        if (next < comments.size()) {
            SourceSpan comment = comments.get(next);
            String between =
                    source.text().substring(Math.min(last, comment.from()), comment.from());
            if (between.indexOf('\n') < 0 && between.isBlank()) {
                next++;
                trailing(comment);
            }
        }
    }

    /** Comments of which no part before them could be seen go behind it. */
    private void late(int depth, SourceSpan span) {
        while (next < comments.size() && comments.get(next).to() <= span.to()) {
            SourceSpan comment = comments.get(next++);
            indent(depth).append(comment.text().stripTrailing()).append('\n');
        }
    }

    private void trailing(SourceSpan comment) {
        out.setLength(out.length() - 1);
        out.append(' ').append(comment.text().stripTrailing()).append('\n');
        last = comment.to();
    }

    private boolean blanks(int from, int to) {
        String between = source.text().substring(Math.min(from, to), to);
        int first = between.indexOf('\n');
        return first >= 0 && between.indexOf('\n', first + 1) >= 0 && from > 0;
    }

    /** Unless there is one, or nothing at all, or a block has just begun. */
    private void blank() {
        int length = out.length();
        boolean some = length > 1 && out.charAt(length - 1) == '\n';
        boolean has = some && out.charAt(length - 2) == '\n';
        boolean opens = some && out.charAt(length - 2) == '{';
        if (some && !has && !opens) {
            out.append('\n');
        }
    }
}
