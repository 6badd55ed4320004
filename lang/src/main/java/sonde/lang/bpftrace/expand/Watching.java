package sonde.lang.bpftrace.expand;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.BinaryOperator;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.Call;
import sonde.lang.bpftrace.syntax.Expression.IntegerLiteral;
import sonde.lang.bpftrace.syntax.Expression.MapName;
import sonde.lang.bpftrace.syntax.Parser;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.source.Diagnostics;
import sonde.lang.source.SourceText;
import sonde.lang.source.Span;

/**
 * Puts a condition where {@code watched(pid)} asks whether a process is one that this run is about:
 * the one of {@code -p}; the command of {@code -c} and what it starts; without either all but the
 * tracer. What the command starts is followed in a map that no script can name.
 */
public final class Watching {
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

    private Watching() {}

    /**
     * Processes by their number in the first name space; 0 for none.
     *
     * @param process the only one
     * @param command the one that is followed with all that it starts
     * @param hidden the one that is left out where the others are none
     */
    public record Whom(int process, int command, int hidden) {
        /** Every process. */
        public static final Whom ALL = new Whom(0, 0, 0);
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
    public static Script expand(Script script, @Nullable Whom whom, Diagnostics diagnostics) {
        Pass pass = new Pass(whom, diagnostics);
        Script made = pass.script(script);
        if (!pass.asked || whom == null || whom.process() != 0 || whom.command() == 0) {
            return pass.asked ? made : script;
        }
        Script following = pass.script(Parser.parse(FOLLOWING, new Diagnostics()));
        List<Script.Item> items = new ArrayList<>(following.items());
        items.addAll(made.items());
        return Rewriter.withItems(made, items);
    }

    private static final class Pass extends Rewriter {
        private final @Nullable Whom whom;
        private final Diagnostics diagnostics;
        boolean asked;

        Pass(@Nullable Whom whom, Diagnostics diagnostics) {
            this.whom = whom;
            this.diagnostics = diagnostics;
        }

        @Override
        protected Script.Item item(Script.Item item) {
            return item instanceof Script.MapDeclaration(var span, var map, var type, var entries)
                            && isFollowing(span)
                    ? new Script.MapDeclaration(span, MAP, type, entries)
                    : super.item(item);
        }

        @Override
        protected MapName map(MapName map) {
            return isFollowing(map.span()) ? new MapName(map.span(), MAP) : super.map(map);
        }

        private static boolean isFollowing(Span span) {
            return span.source().equals(FOLLOWING);
        }

        @Override
        protected Expression expression(Expression expression) {
            if (!(expression instanceof Call call) || !call.function().equals(NAME)) {
                return super.expression(expression);
            }
            asked = true;
            Span span = call.span();
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

        private Expression condition(Span span, Expression process, Whom whom) {
            if (whom.process() != 0) {
                return compare(span, process, BinaryOperator.EQUAL, whom.process());
            }
            if (whom.command() != 0) {
                Expression itself = compare(span, process, BinaryOperator.EQUAL, whom.command());
                List<Expression> key = List.of(new MapName(span, MAP), number(span, process));
                Expression started = new Call(span, "has_key", key);
                return new Expression.Binary(span, BinaryOperator.LOGICAL_OR, itself, started);
            }
            return whom.hidden() != 0
                    ? compare(span, process, BinaryOperator.NOT_EQUAL, whom.hidden())
                    : new Expression.BooleanLiteral(span, true);
        }

        private Expression compare(
                Span span, Expression process, BinaryOperator operator, int other) {
            return new Expression.Binary(
                    span, operator, number(span, process), new IntegerLiteral(span, other));
        }

        /** The process as the kernel counts them; each is a tree of its own. */
        private Expression number(Span span, Expression process) {
            TypeSyntax type = new TypeSyntax.Named(span, TypeSyntax.Kind.PLAIN, "uint32");
            return new Expression.Cast(span, type, super.expression(process));
        }
    }
}
