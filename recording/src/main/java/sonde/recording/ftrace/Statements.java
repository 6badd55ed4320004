package sonde.recording.ftrace;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.recording.ftrace.Expression.Binary;
import sonde.recording.ftrace.Expression.Constant;
import sonde.recording.ftrace.Expression.Operator;
import sonde.recording.ftrace.Expression.Table;
import sonde.recording.ftrace.Expression.Value;
import sonde.recording.ftrace.PrintLexer.Kind;
import sonde.recording.ftrace.PrintLexer.Token;

/**
 * GCC's statement expressions, <code>({ int x = REC-&gt;a; x &lt; 5 ? x : 5; })</code>, turned into
 * one expression: a variable is what was last assigned to it, {@code if} and {@code switch} become
 * choices, loops are unrolled, {@code trace_seq_printf} adds to a text. Nothing is left to be
 * remembered while rows are written, so any thread may write them.
 */
final class Statements {
    /** Statements run over all loops; the rounds of one loop. */
    private static final int MOST_STATEMENTS = 4000;

    private static final int MOST_ROUNDS = 128;

    /** Rounds of a loop that only the event ends; what comes behind them is not shown. */
    private static final int MOST_OPEN_ROUNDS = 64;

    /** Reads of fields that the variables of a format may stand for. */
    private static final long MOST_COST = 50_000;

    private final PrintParser in;
    private final @Nullable Statements outer;
    private State state = new State();
    private int executed;

    /**
     * A variable.
     *
     * @param type null for texts and arrays
     * @param layout of a union or struct, whose {@code value} is all of its bytes
     * @param cost of evaluating it, in names and numbers
     */
    record Variable(
            @Nullable CType type, @Nullable CLayout layout, @Nullable Expression value, long cost) {
        Variable with(Expression newValue, long newCost) {
            return new Variable(type, layout, newValue, newCost);
        }
    }

    /** What is known between two statements. */
    private static final class State {
        final Map<String, Variable> variables = new HashMap<>();
        final List<Text> printed = new ArrayList<>();

        /** A {@code break} was met: the rest up to its switch or loop does not run. */
        boolean ended;

        State copy() {
            State copy = new State();
            copy.variables.putAll(variables);
            copy.printed.addAll(printed);
            copy.ended = ended;
            return copy;
        }
    }

    /** What {@code trace_seq_buffer_ptr} gives: all that is printed from there on. */
    record Printed(int from) implements Expression {}

    /**
     * @param outer the statements around these; null for none
     */
    Statements(PrintParser in, @Nullable Statements outer) {
        this.in = in;
        this.outer = outer;
    }

    /** The variable of that name; null for none. */
    @Nullable Variable variable(String name) {
        Variable variable = state.variables.get(name);
        return variable == null && outer != null ? outer.variable(name) : variable;
    }

    /** Runs what stands behind <code>({</code> up to <code>})</code>; the last one's value. */
    Expression run() throws UnsupportedPrintException {
        Expression last = null;
        while (!in.peek().is("}")) {
            last = statement();
        }
        in.expect("}");
        in.expect(")");
        if (last instanceof Printed printed) {
            List<Text> texts = state.printed;
            return new Text.Joined(List.copyOf(texts.subList(printed.from, texts.size())));
        }
        if (last == null) {
            throw PrintParser.unsupported("statements without a value");
        }
        return last;
    }

    /** Runs one statement; the value of an expression, else null. */
    private @Nullable Expression statement() throws UnsupportedPrintException {
        if (++executed > MOST_STATEMENTS) {
            throw PrintParser.unsupported("too many statements");
        }
        in.enter();
        try {
            Token token = in.peek();
            switch (token.kind() == Kind.STRING ? "" : token.text()) {
                case ";" -> in.take();
                case "{" -> block();
                case "if" -> branches();
                case "switch" -> cases();
                case "while", "for" -> loop(token.text());
                case "break" -> {
                    in.take();
                    in.expect(";");
                    state.ended = true;
                }
                case "do", "goto", "continue", "return" ->
                        throw PrintParser.unsupported(token.text());
                default -> {
                    if (in.types().isDeclaration()) {
                        declarations();
                        return null;
                    }
                    Expression value = list(";");
                    in.expect(";");
                    return value;
                }
            }
            return null;
        } finally {
            in.leave();
        }
    }

    private void block() throws UnsupportedPrintException {
        in.expect("{");
        while (!in.peek().is("}")) {
            if (state.ended) {
                skipStatement();
            } else {
                statement();
            }
        }
        in.expect("}");
    }

