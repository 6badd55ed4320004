package sonde.recording.ftrace;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.IntegerField;
import sonde.recording.ftrace.PrintArgument.ConstantText;
import sonde.recording.ftrace.PrintArgument.PayloadText;
import sonde.recording.ftrace.PrintArgument.PickedText;
import sonde.recording.ftrace.PrintArgument.PointedText;
import sonde.recording.ftrace.PrintExpression.AggregateVariable;
import sonde.recording.ftrace.PrintExpression.BinaryExpression;
import sonde.recording.ftrace.PrintExpression.CastExpression;
import sonde.recording.ftrace.PrintExpression.ConditionalExpression;
import sonde.recording.ftrace.PrintExpression.ConstantExpression;
import sonde.recording.ftrace.PrintExpression.ElementExpression;
import sonde.recording.ftrace.PrintExpression.FieldValue;
import sonde.recording.ftrace.PrintExpression.ListedArray;
import sonde.recording.ftrace.PrintExpression.NumberExpression;
import sonde.recording.ftrace.PrintExpression.PayloadArray;
import sonde.recording.ftrace.PrintExpression.PrintOperator;
import sonde.recording.ftrace.PrintExpression.RecordReference;
import sonde.recording.ftrace.PrintExpression.TableElement;
import sonde.recording.ftrace.PrintExpression.UnaryExpression;
import sonde.recording.ftrace.PrintLexer.Kind;
import sonde.recording.ftrace.PrintLexer.PrintToken;
import sonde.recording.ftrace.StatementExpressions.PrintedSoFar;
import sonde.recording.ftrace.StatementExpressions.StatementVariable;

/** The C expressions of a {@code print fmt}, by recursive descent. */
final class PrintParser extends TokenReader {
    private final EventType type;
    private final TextContext context;
    private final PrintTypes types = new PrintTypes(this);
    private long cost;
    private boolean unresolved;
    private @Nullable String opaque;
    private @Nullable StatementExpressions scope;

    PrintParser(EventType type, TextContext context, List<PrintToken> tokens) {
        super(tokens);
        this.type = type;
        this.context = context;
    }

    /** The types that stand in the format. */
    PrintTypes types() {
        return types;
    }

    TextContext context() {
        return context;
    }

    /** Whether a name was met since the last call whose value only the kernel knows. */
    boolean wasUnresolved() {
        boolean was = unresolved;
        unresolved = false;
        return was;
    }

    /** What was called that only the kernel knows, and counts; null for nothing. */
    @Nullable String opaque() {
        return opaque;
    }

    /** Names and numbers read so far, those that variables stand for included. */
    long cost() {
        return cost;
    }

    /** One argument: up to a comma, a closing bracket or the end. */
    PrintExpression argument() throws UnsupportedPrintException {
        enter();
        try {
            return conditional();
        } finally {
            leave();
        }
    }

    /** An argument that must be a number. */
    NumberExpression number() throws UnsupportedPrintException {
        return value(argument());
    }

    static NumberExpression value(PrintExpression expression) throws UnsupportedPrintException {
        if (expression instanceof NumberExpression value) {
            return value;
        }
        throw unsupported("a text or an array stands for a number");
    }

    /** What {@code %s} or a branch of {@code ?:} makes of an expression; null when no text. */
    @Nullable PrintArgument text(PrintExpression expression) {
        return switch (expression) {
            case PrintArgument text -> text;
            case PayloadArray place -> new PayloadText(place);
            case NumberExpression ignored -> null;
            case RecordReference ignored -> null;
            case ListedArray ignored -> null;
            case AggregateVariable ignored -> null;
            case PrintedSoFar ignored -> null;
        };
    }

    private PrintExpression conditional() throws UnsupportedPrintException {
        PrintExpression condition = binary(1);
        if (!takes("?")) {
            return condition;
        }
        String before = opaque;
        // GNU's "a ?: b": the condition is the value too.
        PrintExpression yes = peek().is(":") ? condition : argument();
        expect(":");
        String between = opaque;
        PrintExpression no = argument();
        if (condition instanceof ConstantExpression constant) {
            // What is not chosen may be beyond us.
            boolean first = constant.value() != 0;
            opaque = first ? between : before == null && between != null ? null : opaque;
            return first ? yes : no;
        }
        // An array or a string of the event always has an address.
        boolean address = condition instanceof PrintArgument || condition instanceof PayloadArray;
        return address ? yes : choice(value(condition), yes, no);
    }

