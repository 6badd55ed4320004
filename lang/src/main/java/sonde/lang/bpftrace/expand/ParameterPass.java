package sonde.lang.bpftrace.expand;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.BinaryOperator;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.IntegerLiteral;
import sonde.lang.bpftrace.syntax.Expression.Positional;
import sonde.lang.bpftrace.syntax.Expression.StringLiteral;
import sonde.lang.bpftrace.syntax.Script.AttachPointText;
import sonde.lang.bpftrace.syntax.Script.ProbeBlock;
import sonde.lang.bpftrace.syntax.Script.ScriptItem;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;

/** Puts literals where parameters and options are asked for. */
final class ParameterPass extends TreeRewriter {
    private static final Pattern IN_ATTACH_POINT = Pattern.compile("\\$([1-9][0-9]{0,8}|#)");
    private static final BigInteger LIMIT = BigInteger.ONE.shiftLeft(64);
    private static final BigInteger LEAST = BigInteger.ONE.shiftLeft(63).negate();

    private final ScriptParameters parameters;
    private final LateOptions late;
    private final CompilerDiagnostics diagnostics;
    private final Map<String, ScriptOption> options = new LinkedHashMap<>();
    private final Set<Integer> missing = new HashSet<>();

    ParameterPass(ScriptParameters parameters, LateOptions late, CompilerDiagnostics diagnostics) {
        this.parameters = parameters;
        this.late = late;
        this.diagnostics = diagnostics;
    }

    /** Those met, in the order in which they were. */
    List<ScriptOption> options() {
        return List.copyOf(options.values());
    }

    @Override
    protected ScriptItem item(ScriptItem item) {
        ScriptItem made = super.item(item);
        if (!(made instanceof ProbeBlock probe)) {
            return made;
        }
        List<AttachPointText> points = new ArrayList<>();
        for (AttachPointText point : probe.attachPoints()) {
            Matcher matcher = IN_ATTACH_POINT.matcher(point.text());
            while (matcher.find()) {
                if (!matcher.group(1).equals("#")
                        && text(Integer.parseInt(matcher.group(1))).isEmpty()) {
                    warn(
                            Integer.parseInt(matcher.group(1)),
                            point.span(),
                            "the probe's name has nothing there");
                }
            }
            String text = matcher.replaceAll(m -> Matcher.quoteReplacement(word(m.group(1))));
            points.add(new AttachPointText(point.span(), text));
        }
        return new ProbeBlock(probe.span(), points, probe.predicate(), probe.body());
    }

    private String word(String number) {
        return number.equals("#")
                ? Integer.toString(parameters.positional().size())
                : text(Integer.parseInt(number));
    }

    private String text(int number) {
        List<String> given = parameters.positional();
        return number <= given.size() ? given.get(number - 1) : "";
    }

    @Override
    protected Expression expression(Expression expression) {
        return switch (expression) {
            case Positional positional -> number(positional);
            case Expression.PositionalCount(var span) ->
                    new IntegerLiteral(span, parameters.positional().size());
            case FunctionCall call
                    when call.function().equals("str") && !call.arguments().isEmpty() ->
                    str(call);
            case FunctionCall call when call.function().equals("getopt") -> getopt(call);
            default -> super.expression(expression);
        };
    }

    /** A number where the parameter is one, otherwise its text; 0 where there is none. */
    private Expression number(Positional positional) {
        SourceSpan span = positional.span();
        String text = text(positional.number());
        if (text.isEmpty()) {
            warn(positional.number(), span, "it is taken as 0, and as \"\" in str()");
            return new IntegerLiteral(span, 0);
        }
        BigInteger value = NumberWords.parse(text);
        boolean fits = value != null && value.compareTo(LEAST) >= 0 && value.compareTo(LIMIT) < 0;
        return value != null && fits ? LiteralValues.integer(span, value) : string(span, text);
    }

    private void warn(int number, SourceSpan span, String hint) {
        if (missing.add(number)) {
            String message = "Positional parameter $" + number + " is empty or not provided.";
            diagnostics.warning(span, message, hint);
        }
    }

    static StringLiteral string(SourceSpan span, String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        return new StringLiteral(span, new String(utf8, StandardCharsets.ISO_8859_1));
    }

    /** In {@code str($1)} and {@code str($1 + 2)} it is text, even where it is a number. */
    private Expression str(FunctionCall call) {
        List<Expression> arguments = new ArrayList<>();
        for (Expression argument : call.arguments()) {
            boolean first = arguments.isEmpty();
            if (first && argument instanceof Positional(var span, var number)) {
                arguments.add(string(span, text(number)));
            } else if (first
                    && argument
                            instanceof BinaryOperation(var span, var operator, var left, var right)
                    && operator == BinaryOperator.ADD
                    && left instanceof Positional(var place, var number)) {
                Expression text = string(place, text(number));
                arguments.add(new BinaryOperation(span, operator, text, expression(right)));
            } else {
                arguments.add(expression(argument));
            }
        }
        return new FunctionCall(call.span(), call.function(), arguments);
    }

