package sonde.recording.ftrace;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.recording.ftrace.PrintArgument.JoinedTexts;
import sonde.recording.ftrace.PrintExpression.BinaryExpression;
import sonde.recording.ftrace.PrintExpression.ConstantExpression;
import sonde.recording.ftrace.PrintExpression.ListedArray;
import sonde.recording.ftrace.PrintExpression.NumberExpression;
import sonde.recording.ftrace.PrintExpression.PrintOperator;
import sonde.recording.ftrace.PrintLexer.Kind;
import sonde.recording.ftrace.PrintLexer.PrintToken;

/**
 * GCC's statement expressions, <code>({ int x = REC-&gt;a; x &lt; 5 ? x : 5; })</code>, turned into
 * one expression: a variable is what was last assigned to it, {@code if} and {@code switch} become
 * choices, loops are unrolled, {@code trace_seq_printf} adds to a text. Nothing is left to be
 * remembered while rows are written, so any thread may write them.
 */
final class StatementExpressions {
    /** Statements run over all loops; the rounds of one loop. */
    private static final int MOST_STATEMENTS = 4000;

    private static final int MOST_ROUNDS = 128;

    /** Rounds of a loop that only the event ends; what comes behind them is not shown. */
    private static final int MOST_OPEN_ROUNDS = 64;

    /** Reads of fields that the variables of a format may stand for. */
    private static final long MOST_COST = 50_000;

    private final PrintParser in;
    private final @Nullable StatementExpressions outer;
    private StatementState state = new StatementState();
    private int executed;

    /**
     * A variable.
     *
     * @param type null for texts and arrays
     * @param layout of a union or struct, whose {@code value} is all of its bytes
     * @param cost of evaluating it, in names and numbers
     */
    record StatementVariable(
            @Nullable CIntegerType type,
            @Nullable PackedStruct layout,
            @Nullable PrintExpression value,
            long cost) {
        StatementVariable with(PrintExpression newValue, long newCost) {
            return new StatementVariable(type, layout, newValue, newCost);
        }
    }

    /** What is known between two statements. */
    private static final class StatementState {
        final Map<String, StatementVariable> variables = new HashMap<>();
        final List<PrintArgument> printed = new ArrayList<>();

        /** A {@code break} was met: the rest up to its switch or loop does not run. */
        boolean ended;

        StatementState copy() {
            StatementState copy = new StatementState();
            copy.variables.putAll(variables);
            copy.printed.addAll(printed);
            copy.ended = ended;
            return copy;
        }
    }

    /** What {@code trace_seq_buffer_ptr} gives: all that is printed from there on. */
    record PrintedSoFar(int from) implements PrintExpression {}

    /**
     * @param outer the statements around these; null for none
     */
    StatementExpressions(PrintParser in, @Nullable StatementExpressions outer) {
        this.in = in;
        this.outer = outer;
    }

    /** The variable of that name; null for none. */
    @Nullable StatementVariable variable(String name) {
        StatementVariable variable = state.variables.get(name);
        return variable == null && outer != null ? outer.variable(name) : variable;
    }

    /** Runs what stands behind <code>({</code> up to <code>})</code>; the last one's value. */
    PrintExpression run() throws UnsupportedPrintException {
        PrintExpression last = null;
        while (!in.peek().is("}")) {
            last = statement();
        }
        in.expect("}");
        in.expect(")");
        if (last instanceof PrintedSoFar printed) {
            List<PrintArgument> texts = state.printed;
            return new JoinedTexts(List.copyOf(texts.subList(printed.from, texts.size())));
        }
        if (last == null) {
            throw PrintParser.unsupported("statements without a value");
        }
        return last;
    }