    /** One of two, as the row decides. */
    PrintExpression choice(NumberExpression condition, PrintExpression yes, PrintExpression no)
            throws UnsupportedPrintException {
        if (yes instanceof NumberExpression a && no instanceof NumberExpression b) {
            return new ConditionalExpression(condition, a, b, a.type().with(b.type()));
        }
        return new PrintArgument.TextChoice(condition, branch(yes), branch(no));
    }

    private PrintArgument branch(PrintExpression expression) throws UnsupportedPrintException {
        PrintArgument text = text(expression);
        if (text != null) {
            return text;
        }
        if (expression instanceof ConstantExpression) {
            return PrintArgument.literal("(null)");
        }
        return new PointedText(value(expression), context);
    }

    private PrintExpression binary(int least) throws UnsupportedPrintException {
        PrintExpression left = unary();
        while (true) {
            PrintOperator operator = operator();
            if (operator == null || operator.precedence < least) {
                return left;
            }
            take();
            PrintExpression right = binary(operator.precedence + 1);
            left = joined(operator, value(left), value(right));
        }
    }

    private @Nullable PrintOperator operator() {
        PrintToken token = peek();
        return token.kind() == Kind.SIGN ? operator(token.text()) : null;
    }

    static @Nullable PrintOperator operator(String spelling) {
        for (PrintOperator operator : PrintOperator.ALL) {
            if (operator.spelling.equals(spelling)) {
                return operator;
            }
        }
        return null;
    }

    /** Whether two numbers are equal. */
    NumberExpression equal(NumberExpression a, NumberExpression b) {
        return joined(PrintOperator.EQUAL, a, b);
    }

    static NumberExpression joined(
            PrintOperator operator, NumberExpression left, NumberExpression right) {
        CIntegerType operands =
                operator.isShift() ? left.type().promoted() : left.type().with(right.type());
        CIntegerType result = operator.isComparison() ? CIntegerType.INT : operands;
        NumberExpression joined =
                new BinaryExpression(operator, left, right, result, operands.unsigned());
        return left instanceof ConstantExpression a && right instanceof ConstantExpression b
                ? new ConstantExpression(
                        result.wrap(operator.apply(a.value(), b.value(), operands.unsigned())),
                        result)
                : joined;
    }

    private PrintExpression unary() throws UnsupportedPrintException {
        enter();
        try {
            PrintToken token = peek();
            if (token.kind() == Kind.SIGN) {
                switch (token.text()) {
                    case "-", "~", "!" -> {
                        take();
                        return applied(token.text().charAt(0), value(unary()));
                    }
                    case "+" -> {
                        take();
                        return unary();
                    }
                    case "&" -> {
                        take();
                        return address(unary());
                    }
                    case "*" -> {
                        take();
                        return element(unary(), new ConstantExpression(0, CIntegerType.INT));
                    }
                    default -> {
                        return postfix(primary());
                    }
                }
            }
            return postfix(primary());
        } finally {
            leave();
        }
    }

    private static NumberExpression applied(char operator, NumberExpression operand) {
        CIntegerType type = operator == '!' ? CIntegerType.INT : operand.type().promoted();
        NumberExpression applied = new UnaryExpression(operator, operand, type);
        return operand instanceof ConstantExpression constant
                ? new ConstantExpression(
                        switch (operator) {
                            case '-' -> type.wrap(-constant.value());
                            case '~' -> type.wrap(~constant.value());
                            default -> constant.value() == 0 ? 1 : 0;
                        },
                        type)
                : applied;
    }

    /** {@code &REC->f}, {@code &REC->f[0]}: the bytes themselves. */
    private static PrintExpression address(PrintExpression of) throws UnsupportedPrintException {
        return switch (of) {
            case PayloadArray place -> place;
            case FieldValue field ->
                    new PayloadArray(field.field(), field.field().sizeBytes(), false);
            case ElementExpression element
                    when element.index() instanceof ConstantExpression index
                            && index.value() == 0 ->
                    element.array();
            default -> throw unsupported("an address");
        };
    }

    private PrintExpression postfix(PrintExpression start) throws UnsupportedPrintException {
        PrintExpression expression = start;
        while (true) {
            if (takes("->")) {
                if (!(expression instanceof RecordReference)) {
                    throw unsupported("a pointer is followed");
                }
                expression = field(take().text());
            } else if (peek().is(".") && expression instanceof AggregateVariable whole) {
                take();
                String member = take().text();
                expression = whole.layout().of(whole.value(), member, context.isBigEndian());
            } else if (takes("[")) {
                NumberExpression index = number();
                expect("]");
                expression = element(expression, index);
            } else {
                return expression;
            }
        }
    }