    private Value condition() throws UnsupportedPrintException {
        in.expect("(");
        Value condition = in.number();
        in.expect(")");
        return condition;
    }

    private void branches() throws UnsupportedPrintException {
        in.take();
        Value condition = condition();
        State before = state;
        int start = in.position();
        State yes = before.copy();
        state = yes;
        if (isFalse(condition)) {
            skipStatement();
        } else {
            statement();
        }
        yes = state;
        State no = before.copy();
        if (in.takes("else")) {
            state = no;
            if (condition instanceof Constant && !isFalse(condition)) {
                skipStatement();
            } else {
                statement();
            }
            no = state;
        }
        if (condition instanceof Constant) {
            state = isFalse(condition) ? no : yes;
            return;
        }
        if (yes.ended || no.ended) {
            throw PrintParser.unsupported("break at " + start);
        }
        state = merged(condition, yes, no);
    }

    private static boolean isFalse(Value condition) {
        return condition instanceof Constant constant && constant.value() == 0;
    }

    /** A group of labels and where the statements behind them begin. */
    private record Case(@Nullable Value condition, int position) {}

    private void cases() throws UnsupportedPrintException {
        in.take();
        in.expect("(");
        Value value = in.number();
        in.expect(")");
        in.expect("{");
        List<Case> cases = new ArrayList<>();
        boolean fallback = false;
        Value condition = null;
        boolean labels = false;
        while (!in.peek().is("}")) {
            boolean isDefault = in.peek().is("default");
            if (isDefault || in.peek().is("case")) {
                in.take();
                if (isDefault) {
                    fallback = true;
                } else {
                    condition = or(condition, in.equal(value, in.number()));
                }
                in.expect(":");
                labels = true;
                if (cases.size() > MOST_STATEMENTS) {
                    throw PrintParser.unsupported("too many cases");
                }
                continue;
            }
            if (labels) {
                cases.add(new Case(fallback ? null : condition, in.position()));
                labels = false;
                fallback = false;
                condition = null;
            }
            skipStatement();
        }
        int end = in.position();
        State before = state;
        State result = before.copy();
        for (Case one : cases) {
            if (one.condition == null) {
                result = runFrom(one.position, before);
            }
        }
        for (int i = cases.size() - 1; i >= 0; i--) {
            Value when = cases.get(i).condition;
            if (when != null && !isFalse(when)) {
                result = merged(when, runFrom(cases.get(i).position, before), result);
            }
        }
        state = result;
        in.seek(end);
        in.expect("}");
    }

    private static Value or(@Nullable Value a, Value b) {
        return a == null ? b : new Binary(Operator.OR, a, b, CType.INT, false);
    }

    /** Runs the statements of a switch from there to a break or its end, labels passed over. */
    private State runFrom(int position, State before) throws UnsupportedPrintException {
        state = before.copy();
        in.seek(position);
        while (!in.peek().is("}") && !state.ended) {
            if (in.peek().is("default")) {
                in.take();
                in.expect(":");
            } else if (in.peek().is("case")) {
                in.take();
                in.number();
                in.expect(":");
            } else {
                statement();
            }
        }
        state.ended = false;
        return state;
    }

    private void loop(String kind) throws UnsupportedPrintException {
        in.take();
        in.expect("(");
        boolean counted = kind.equals("for");
        if (counted && !in.takes(";")) {
            if (in.types().isDeclaration()) {
                declarations();
            } else {
                list(";");
                in.expect(";");
            }
        }
        int test = in.position();
        Loop loop = new Loop(test, counted);
        round(loop, 0);
        in.seek(loop.end);
    }

    /** Where the parts of a loop stand; the end is known after the first round. */
    private static final class Loop {
        final int test;
        final boolean counted;
        int end;
        int openRounds;

        Loop(int test, boolean counted) {
            this.test = test;
            this.counted = counted;
        }
    }

    private void round(Loop loop, int number) throws UnsupportedPrintException {
        in.seek(loop.test);
        Value condition =
                loop.counted && in.peek().is(";") ? new Constant(1, CType.INT) : in.number();
        int step = -1;
        if (loop.counted) {
            in.expect(";");
            step = in.position();
            while (!in.peek().is(")")) {
                in.skipToken();
            }
        }
        in.expect(")");
        int body = in.position();
        skipStatement();
        loop.end = in.position();
        if (isFalse(condition)) {
            return;
        }
        if (number == MOST_ROUNDS) {
            throw PrintParser.unsupported("too many rounds of a loop");
        }
        boolean open = !(condition instanceof Constant);
        if (open && ++loop.openRounds > MOST_OPEN_ROUNDS) {
            state = state.copy();
            state.printed.add(new Text.TextChoice(condition, Text.literal("…"), Text.literal("")));
            return;
        }
        in.enter();
        State before = state;
        state = before.copy();
        in.seek(body);
        statement();
        boolean broken = state.ended;
        state.ended = false;
        if (!broken) {
            if (step >= 0) {
                in.seek(step);
                list(")");
            }
            round(loop, number + 1);
        }
        in.leave();
        if (open) {
            state = merged(condition, state, before);
        }
    }