    private Expression getopt(FunctionCall call) {
        ScriptOption option = checked(call) ? option(call) : null;
        if (option == null) {
            return new IntegerLiteral(call.span(), 0);
        }
        ScriptOption before = options.get(option.name());
        if (before != null && !before.standard().equals(option.standard())) {
            diagnostics.error(
                    call.span(),
                    "Command line option '"
                            + option.name()
                            + "' needs to have the same default value in all places it is used."
                            + " Previous default value: "
                            + before.standard());
        } else if (before != null
                && !before.help().isEmpty()
                && !option.help().isEmpty()
                && !before.help().equals(option.help())) {
            diagnostics.error(
                    call.span(),
                    "Command line option '"
                            + option.name()
                            + "' must have the same description in all places it's used."
                            + " Hint: You can wrap it in a macro");
        }
        options.merge(option.name(), option, ParameterPass::better);
        return late.has(option) ? asked(call, option) : literal(call.span(), option);
    }

    /** To be answered when the script is run. */
    private Expression asked(FunctionCall call, ScriptOption option) {
        Expression standard = literal(call.span(), option);
        return new FunctionCall(
                call.span(), "getopt", List.of(string(call.span(), option.name()), standard));
    }

    /** The default, where the value given is none. */
    private Expression literal(SourceSpan span, ScriptOption option) {
        boolean valid = parameters.invalid(option).isEmpty();
        String value = valid ? parameters.value(option) : option.standard();
        return switch (option.kind()) {
            case STRING -> string(span, value);
            case BOOLEAN ->
                    new Expression.BooleanLiteral(
                            span, Boolean.TRUE.equals(ScriptParameters.truth(value)));
            case SIGNED, UNSIGNED -> {
                BigInteger number = NumberWords.parse(value);
                yield LiteralValues.integer(span, number == null ? BigInteger.ZERO : number);
            }
        };
    }

    /** Selects the one of two calls for an option that describes it. */
    static ScriptOption better(ScriptOption first, ScriptOption second) {
        return first.help().isEmpty()
                ? new ScriptOption(first.name(), first.kind(), first.standard(), second.help())
                : first;
    }

    private boolean checked(FunctionCall call) {
        List<Expression> arguments = call.arguments();
        String wrong = "";
        SourceSpan where = call.span();
        if (arguments.isEmpty() || arguments.size() > 3) {
            wrong =
                    "The 'getopt' function can take a maximum of three arguments and a minimum of"
                            + " one argument.";
        } else if (!(plain(arguments.getFirst()) instanceof StringLiteral)) {
            where = arguments.getFirst().span();
            wrong = "First argument to 'getopt' must be a string literal.";
        } else if (arguments.size() > 1 && kind(arguments.get(1)) == null) {
            where = arguments.get(1).span();
            wrong =
                    "Second argument to 'getopt' must be a string literal, integer literal, or a"
                            + " boolean literal.";
        } else if (arguments.size() > 2 && !(plain(arguments.get(2)) instanceof StringLiteral)) {
            where = arguments.get(2).span();
            wrong = "Third argument to 'getopt' must be a string literal.";
        }
        if (!wrong.isEmpty()) {
            diagnostics.error(where, wrong);
        }
        return wrong.isEmpty();
    }

    /** The option a call asks for; null when its arguments are not the literals they must be. */
    static @Nullable ScriptOption option(FunctionCall call) {
        List<Expression> arguments = call.arguments();
        if (arguments.isEmpty()
                || !(plain(arguments.getFirst()) instanceof StringLiteral(var span, var name))) {
            return null;
        }
        Expression standard = arguments.size() > 1 ? plain(arguments.get(1)) : null;
        ScriptOption.Kind kind = standard == null ? ScriptOption.Kind.BOOLEAN : kind(standard);
        if (kind == null) {
            return null;
        }
        String help =
                arguments.size() > 2
                                && plain(arguments.get(2))
                                        instanceof StringLiteral(var at, var text)
                        ? text(text)
                        : "";
        String shown = standard == null ? "false" : shown(standard);
        return new ScriptOption(text(name), kind, shown, help);
    }

    private static String text(String bytes) {
        return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    /** What a macro was handed may stand in a block of its own. */
    private static Expression plain(Expression expression) {
        return expression instanceof BlockExpression block
                        && block.statements().isEmpty()
                        && block.result() != null
                ? plain(block.result())
                : expression;
    }

    private static ScriptOption.@Nullable Kind kind(Expression standard) {
        Expression plain = plain(standard);
        if (plain instanceof StringLiteral) {
            return ScriptOption.Kind.STRING;
        }
        if (plain instanceof Expression.BooleanLiteral) {
            return ScriptOption.Kind.BOOLEAN;
        }
        BigInteger value = LiteralValues.value(plain);
        if (value == null) {
            return null;
        }
        return value.signum() < 0 ? ScriptOption.Kind.SIGNED : ScriptOption.Kind.UNSIGNED;
    }

    private static String shown(Expression standard) {
        return switch (standard) {
            case StringLiteral(var span, var bytes) -> text(bytes);
            case Expression.BooleanLiteral(var span, var value) -> Boolean.toString(value);
            default -> String.valueOf(LiteralValues.value(standard));
        };
    }
}