    private PrintExpression element(PrintExpression array, NumberExpression index)
            throws UnsupportedPrintException {
        if (array instanceof ListedArray table) {
            return picked(table, index);
        }
        if (!(array instanceof PayloadArray place)) {
            if (array instanceof PayloadText characters) {
                return element(characters.place(), index);
            }
            throw unsupported("an index on no array");
        }
        int bytes = place.elementBytes();
        if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
            throw unsupported("an array of structs");
        }
        return new ElementExpression(place, index, bytes, new CIntegerType(bytes, !place.signed()));
    }

    /** An element of an array that the format itself lists; 0 or nothing beyond its end. */
    private static PrintExpression picked(ListedArray table, NumberExpression index)
            throws UnsupportedPrintException {
        List<PrintExpression> elements = table.elements();
        if (index instanceof ConstantExpression constant) {
            long i = constant.value();
            if (i >= 0 && i < elements.size()) {
                return elements.get((int) i);
            }
            throw unsupported("an index beyond the array");
        }
        if (elements.stream().allMatch(PrintArgument.class::isInstance)) {
            return new PickedText(index, elements.stream().map(PrintArgument.class::cast).toList());
        }
        CIntegerType type = table.type();
        if (type != null && elements.stream().allMatch(NumberExpression.class::isInstance)) {
            List<NumberExpression> values =
                    elements.stream().map(NumberExpression.class::cast).toList();
            return new TableElement(index, values, type);
        }
        throw unsupported("an array of several types");
    }

    PrintExpression field(String name) throws UnsupportedPrintException {
        Field field = type.field(name).orElseThrow(() -> unsupported("no field " + name));
        if (field.kind() == Field.Kind.INTEGER) {
            CIntegerType integer = new CIntegerType(field.sizeBytes(), !field.signed());
            return new FieldValue(field, IntegerField.stored(field), integer);
        }
        return place(field);
    }

    /** The dynamic array that {@code __get_str(name)} and its kin mean. */
    PayloadArray place(String name) throws UnsupportedPrintException {
        return place(type.field(name).orElseThrow(() -> unsupported("no field " + name)));
    }

    private static PayloadArray place(Field field) {
        return new PayloadArray(field, Math.max(1, field.elementBytes()), field.signed());
    }

    private PrintExpression primary() throws UnsupportedPrintException {
        PrintToken token = take();
        cost++;
        return switch (token.kind()) {
            case NUMBER -> integer(token.text());
            case CHARACTER -> {
                byte[] character = CString.unescape(token.text());
                yield new ConstantExpression(
                        character.length == 0 ? 0 : character[0], CIntegerType.INT);
            }
            case STRING -> {
                seek(position() - 1);
                yield new ConstantText(CString.unescape(literal()));
            }
            case NAME -> named(token.text());
            case SIGN -> {
                if (!token.is("(")) {
                    throw unsupported(token.text());
                }
                yield takes("{") ? statements() : parenthesised();
            }
            case END -> throw unsupported("the end");
        };
    }

    /** String literals one behind the other, escapes as they stand. */
    String literal() throws UnsupportedPrintException {
        if (peek().kind() != Kind.STRING) {
            throw unsupported(peek().text() + " where a string was expected");
        }
        StringBuilder literal = new StringBuilder();
        while (peek().kind() == Kind.STRING) {
            literal.append(take().text());
        }
        return literal.toString();
    }

    private PrintExpression statements() throws UnsupportedPrintException {
        StatementExpressions outer = scope;
        StatementExpressions inner = new StatementExpressions(this, outer);
        scope = inner;
        try {
            return inner.run();
        } finally {
            scope = outer;
        }
    }

    private PrintExpression variable(String name, StatementVariable variable)
            throws UnsupportedPrintException {
        PrintExpression value = variable.value();
        if (value == null) {
            throw unsupported(name + " before it is set");
        }
        cost += variable.cost();
        return variable.layout() != null && value instanceof NumberExpression all
                ? new AggregateVariable(all, variable.layout())
                : value;
    }

    /** A function that only the kernel has: fine as long as its value is not asked for. */
    PrintExpression opaque(String function) throws UnsupportedPrintException {
        skipCall();
        opaque = opaque == null ? function + "()" : opaque;
        return new ConstantExpression(0, CIntegerType.INT);
    }

    private PrintExpression named(String name) throws UnsupportedPrintException {
        StatementVariable variable = scope == null ? null : scope.variable(name);
        if (variable != null) {
            return variable(name, variable);
        }
        if (name.equals("REC")) {
            return new RecordReference();
        }
        if (peek().is("(")) {
            take();
            return PrintFunctions.call(this, name);
        }
        Long known = PrintFunctions.constant(name);
        // A variable of the kernel (vmemmap_base) or an enumerator it did not resolve: trace-cmd
        // takes 0, so the rest of the text still tells something.
        unresolved |= known == null;
        return new ConstantExpression(known == null ? 0 : known, CIntegerType.INT);
    }

    private PrintExpression parenthesised() throws UnsupportedPrintException {
        if (!types.isCast()) {
            PrintExpression inner = argument();
            expect(")");
            return inner;
        }
        String name = types.typeName();
        expect(")");
        if (peek().is("{")) {
            return compound(name);
        }
        PrintExpression operand = unary();
        boolean pointer = name.endsWith("*");
        if (operand instanceof PayloadArray place) {
            if (!pointer) {
                return operand;
            }
            String target = name.substring(0, name.length() - 1).strip();
            int bytes = CTypes.sizeBytes(target, context.longBytes(), place.elementBytes());
            return new PayloadArray(place.field(), bytes, !CTypes.isUnsigned(target));
        }
        if (!(operand instanceof NumberExpression value)) {
            return operand;
        }
        int bytes = CTypes.sizeBytes(name, context.longBytes(), value.type().sizeBytes());
        boolean unsigned = pointer || CTypes.isUnsigned(name);
        if (name.equals("bool") || name.equals("_Bool")) {
            return applied('!', applied('!', value));
        }
        return cast(value, new CIntegerType(bytes, unsigned));
    }

    /** {@code (ktime_t) { .tv64 = REC->now }}: a struct around one number. */
    private PrintExpression compound(String name) throws UnsupportedPrintException {
        expect("{");
        String member = takes(".") ? take().text() : "";
        if (!member.isEmpty()) {
            expect("=");
        }
        NumberExpression value = number();
        takes(",");
        if (!takes("}")) {
            throw unsupported("a struct of type " + name);
        }
        PackedStruct layout = new PackedStruct(true);
        layout.add(member, CIntegerType.LONG_LONG, -1);
        return member.isEmpty() ? value : new AggregateVariable(value, layout);
    }

    static NumberExpression cast(NumberExpression value, CIntegerType type) {
        return value instanceof ConstantExpression constant
                ? new ConstantExpression(type.wrap(constant.value()), type)
                : new CastExpression(value, type);
    }

    private static ConstantExpression integer(String text) throws UnsupportedPrintException {
        String digits = text.toLowerCase(java.util.Locale.ROOT);
        int end = digits.length();
        int longs = 0;
        boolean unsigned = false;
        while (end > 1 && (digits.charAt(end - 1) == 'u' || digits.charAt(end - 1) == 'l')) {
            unsigned |= digits.charAt(end - 1) == 'u';
            longs += digits.charAt(end - 1) == 'l' ? 1 : 0;
            end--;
        }
        digits = digits.substring(0, end);
        try {
            int radix = digits.startsWith("0x") ? 16 : digits.startsWith("0") ? 8 : 10;
            String bare = radix == 16 ? digits.substring(2) : digits;
            long value = Long.parseUnsignedLong(bare, radix);
            boolean wide = longs > 0 || value < 0 || value > 0xffff_ffffL;
            boolean high = value > Integer.MAX_VALUE && value <= 0xffff_ffffL && radix != 10;
            CIntegerType narrow = unsigned || high ? CIntegerType.UNSIGNED : CIntegerType.INT;
            if (!wide && value > Integer.MAX_VALUE && narrow.equals(CIntegerType.INT)) {
                wide = true;
            }
            CIntegerType broad =
                    unsigned || value < 0
                            ? CIntegerType.UNSIGNED_LONG_LONG
                            : CIntegerType.LONG_LONG;
            return new ConstantExpression(value, wide ? broad : narrow);
        } catch (NumberFormatException e) {
            throw unsupported(text);
        }
    }
}