    /** Runs one statement; the value of an expression, else null. */
    private @Nullable PrintExpression statement() throws UnsupportedPrintException {
        if (++executed > MOST_STATEMENTS) {
            throw PrintParser.unsupported("too many statements");
        }
        in.enter();
        try {
            PrintToken token = in.peek();
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
                    PrintExpression value = list(";");
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

    private NumberExpression condition() throws UnsupportedPrintException {
        in.expect("(");
        NumberExpression condition = in.number();
        in.expect(")");
        return condition;
    }

    private void branches() throws UnsupportedPrintException {
        in.take();
        NumberExpression condition = condition();
        StatementState before = state;
        int start = in.position();
        StatementState yes = before.copy();
        state = yes;
        if (isFalse(condition)) {
            skipStatement();
        } else {
            statement();
        }
        yes = state;
        StatementState no = before.copy();
        if (in.takes("else")) {
            state = no;
            if (condition instanceof ConstantExpression && !isFalse(condition)) {
                skipStatement();
            } else {
                statement();
            }
            no = state;
        }
        if (condition instanceof ConstantExpression) {
            state = isFalse(condition) ? no : yes;
            return;
        }
        if (yes.ended || no.ended) {
            throw PrintParser.unsupported("break at " + start);
        }
        state = merged(condition, yes, no);
    }

    private static boolean isFalse(NumberExpression condition) {
        return condition instanceof ConstantExpression constant && constant.value() == 0;
    }

    /** A group of labels and where the statements behind them begin. */
    private record Case(@Nullable NumberExpression condition, int position) {}

    private void cases() throws UnsupportedPrintException {
        in.take();
        in.expect("(");
        NumberExpression value = in.number();
        in.expect(")");
        in.expect("{");
        List<Case> cases = new ArrayList<>();
        boolean fallback = false;
        NumberExpression condition = null;
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
        StatementState before = state;
        StatementState result = before.copy();
        for (Case one : cases) {
            if (one.condition == null) {
                result = runFrom(one.position, before);
            }
        }
        for (int i = cases.size() - 1; i >= 0; i--) {
            NumberExpression when = cases.get(i).condition;
            if (when != null && !isFalse(when)) {
                result = merged(when, runFrom(cases.get(i).position, before), result);
            }
        }
        state = result;
        in.seek(end);
        in.expect("}");
    }

    private static NumberExpression or(@Nullable NumberExpression a, NumberExpression b) {
        return a == null
                ? b
                : new BinaryExpression(PrintOperator.OR, a, b, CIntegerType.INT, false);
    }

    /** Runs the statements of a switch from there to a break or its end, labels passed over. */
    private StatementState runFrom(int position, StatementState before)
            throws UnsupportedPrintException {
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
        NumberExpression condition =
                loop.counted && in.peek().is(";")
                        ? new ConstantExpression(1, CIntegerType.INT)
                        : in.number();
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
        boolean open = !(condition instanceof ConstantExpression);
        if (open && ++loop.openRounds > MOST_OPEN_ROUNDS) {
            state = state.copy();
            state.printed.add(
                    new PrintArgument.TextChoice(
                            condition, PrintArgument.literal("…"), PrintArgument.literal("")));
            return;
        }
        in.enter();
        StatementState before = state;
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
        PrintToken first = in.peek();
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
    private StatementState merged(NumberExpression condition, StatementState yes, StatementState no)
            throws UnsupportedPrintException {
        StatementState merged = no.copy();
        for (Map.Entry<String, StatementVariable> entry : yes.variables.entrySet()) {
            StatementVariable a = entry.getValue();
            StatementVariable b = no.variables.get(entry.getKey());
            PrintExpression x = a.value;
            PrintExpression y = b == null ? null : b.value;
            if (x == null || isSame(x, y)) {
                continue;
            }
            // A variable that one way leaves alone has no value there that could be used.
            StatementVariable both = a;
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
            PrintArgument a =
                    new JoinedTexts(List.copyOf(yes.printed.subList(same, yes.printed.size())));
            PrintArgument b =
                    new JoinedTexts(List.copyOf(no.printed.subList(same, no.printed.size())));
            merged.printed.subList(same, merged.printed.size()).clear();
            merged.printed.add(new PrintArgument.TextChoice(condition, a, b));
        }
        return merged;
    }

    @SuppressWarnings("ReferenceEquality") // the very same node: nothing was assigned
    private static boolean isSame(PrintExpression a, @Nullable PrintExpression b) {
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
        PackedStruct layout = union || base.equals("struct") ? in.types().layout(union) : null;
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
            CIntegerType type =
                    pointer || array || layout != null ? null : in.types().integerType(base);
            StatementVariable variable =
                    new StatementVariable(type, pointer ? null : layout, null, 0);
            if (in.takes("=")) {
                long cost = in.cost();
                PrintExpression value =
                        array ? table(base, pointer) : converted(variable, rightSide());
                variable = variable.with(value, checked(in.cost() - cost));
            }
            state.variables.put(name, variable);
        } while (in.takes(","));
        in.expect(";");
    }

    private ListedArray table(String base, boolean pointer) throws UnsupportedPrintException {
        in.expect("{");
        List<PrintExpression> elements = new ArrayList<>();
        while (!in.takes("}")) {
            if (in.takes("[")) {
                throw PrintParser.unsupported("elements with an index");
            }
            elements.add(in.argument());
            if (!in.peek().is("}")) {
                in.expect(",");
            }
        }
        return new ListedArray(
                List.copyOf(elements), pointer ? CIntegerType.INT : in.types().integerType(base));
    }

    private static PrintExpression converted(StatementVariable variable, PrintExpression value) {
        CIntegerType type = variable.type;
        return type != null && value instanceof NumberExpression number
                ? PrintParser.cast(number, type)
                : value;
    }

    /** Expressions with commas between, up to {@code end}; the value of the last. */
    private PrintExpression list(String end) throws UnsupportedPrintException {
        PrintExpression value = new ConstantExpression(0, CIntegerType.INT);
        while (!in.peek().is(end)) {
            value = assignment();
            if (!in.takes(",")) {
                break;
            }
        }
        return value;
    }

    private PrintExpression assignment() throws UnsupportedPrintException {
        if (in.peek().is("++") || in.peek().is("--")) {
            String sign = in.take().text();
            return counted(in.take().text(), sign);
        }
        PrintToken name = in.peek();
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
                return new PrintedSoFar(state.printed.size());
            }
            default -> {
                // An assignment or an expression that begins with a name.
            }
        }
        StatementVariable variable = variable(name.text());
        if (variable != null) {
            PrintToken sign = in.peek();
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

    private PrintExpression counted(String name, String sign) throws UnsupportedPrintException {
        StatementVariable variable = variable(name);
        if (variable == null || !(variable.value instanceof NumberExpression value)) {
            throw PrintParser.unsupported(name + sign);
        }
        PrintOperator operator = sign.equals("++") ? PrintOperator.PLUS : PrintOperator.MINUS;
        NumberExpression sum =
                PrintParser.joined(operator, value, new ConstantExpression(1, CIntegerType.INT));
        PrintExpression now = converted(variable, sum);
        state.variables.put(name, variable.with(now, checked(variable.cost + 1)));
        return now;
    }

    private PrintExpression assign(String name, StatementVariable variable, String sign)
            throws UnsupportedPrintException {
        long cost = in.cost();
        PrintExpression value = rightSide();
        long total = in.cost() - cost;
        if (!sign.equals("=")) {
            PrintOperator operator = PrintParser.operator(sign.substring(0, sign.length() - 1));
            if (operator == null || !(variable.value instanceof NumberExpression old)) {
                throw PrintParser.unsupported(name + " " + sign);
            }
            value = PrintParser.joined(operator, old, PrintParser.value(value));
            total += variable.cost;
        }
        PrintExpression now = converted(variable, value);
        state.variables.put(name, variable.with(now, checked(total)));
        return now;
    }

    private PrintExpression assignMember(String name, StatementVariable variable, String member)
            throws UnsupportedPrintException {
        PackedStruct layout = variable.layout;
        if (layout == null) {
            throw PrintParser.unsupported(name + "." + member);
        }
        long cost = in.cost();
        NumberExpression value = PrintParser.value(rightSide());
        PrintExpression old = variable.value;
        NumberExpression all =
                old instanceof NumberExpression before
                        ? before
                        : new ConstantExpression(0, CIntegerType.UNSIGNED_LONG_LONG);
        PrintExpression now = layout.with(all, member, value, in.context().isBigEndian());
        long total = in.cost() - cost + variable.cost;
        state.variables.put(name, variable.with(now, checked(total)));
        return value;
    }

    /** What is assigned: {@code trace_seq_buffer_ptr(p)} stands there too. */
    private PrintExpression rightSide() throws UnsupportedPrintException {
        if (in.peek().is("trace_seq_buffer_ptr")) {
            in.take();
            in.skipBracket();
            return new PrintedSoFar(state.printed.size());
        }
        return in.argument();
    }

    private PrintExpression print(String function) throws UnsupportedPrintException {
        in.expect("(");
        in.argument();
        in.expect(",");
        List<PrintExpression> arguments = new ArrayList<>();
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
        List<PrintConversion> pieces = new PrintFmt.FormatString(format, arguments, in).pieces();
        state.printed.add(new PrintArgument.Formatted(List.copyOf(pieces)));
        return new ConstantExpression(0, CIntegerType.INT);
    }
}
