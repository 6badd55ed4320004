package sonde.lang.bpftrace.expand;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.BinaryOperator;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BinaryOperation;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Expression.IntegerLiteral;
import sonde.lang.bpftrace.syntax.Expression.MapName;
import sonde.lang.bpftrace.syntax.Expression.TypeCast;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.Script.ScriptItem;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.NamedSyntax;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/**
 * Puts a condition where {@code watched(pid)} asks whether a process is one that this run is about:
 * the one of {@code -p}; the command of {@code -c} and what it starts; without either all but the
 * tracer. What the command starts is followed in a map that no script can name.
 */
public final class WatchedFilter {
    private static final String NAME = "watched";
    private static final String MAP = "@watched" + MacroPass.MARK;

    /** A number that was given again belongs to who has it now. */
    private static final SourceText FOLLOWING =
            new SourceText(
                    NAME,
                    """
                    let @watched = lruhash(16384);

                    tracepoint:task:task_newtask
                    /(args.clone_flags & 0x10000) == 0/ { // CLONE_THREAD
                      if (watched(pid)) {
                        @watched[(uint32)args.pid] = true;
                      } else {
                        $known = delete(@watched, (uint32)args.pid);
                      }
                    }
                    """);

    private WatchedFilter() {}

    /**
     * Processes by their number in the first name space; 0 for none.
     *
     * @param process the only one
     * @param command the one that is followed with all that it starts
     * @param hidden the one that is left out where the others are none
     */
    public record WatchedProcesses(int process, int command, int hidden) {
        /** Every process. */
        public static final WatchedProcesses ALL = new WatchedProcesses(0, 0, 0);
    }

    /** Whether a map is none of the script's. */
    public static boolean isOwn(String map) {
        return map.equals(MAP);
    }

    /**
     * A script in which nothing asks any more.
     *
     * @param whom null where that is not known yet, which is an error where a script asks
     */
    public static Script expand(
            Script script, @Nullable WatchedProcesses whom, CompilerDiagnostics diagnostics) {
        FilterPass pass = new FilterPass(whom, diagnostics);
        Script made = pass.script(script);
        if (!pass.asked || whom == null || whom.process() != 0 || whom.command() == 0) {
            return pass.asked ? made : script;
        }
        Script following = pass.script(ScriptParser.parse(FOLLOWING, new CompilerDiagnostics()));
        List<ScriptItem> items = new ArrayList<>(following.items());
        items.addAll(made.items());
        return TreeRewriter.withItems(made, items);
    }

    private static final class FilterPass extends TreeRewriter {
        private final @Nullable WatchedProcesses whom;
        private final CompilerDiagnostics diagnostics;
        boolean asked;

        FilterPass(@Nullable WatchedProcesses whom, CompilerDiagnostics diagnostics) {
            this.whom = whom;
            this.diagnostics = diagnostics;
        }

        @Override
        protected ScriptItem item(ScriptItem item) {
            return item instanceof Script.MapDeclaration(var span, var map, var type, var entries)
                            && isFollowing(span)
                    ? new Script.MapDeclaration(span, MAP, type, entries)
                    : super.item(item);
        }

        @Override
        protected MapName map(MapName map) {
            return isFollowing(map.span()) ? new MapName(map.span(), MAP) : super.map(map);
        }

        private static boolean isFollowing(SourceSpan span) {
            return span.source().equals(FOLLOWING);
        }

        @Override
        protected Expression expression(Expression expression) {
            if (!(expression instanceof FunctionCall call) || !call.function().equals(NAME)) {
                return super.expression(expression);
            }
            asked = true;
            SourceSpan span = call.span();
            if (call.arguments().size() != 1) {
                diagnostics.error(span, "watched() requires one argument, a process");
            } else if (whom == null) {
                diagnostics.error(
                        span, "watched() is known when a script runs, not when it is compiled");
            } else {
                return condition(span, call.arguments().getFirst(), whom);
            }
            return new Expression.BooleanLiteral(span, true);
        }

        private Expression condition(SourceSpan span, Expression process, WatchedProcesses whom) {
            if (whom.process() != 0) {
                return compare(span, process, BinaryOperator.EQUAL, whom.process());
            }
            if (whom.command() != 0) {
                Expression itself = compare(span, process, BinaryOperator.EQUAL, whom.command());
                List<Expression> key = List.of(new MapName(span, MAP), number(span, process));
                Expression started = new FunctionCall(span, "has_key", key);
                return new BinaryOperation(span, BinaryOperator.LOGICAL_OR, itself, started);
            }
            return whom.hidden() != 0
                    ? compare(span, process, BinaryOperator.NOT_EQUAL, whom.hidden())
                    : new Expression.BooleanLiteral(span, true);
        }

        private Expression compare(
                SourceSpan span, Expression process, BinaryOperator operator, int other) {
            return new BinaryOperation(
                    span, operator, number(span, process), new IntegerLiteral(span, other));
        }

        /** The process as the kernel counts them; each is a tree of its own. */
        private Expression number(SourceSpan span, Expression process) {
            TypeSyntax type = new NamedSyntax(span, TypeSyntax.Kind.PLAIN, "uint32");
            return new TypeCast(span, type, super.expression(process));
        }
    }
}
