package sonde.lang.bpftrace.expand;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.expand.ScriptExpansion.MacroUse;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.MapName;
import sonde.lang.bpftrace.syntax.Expression.MemberAccess;
import sonde.lang.bpftrace.syntax.Expression.ScratchVariable;
import sonde.lang.bpftrace.syntax.Expression.TypeArgument;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.Script.ScriptItem;
import sonde.lang.bpftrace.syntax.Script.ScriptMacro;
import sonde.lang.bpftrace.syntax.ScriptStatement;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.NamedSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.TypeofSyntax;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;

/**
 * Puts the bodies of macros where they are called. The arguments of a call are expanded where they
 * stand, then take the places of the parameters; all other variables of a body get a name that
 * nobody can write.
 */
final class MacroPass extends TreeRewriter {
    /** Between a variable's name and the number of the expansion that it belongs to. */
    static final char MARK = '\u00b7';

    /**
     * Macros that call macros twice double with each level; more calls than this are no program.
     */
    private static final int MAX_EXPANSIONS = 20_000;

    /** Parts that macros make: arguments are copied as often as they are named. */
    private static final int MAX_NODES = 2_000_000;

    /** Later passes walk the tree by recursion. */
    private static final int MAX_HEIGHT = 400;

    private static final String TOO_MUCH = "macros make more of this script than can be compiled";

    /** One call of a macro being expanded. */
    private static final class MacroFrame {
        final ScriptMacro macro;
        final SourceSpan call;
        final boolean library;
        final int number;
        final @Nullable MacroFrame caller;
        final Map<String, Expression> names = new HashMap<>();
        final Map<String, Integer> heights = new HashMap<>();
        final Map<String, String> variables = new HashMap<>();
        final Map<String, String> maps = new HashMap<>();

        MacroFrame(
                ScriptMacro macro,
                SourceSpan call,
                boolean library,
                int number,
                @Nullable MacroFrame caller) {
            this.macro = macro;
            // Nobody wrote what stands in the library: its place is the call's.
            this.call = caller != null && caller.library ? caller.call : call;
            this.library = library;
            this.number = number;
            this.caller = caller;
        }
    }

    private final MacroTable own;
    private final MacroTable library;
    private final CompilerDiagnostics diagnostics;
    private final List<MacroUse> uses = new ArrayList<>();
    private @Nullable MacroFrame frame;
    private int expansions;
    private int nodes;
    private int height;
    private int depth;
    private boolean full;

    MacroPass(MacroTable own, MacroTable library, CompilerDiagnostics diagnostics) {
        this.own = own;
        this.library = library;
        this.diagnostics = diagnostics;
    }

    List<MacroUse> uses() {
        return uses;
    }

    /** Without its macros. */
    Script expand(Script script) {
        List<ScriptItem> items = new ArrayList<>();
        for (ScriptItem item : script.items()) {
            if (!(item instanceof ScriptMacro)) {
                items.add(item(item));
            }
        }
        return withItems(script, items);
    }

    @Override
    protected SourceSpan span(SourceSpan span) {
        return frame != null && frame.library ? frame.call : span;
    }

    /** Keeps {@code height} at the height of what was made last. */
    @Override
    protected Expression expression(Expression expression) {
        int outer = height;
        height = 0;
        depth++;
        Expression made = expression;
        if (++nodes > MAX_NODES || depth > MAX_HEIGHT) {
            tooMuch(expression.span(), TOO_MUCH);
        }
        if (!full) {
            made = made(expression);
        }
        if (height > MAX_HEIGHT) {
            tooMuch(expression.span(), TOO_MUCH);
            made = new BareName(expression.span(), "_");
        }
        depth--;
        height = Math.max(outer, height + 1);
        return made;
    }

    @Override
    protected BlockExpression block(BlockExpression block) {
        depth++;
        if (depth > MAX_HEIGHT) {
            tooMuch(block.span(), TOO_MUCH);
        }
        BlockExpression made = full ? block : super.block(block);
        depth--;
        return made;
    }

    private Expression made(Expression expression) {
        return switch (expression) {
            case BareName name -> name(name);
            case FunctionCall call -> call(call);
            case Expression.OffsetOf(var span, var type, var path) ->
                    new Expression.OffsetOf(span(span), type(type), path(path));
            default -> super.expression(expression);
        };
    }

    private void tooMuch(SourceSpan span, String message) {
        if (!full) {
            full = true;
            diagnostics.error(outermost(span), message);
        }
    }

    private SourceSpan outermost(SourceSpan span) {
        SourceSpan place = span;
        for (MacroFrame at = frame; at != null; at = at.caller) {
            place = at.call;
        }
        return place;
    }

