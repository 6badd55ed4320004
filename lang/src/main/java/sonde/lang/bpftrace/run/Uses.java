package sonde.lang.bpftrace.run;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import sonde.lang.bpftrace.expand.Rewriter;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Script;

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
record Uses(
        boolean probe,
        boolean arguments,
        boolean context,
        boolean markers,
        boolean exits,
        Set<String> names) {
    static Uses of(Script.Probe probe) {
        Set<String> names = new HashSet<>();
        new Rewriter() {
            @Override
            protected Expression expression(Expression expression) {
                if (expression instanceof Expression.Name name) {
                    names.add(name.name());
                }
                if (expression instanceof Expression.Call call) {
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
        return new Uses(
                names.contains("probe"),
                names.contains("args") || names.contains("retval"),
                names.contains("ctx"),
                names.stream().anyMatch(name -> name.matches("arg[0-9]+")),
                names.contains("exit()"),
                Set.copyOf(names));
    }
}
