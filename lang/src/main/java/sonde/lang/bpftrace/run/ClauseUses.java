package sonde.lang.bpftrace.run;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import sonde.lang.bpftrace.expand.TreeRewriter;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Script;
import sonde.lang.bpftrace.syntax.Script.ProbeBlock;

/**
 * What a block asks of the place where it runs.
 *
 * @param probe its name: each probe needs a program of its own
 * @param arguments {@code args}, {@code retval}: types of their own
 * @param context {@code ctx}
 * @param exits {@code exit()}
 * @param names all words, those of functions with {@code ()} behind
 * @param markers {@code arg0}, …: of markers they lie elsewhere at each place
 */
record ClauseUses(
        boolean probe,
        boolean arguments,
        boolean context,
        boolean markers,
        boolean exits,
        Set<String> names) {
    static ClauseUses of(ProbeBlock probe) {
        Set<String> names = new HashSet<>();
        new TreeRewriter() {
            @Override
            protected Expression expression(Expression expression) {
                if (expression instanceof BareName name) {
                    names.add(name.name());
                }
                if (expression instanceof FunctionCall call) {
                    names.add(call.function() + "()");
                }
                return super.expression(expression);
            }
        }.script(
                new Script(
                        probe.span().source(),
                        "",
                        List.of(),
                        null,
                        List.of(),
                        List.of(probe),
                        List.of()));
        return new ClauseUses(
                names.contains("probe"),
                names.contains("args") || names.contains("retval"),
                names.contains("ctx"),
                names.stream().anyMatch(name -> name.matches("arg[0-9]+")),
                names.contains("exit()"),
                Set.copyOf(names));
    }
}