    private Expression name(BareName name) {
        Expression argument = frame == null ? null : frame.names.get(name.name());
        if (frame != null && argument != null) {
            height = frame.heights.getOrDefault(name.name(), 1);
            return new TreeCopy().expression(argument);
        }
        Expression expanded = expanded(name.span(), name.name(), List.of(), List.of());
        return expanded == null
                ? new BareName(span(name.span()), NativeNames.plain(name.name()))
                : expanded;
    }

    private Expression call(FunctionCall call) {
        List<Expression> arguments = new ArrayList<>();
        List<Integer> heights = new ArrayList<>();
        int highest = 0;
        for (Expression argument : call.arguments()) {
            height = 0;
            arguments.add(expression(argument));
            heights.add(height);
            highest = Math.max(highest, height);
        }
        height = highest;
        Expression expanded = expanded(call.span(), call.function(), arguments, heights);
        String plain = NativeNames.plain(call.function());
        if (expanded == null && arguments.isEmpty() && NativeNames.mayBeCalled(plain)) {
            return new BareName(span(call.span()), plain);
        }
        return expanded == null ? new FunctionCall(span(call.span()), plain, arguments) : expanded;
    }

    /** Null when the name is no macro's. */
    private @Nullable Expression expanded(
            SourceSpan span, String name, List<Expression> arguments, List<Integer> heights) {
        boolean inLibrary = frame != null && frame.library;
        ScriptMacro macro = inLibrary ? null : own.find(name, arguments);
        boolean fromLibrary = macro == null;
        if (macro == null) {
            macro = library.find(name, arguments);
        }
        if (macro == null) {
            return mismatch(span, name, arguments, inLibrary);
        }
        String chain = chain(macro);
        if (!chain.isEmpty()) {
            diagnostics.error(
                    span, "Recursive macro call detected. Call chain: " + chain + macro.name());
            return new BareName(span, name);
        }
        if (++expansions > MAX_EXPANSIONS) {
            tooMuch(span, "macros are called more than " + MAX_EXPANSIONS + " times");
            return new BareName(span, name);
        }
        MacroFrame entered = new MacroFrame(macro, span, fromLibrary, expansions, frame);
        bind(entered, arguments, heights);
        uses.add(new MacroUse(macro, span));
        return body(entered);
    }

    private Expression body(MacroFrame entered) {
        MacroFrame caller = frame;
        frame = entered;
        height = 0;
        BlockExpression made = block(entered.macro.body());
        frame = caller;
        return new BlockExpression(entered.call, made.statements(), made.result());
    }

    /** A variable or map for a name is a value there, not the place where one is kept. */
    private static void bind(
            MacroFrame entered, List<Expression> arguments, List<Integer> heights) {
        List<Expression> parameters = entered.macro.parameters();
        for (int i = 0; i < parameters.size(); i++) {
            Expression argument = arguments.get(i);
            String parameter = MacroTable.name(parameters.get(i));
            if (parameters.get(i) instanceof ScratchVariable) {
                entered.variables.put(parameter, ((ScratchVariable) argument).name());
            } else if (parameters.get(i) instanceof MapName) {
                entered.maps.put(parameter, ((MapName) argument).name());
            } else {
                boolean place = argument instanceof ScratchVariable || argument instanceof MapName;
                entered.names.put(
                        parameter,
                        place
                                ? new BlockExpression(argument.span(), List.of(), argument)
                                : argument);
                entered.heights.put(parameter, heights.get(i) + 1);
            }
        }
    }

    /** {@code "a > b > "} from the macro to where it calls itself; empty when it does not. */
    private String chain(ScriptMacro macro) {
        StringBuilder chain = new StringBuilder();
        for (MacroFrame at = frame; at != null; at = at.caller) {
            chain.insert(0, at.macro.name() + " > ");
            if (at.macro.equals(macro)) {
                return chain.toString();
            }
        }
        return "";
    }

    private @Nullable Expression mismatch(
            SourceSpan span, String name, List<Expression> arguments, boolean inLibrary) {
        ScriptMacro closest = inLibrary ? null : own.closest(name, arguments);
        if (closest == null) {
            closest = library.closest(name, arguments);
        }
        if (closest == null || NativeNames.isNative(name)) {
            return null;
        }
        diagnostics.error(
                span, "Call to " + name + "() has arguments that do not match any definition.");
        List<Expression> parameters = closest.parameters();
        if (parameters.size() != arguments.size()) {
            diagnostics.error(
                    MacroTable.head(closest),
                    "The closest definition of "
                            + name
                            + "() has a different number of arguments. Expected: "
                            + parameters.size()
                            + " but got "
                            + arguments.size());
            return new BareName(span, name);
        }
        for (int i = 0; i < parameters.size(); i++) {
            if (!MacroTable.fits(parameters.get(i), arguments.get(i))) {
                mismatch(name, parameters.get(i), arguments.get(i));
            }
        }
        return new BareName(span, name);
    }