    /** Passes over a statement without running it. */
    private void skipStatement() throws UnsupportedPrintException {
        Token first = in.peek();
        if (first.is("{")) {
            in.skipBracket();
            return;
        }
        boolean isIf = first.is("if");
        if (isIf || first.is("switch") || first.is("for") || first.is("while")) {
            in.take();
            in.skipBracket();
            in.enter();
            skipStatement();
            if (isIf && in.takes("else")) {
                skipStatement();
            }
            in.leave();
            return;
        }
        while (!in.peek().is(";")) {
            in.skipToken();
        }
        in.take();
    }

    /** What holds when one of two ways was gone. */
    private State merged(Value condition, State yes, State no) throws UnsupportedPrintException {
        State merged = no.copy();
        for (Map.Entry<String, Variable> entry : yes.variables.entrySet()) {
            Variable a = entry.getValue();
            Variable b = no.variables.get(entry.getKey());
            Expression x = a.value;
            Expression y = b == null ? null : b.value;
            if (x == null || isSame(x, y)) {
                continue;
            }
            // A variable that one way leaves alone has no value there that could be used.
            Variable both = a;
            if (y != null && b != null) {
                both = a.with(in.choice(condition, x, y), checked(a.cost + b.cost + 1));
            }
            merged.variables.put(entry.getKey(), both);
        }
        int same = 0;
        while (same < yes.printed.size()
                && same < no.printed.size()
                && isSame(yes.printed.get(same), no.printed.get(same))) {
            same++;
        }
        if (same < yes.printed.size() || same < no.printed.size()) {
            Text a = new Text.Joined(List.copyOf(yes.printed.subList(same, yes.printed.size())));
            Text b = new Text.Joined(List.copyOf(no.printed.subList(same, no.printed.size())));
            merged.printed.subList(same, merged.printed.size()).clear();
            merged.printed.add(new Text.TextChoice(condition, a, b));
        }
        return merged;
    }

    @SuppressWarnings("ReferenceEquality") // the very same node: nothing was assigned
    private static boolean isSame(Expression a, @Nullable Expression b) {
        return a == b;
    }

    private static long checked(long cost) throws UnsupportedPrintException {
        if (cost > MOST_COST) {
            throw PrintParser.unsupported("variables stand for too much");
        }
        return cost;
    }

    // int a = 1, *b; static const char *names[] = { "x", "y" }; union { u32 word; … } role;
    private void declarations() throws UnsupportedPrintException {
        String base = in.types().declaredType();
        boolean union = base.equals("union");
        CLayout layout = union || base.equals("struct") ? in.types().layout(union) : null;
        do {
            boolean pointer = false;
            while (in.peek().is("*") || in.peek().is("const")) {
                pointer |= in.take().is("*");
            }
            String name = in.take().text();
            boolean array = in.peek().is("[");
            if (array) {
                in.skipBracket();
            }
            CType type = pointer || array || layout != null ? null : in.types().integerType(base);
            Variable variable = new Variable(type, pointer ? null : layout, null, 0);
            if (in.takes("=")) {
                long cost = in.cost();
                Expression value = array ? table(base, pointer) : converted(variable, rightSide());
                variable = variable.with(value, checked(in.cost() - cost));
            }
            state.variables.put(name, variable);
        } while (in.takes(","));
        in.expect(";");
    }

    private Table table(String base, boolean pointer) throws UnsupportedPrintException {
        in.expect("{");
        List<Expression> elements = new ArrayList<>();
        while (!in.takes("}")) {
            if (in.takes("[")) {
                throw PrintParser.unsupported("elements with an index");
            }
            elements.add(in.argument());
            if (!in.peek().is("}")) {
                in.expect(",");
            }
        }
        return new Table(List.copyOf(elements), pointer ? CType.INT : in.types().integerType(base));
    }

    private static Expression converted(Variable variable, Expression value) {
        CType type = variable.type;
        return type != null && value instanceof Value number
                ? PrintParser.cast(number, type)
                : value;
    }

