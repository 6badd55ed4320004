package sonde.lang.bpftrace.expand;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.Script;

/**
 * Which options of a script for other machines can be given when it is run there.
 *
 * @param any whether there are such at all
 * @param early names of those that the compiler needs
 */
record LateOptions(boolean any, Set<String> early) {
    /** All are put in now. */
    static final LateOptions NONE = new LateOptions(false, Set.of());

    /** Functions with arguments that must be written out, and the first of those. */
    private static final Map<String, Integer> WRITTEN_OUT =
            Map.of(
                    "print",
                    1,
                    "hist",
                    1,
                    "lhist",
                    1,
                    "tseries",
                    1,
                    "kstack",
                    0,
                    "ustack",
                    0,
                    "dw_ustack",
                    0,
                    "skboutput",
                    3);

    /** The late options of a script whose macros are expanded; options given now are not late. */
    static LateOptions of(Script script, ScriptParameters parameters) {
        Set<String> early = new HashSet<>(parameters.named().keySet());
        new TreeRewriter() {
            @Override
            protected Expression expression(Expression expression) {
                if (expression instanceof FunctionCall call) {
                    int first = WRITTEN_OUT.getOrDefault(call.function(), Integer.MAX_VALUE);
                    List<Expression> arguments = call.arguments();
                    for (int i = first; i < arguments.size(); i++) {
                        if (arguments.get(i) instanceof FunctionCall asks
                                && asks.function().equals("getopt")) {
                            ScriptOption option = ParameterPass.option(asks);
                            early.add(option == null ? "" : option.name());
                        }
                    }
                }
                return super.expression(expression);
            }
        }.script(script);
        return new LateOptions(true, early);
    }

    /** Whether an option is one; texts are not, whose room the compiler plans. */
    boolean has(ScriptOption option) {
        return any && option.kind() != ScriptOption.Kind.STRING && !early.contains(option.name());
    }
}