    private void mismatch(String name, Expression parameter, Expression argument) {
        boolean map = parameter instanceof MapName;
        String got =
                switch (argument) {
                    case ScratchVariable variable -> "a variable";
                    case MapName other -> "a map";
                    default -> "an expression";
                };
        diagnostics.error(
                argument.span(),
                "Mismatched arg. "
                        + name
                        + "() expects "
                        + (map ? "a map" : "a variable")
                        + " for arg "
                        + MacroTable.name(parameter)
                        + " but got "
                        + got
                        + ".");
        diagnostics.error(parameter.span(), "This is the argument in the closest definition.");
    }

    @Override
    protected ScratchVariable variable(ScratchVariable variable) {
        if (frame == null) {
            return super.variable(variable);
        }
        String handed = frame.variables.get(variable.name());
        String name = handed == null ? variable.name() + MARK + frame.number : handed;
        return new ScratchVariable(span(variable.span()), name);
    }

    @Override
    protected MapName map(MapName map) {
        String handed = frame == null ? map.name() : frame.maps.get(map.name());
        if (handed == null) {
            diagnostics.error(
                    map.span(),
                    "Unhygienic access to map: "
                            + map.name()
                            + ". Maps must be passed into the macro as arguments.");
        }
        return new MapName(span(map.span()), handed == null ? map.name() : handed);
    }

    @Override
    protected void statement(ScriptStatement statement, List<ScriptStatement> to) {
        ScratchVariable declared =
                switch (statement) {
                    case ScriptStatement.Declare declare -> declare.variable();
                    case ScriptStatement.ForMap loop -> loop.variable();
                    case ScriptStatement.ForRange loop -> loop.variable();
                    default -> null;
                };
        if (frame != null && declared != null && frame.variables.containsKey(declared.name())) {
            diagnostics.error(
                    statement.span(), "Variable declaration shadows macro arg " + declared.name());
        }
        super.statement(statement, to);
    }

    /** A field handed to a macro: {@code b}, {@code b.c}. */
    private List<String> path(List<String> path) {
        Expression argument =
                frame == null || path.size() != 1 ? null : frame.names.get(path.getFirst());
        List<String> names = new ArrayList<>();
        Expression at = argument;
        while (at instanceof MemberAccess(var span, var of, var name)) {
            names.addFirst(name);
            at = of;
        }
        if (at instanceof BareName(var span, var name)) {
            names.addFirst(name);
            return names;
        }
        if (argument instanceof MemberAccess) {
            diagnostics.error(
                    argument.span(),
                    "FieldAccess expressions must be made up entirely of idents (e.g. a.b.c) to"
                            + " replace the second argument in `offsetof`");
        }
        return path;
    }

    @Override
    protected TypeSyntax type(TypeSyntax type) {
        if (type instanceof TypeofSyntax(var span, BareName(var at, var name))) {
            // A bare name where a type may stand is a type's unless a parameter has it.
            Expression argument = frame == null ? null : frame.names.get(name);
            if (argument instanceof TypeArgument(var place, var handed)) {
                return new TreeCopy().type(handed);
            }
            return argument == null
                    ? new TypeofSyntax(span(span), new BareName(span(at), name))
                    : new TypeofSyntax(span(span), new TreeCopy().expression(argument));
        }
        Expression argument =
                frame != null && type instanceof NamedSyntax named
                        ? frame.names.get(named.name())
                        : null;
        if (argument == null) {
            return super.type(type);
        }
        return replaced((NamedSyntax) type, argument);
    }

    private TypeSyntax replaced(NamedSyntax type, Expression argument) {
        boolean plain = type.kind() == TypeSyntax.Kind.PLAIN;
        String name =
                switch (argument) {
                    case BareName(var span, var word) -> word;
                    case TypeArgument(var span, TypeofSyntax(var at, BareName(var in, var word))) ->
                            word;
                    case TypeArgument(var span, NamedSyntax(var at, var kind, var word)) ->
                            kind == TypeSyntax.Kind.PLAIN ? word : null;
                    default -> null;
                };
        if (name != null) {
            return new NamedSyntax(span(type.span()), type.kind(), name);
        }
        if (plain && argument instanceof TypeArgument(var span, var handed)) {
            return new TreeCopy().type(handed);
        }
        String tag = plain ? "" : type.kind().name().toLowerCase(Locale.ROOT) + " ";
        String macro = frame == null ? "" : frame.macro.name();
        diagnostics.error(
                argument.span(),
                "Invalid replacement for macro '"
                        + macro
                        + "' type parameter '"
                        + type.name()
                        + "' which makes up the type '"
                        + tag
                        + type.name()
                        + "'");
        return type;
    }

    /** New nodes of the same content. */
    private final class TreeCopy extends TreeRewriter {
        @Override
        protected Expression expression(Expression expression) {
            if (full || ++nodes > MAX_NODES) {
                tooMuch(expression.span(), TOO_MUCH);
                return expression;
            }
            return super.expression(expression);
        }
    }
}