    /** Expressions with commas between, up to {@code end}; the value of the last. */
    private Expression list(String end) throws UnsupportedPrintException {
        Expression value = new Constant(0, CType.INT);
        while (!in.peek().is(end)) {
            value = assignment();
            if (!in.takes(",")) {
                break;
            }
        }
        return value;
    }

    private Expression assignment() throws UnsupportedPrintException {
        if (in.peek().is("++") || in.peek().is("--")) {
            String sign = in.take().text();
            return counted(in.take().text(), sign);
        }
        Token name = in.peek();
        if (name.kind() != Kind.NAME) {
            return in.argument();
        }
        int start = in.position();
        in.take();
        switch (name.text()) {
            case "trace_seq_printf", "trace_seq_puts", "trace_seq_putc" -> {
                return print(name.text());
            }
            case "trace_seq_buffer_ptr" -> {
                in.skipBracket();
                return new Printed(state.printed.size());
            }
            default -> {
                // An assignment or an expression that begins with a name.
            }
        }
        Variable variable = variable(name.text());
        if (variable != null) {
            Token sign = in.peek();
            if (sign.is("++") || sign.is("--")) {
                return counted(name.text(), in.take().text());
            }
            if (in.takes(".")) {
                String member = in.take().text();
                if (in.takes("=")) {
                    return assignMember(name.text(), variable, member);
                }
            } else if (sign.kind() == Kind.SIGN && isAssignment(sign.text())) {
                return assign(name.text(), variable, in.take().text());
            }
        }
        in.seek(start);
        return in.argument();
    }

    private static boolean isAssignment(String sign) {
        return switch (sign) {
            case "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=" -> true;
            default -> false;
        };
    }

    private Expression counted(String name, String sign) throws UnsupportedPrintException {
        Variable variable = variable(name);
        if (variable == null || !(variable.value instanceof Value value)) {
            throw PrintParser.unsupported(name + sign);
        }
        Operator operator = sign.equals("++") ? Operator.PLUS : Operator.MINUS;
        Value sum = PrintParser.joined(operator, value, new Constant(1, CType.INT));
        Expression now = converted(variable, sum);
        state.variables.put(name, variable.with(now, checked(variable.cost + 1)));
        return now;
    }

    private Expression assign(String name, Variable variable, String sign)
            throws UnsupportedPrintException {
        long cost = in.cost();
        Expression value = rightSide();
        long total = in.cost() - cost;
        if (!sign.equals("=")) {
            Operator operator = PrintParser.operator(sign.substring(0, sign.length() - 1));
            if (operator == null || !(variable.value instanceof Value old)) {
                throw PrintParser.unsupported(name + " " + sign);
            }
            value = PrintParser.joined(operator, old, PrintParser.value(value));
            total += variable.cost;
        }
        Expression now = converted(variable, value);
        state.variables.put(name, variable.with(now, checked(total)));
        return now;
    }

    private Expression assignMember(String name, Variable variable, String member)
            throws UnsupportedPrintException {
        CLayout layout = variable.layout;
        if (layout == null) {
            throw PrintParser.unsupported(name + "." + member);
        }
        long cost = in.cost();
        Value value = PrintParser.value(rightSide());
        Expression old = variable.value;
        Value all =
                old instanceof Value before ? before : new Constant(0, CType.UNSIGNED_LONG_LONG);
        Expression now = layout.with(all, member, value, in.context().isBigEndian());
        long total = in.cost() - cost + variable.cost;
        state.variables.put(name, variable.with(now, checked(total)));
        return value;
    }

    /** What is assigned: {@code trace_seq_buffer_ptr(p)} stands there too. */
    private Expression rightSide() throws UnsupportedPrintException {
        if (in.peek().is("trace_seq_buffer_ptr")) {
            in.take();
            in.skipBracket();
            return new Printed(state.printed.size());
        }
        return in.argument();
    }

    private Expression print(String function) throws UnsupportedPrintException {
        in.expect("(");
        in.argument();
        in.expect(",");
        List<Expression> arguments = new ArrayList<>();
        String format = "%c";
        if (function.endsWith("f")) {
            format = in.literal();
        } else {
            format = function.endsWith("s") ? "%s" : "%c";
            arguments.add(in.argument());
        }
        while (in.takes(",")) {
            arguments.add(in.argument());
        }
        in.expect(")");
        List<Conversion> pieces = new PrintFormat.FormatString(format, arguments, in).pieces();
        state.printed.add(new Text.Formatted(List.copyOf(pieces)));
        return new Constant(0, CType.INT);
    }
}
