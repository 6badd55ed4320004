package sonde.recording.ftrace;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.IntegerField;
import sonde.recording.ftrace.Expression.Binary;
import sonde.recording.ftrace.Expression.Cast;
import sonde.recording.ftrace.Expression.Choice;
import sonde.recording.ftrace.Expression.Constant;
import sonde.recording.ftrace.Expression.Element;
import sonde.recording.ftrace.Expression.FieldValue;
import sonde.recording.ftrace.Expression.Operator;
import sonde.recording.ftrace.Expression.Place;
import sonde.recording.ftrace.Expression.Unary;
import sonde.recording.ftrace.Expression.Value;
import sonde.recording.ftrace.PrintLexer.Kind;
import sonde.recording.ftrace.PrintLexer.Token;

/** The C expressions of a {@code print fmt}, by recursive descent. */
final class PrintParser extends TokenReader {
    private final EventType type;
    private final TextContext context;
    private final TypeNames types = new TypeNames(this);
    private long cost;
    private boolean unresolved;
    private @Nullable String opaque;
    private @Nullable Statements scope;

    PrintParser(EventType type, TextContext context, List<Token> tokens) {
        super(tokens);
        this.type = type;
        this.context = context;
    }

    /** The types that stand in the format. */
    TypeNames types() {
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
    Expression argument() throws UnsupportedPrintException {
        enter();
        try {
            return conditional();
        } finally {
            leave();
        }
    }

    /** An argument that must be a number. */
    Value number() throws UnsupportedPrintException {
        return value(argument());
    }

    static Value value(Expression expression) throws UnsupportedPrintException {
        if (expression instanceof Value value) {
            return value;
        }
        throw unsupported("a text or an array stands for a number");
    }

    /** What {@code %s} or a branch of {@code ?:} makes of an expression; null when no text. */
    @Nullable Text text(Expression expression) {
        return switch (expression) {
            case Text text -> text;
            case Place place -> new Text.Characters(place);
            case Value ignored -> null;
            case Expression.Record ignored -> null;
            case Expression.Table ignored -> null;
            case Expression.Aggregate ignored -> null;
            case Statements.Printed ignored -> null;
        };
    }

    private Expression conditional() throws UnsupportedPrintException {
        Expression condition = binary(1);
        if (!takes("?")) {
            return condition;
        }
        String before = opaque;
        // GNU's "a ?: b": the condition is the value too.
        Expression yes = peek().is(":") ? condition : argument();
        expect(":");
        String between = opaque;
        Expression no = argument();
        if (condition instanceof Constant constant) {
            // What is not chosen may be beyond us.
            boolean first = constant.value() != 0;
            opaque = first ? between : before == null && between != null ? null : opaque;
            return first ? yes : no;
        }
        // An array or a string of the event always has an address.
        boolean address = condition instanceof Text || condition instanceof Place;
        return address ? yes : choice(value(condition), yes, no);
    }

    /** One of two, as the row decides. */
    Expression choice(Value condition, Expression yes, Expression no)
            throws UnsupportedPrintException {
        if (yes instanceof Value a && no instanceof Value b) {
            return new Choice(condition, a, b, a.type().with(b.type()));
        }
        return new Text.TextChoice(condition, branch(yes), branch(no));
    }

    private Text branch(Expression expression) throws UnsupportedPrintException {
        Text text = text(expression);
        if (text != null) {
            return text;
        }
        if (expression instanceof Constant) {
            return Text.literal("(null)");
        }
        return new Text.Pointed(value(expression), context);
    }

    private Expression binary(int least) throws UnsupportedPrintException {
        Expression left = unary();
        while (true) {
            Operator operator = operator();
            if (operator == null || operator.precedence < least) {
                return left;
            }
            take();
            Expression right = binary(operator.precedence + 1);
            left = joined(operator, value(left), value(right));
        }
    }

    private @Nullable Operator operator() {
        Token token = peek();
        return token.kind() == Kind.SIGN ? operator(token.text()) : null;
    }

    static @Nullable Operator operator(String spelling) {
        for (Operator operator : Operator.ALL) {
            if (operator.spelling.equals(spelling)) {
                return operator;
            }
        }
        return null;
    }

    /** Whether two numbers are equal. */
    Value equal(Value a, Value b) {
        return joined(Operator.EQUAL, a, b);
    }

    static Value joined(Operator operator, Value left, Value right) {
        CType operands =
                operator.isShift() ? left.type().promoted() : left.type().with(right.type());
        CType result = operator.isComparison() ? CType.INT : operands;
        Value joined = new Binary(operator, left, right, result, operands.unsigned());
        return left instanceof Constant a && right instanceof Constant b
                ? new Constant(
                        result.wrap(operator.apply(a.value(), b.value(), operands.unsigned())),
                        result)
                : joined;
    }

    private Expression unary() throws UnsupportedPrintException {
        enter();
        try {
            Token token = peek();
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
                        return element(unary(), new Constant(0, CType.INT));
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

    private static Value applied(char operator, Value operand) {
        CType type = operator == '!' ? CType.INT : operand.type().promoted();
        Value applied = new Unary(operator, operand, type);
        return operand instanceof Constant constant
                ? new Constant(
                        switch (operator) {
                            case '-' -> type.wrap(-constant.value());
                            case '~' -> type.wrap(~constant.value());
                            default -> constant.value() == 0 ? 1 : 0;
                        },
                        type)
                : applied;
    }

    /** {@code &REC->f}, {@code &REC->f[0]}: the bytes themselves. */
    private static Expression address(Expression of) throws UnsupportedPrintException {
        return switch (of) {
            case Place place -> place;
            case FieldValue field -> new Place(field.field(), field.field().sizeBytes(), false);
            case Element element
                    when element.index() instanceof Constant index && index.value() == 0 ->
                    element.array();
            default -> throw unsupported("an address");
        };
    }

    private Expression postfix(Expression start) throws UnsupportedPrintException {
        Expression expression = start;
        while (true) {
            if (takes("->")) {
                if (!(expression instanceof Expression.Record)) {
                    throw unsupported("a pointer is followed");
                }
                expression = field(take().text());
            } else if (peek().is(".") && expression instanceof Expression.Aggregate whole) {
                take();
                String member = take().text();
                expression = whole.layout().of(whole.value(), member, context.isBigEndian());
            } else if (takes("[")) {
                Value index = number();
                expect("]");
                expression = element(expression, index);
            } else {
                return expression;
            }
        }
    }

    private Expression element(Expression array, Value index) throws UnsupportedPrintException {
        if (array instanceof Expression.Table table) {
            return picked(table, index);
        }
        if (!(array instanceof Place place)) {
            if (array instanceof Text.Characters characters) {
                return element(characters.place(), index);
            }
            throw unsupported("an index on no array");
        }
        int bytes = place.elementBytes();
        if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
            throw unsupported("an array of structs");
        }
        return new Element(place, index, bytes, new CType(bytes, !place.signed()));
    }

    /** An element of an array that the format itself lists; 0 or nothing beyond its end. */
    private static Expression picked(Expression.Table table, Value index)
            throws UnsupportedPrintException {
        List<Expression> elements = table.elements();
        if (index instanceof Constant constant) {
            long i = constant.value();
            if (i >= 0 && i < elements.size()) {
                return elements.get((int) i);
            }
            throw unsupported("an index beyond the array");
        }
        if (elements.stream().allMatch(Text.class::isInstance)) {
            return new Text.Picked(index, elements.stream().map(Text.class::cast).toList());
        }
        CType type = table.type();
        if (type != null && elements.stream().allMatch(Value.class::isInstance)) {
            List<Value> values = elements.stream().map(Value.class::cast).toList();
            return new Expression.Picked(index, values, type);
        }
        throw unsupported("an array of several types");
    }

    Expression field(String name) throws UnsupportedPrintException {
        Field field = type.field(name).orElseThrow(() -> unsupported("no field " + name));
        if (field.kind() == Field.Kind.INTEGER) {
            CType integer = new CType(field.sizeBytes(), !field.signed());
            return new FieldValue(field, IntegerField.of(field), integer);
        }
        return place(field);
    }

    /** The dynamic array that {@code __get_str(name)} and its kin mean. */
    Place place(String name) throws UnsupportedPrintException {
        return place(type.field(name).orElseThrow(() -> unsupported("no field " + name)));
    }

    private static Place place(Field field) {
        return new Place(field, Math.max(1, field.elementBytes()), field.signed());
    }

    private Expression primary() throws UnsupportedPrintException {
        Token token = take();
        cost++;
        return switch (token.kind()) {
            case NUMBER -> integer(token.text());
            case CHARACTER -> {
                byte[] character = CString.unescape(token.text());
                yield new Constant(character.length == 0 ? 0 : character[0], CType.INT);
            }
            case STRING -> {
                seek(position() - 1);
                yield new Text.Literal(CString.unescape(literal()));
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

    private Expression statements() throws UnsupportedPrintException {
        Statements outer = scope;
        Statements inner = new Statements(this, outer);
        scope = inner;
        try {
            return inner.run();
        } finally {
            scope = outer;
        }
    }

    private Expression variable(String name, Statements.Variable variable)
            throws UnsupportedPrintException {
        Expression value = variable.value();
        if (value == null) {
            throw unsupported(name + " before it is set");
        }
        cost += variable.cost();
        return variable.layout() != null && value instanceof Value all
                ? new Expression.Aggregate(all, variable.layout())
                : value;
    }

    /** A function that only the kernel has: fine as long as its value is not asked for. */
    Expression opaque(String function) throws UnsupportedPrintException {
        skipCall();
        opaque = opaque == null ? function + "()" : opaque;
        return new Constant(0, CType.INT);
    }

    private Expression named(String name) throws UnsupportedPrintException {
        Statements.Variable variable = scope == null ? null : scope.variable(name);
        if (variable != null) {
            return variable(name, variable);
        }
        if (name.equals("REC")) {
            return new Expression.Record();
        }
        if (peek().is("(")) {
            take();
            return PrintFunctions.call(this, name);
        }
        Long known = PrintFunctions.constant(name);
        // A variable of the kernel (vmemmap_base) or an enumerator it did not resolve: trace-cmd
        // takes 0, so the rest of the text still tells something.
        unresolved |= known == null;
        return new Constant(known == null ? 0 : known, CType.INT);
    }

    private Expression parenthesised() throws UnsupportedPrintException {
        if (!types.isCast()) {
            Expression inner = argument();
            expect(")");
            return inner;
        }
        String name = types.typeName();
        expect(")");
        if (peek().is("{")) {
            return compound(name);
        }
        Expression operand = unary();
        boolean pointer = name.endsWith("*");
        if (operand instanceof Place place) {
            if (!pointer) {
                return operand;
            }
            String target = name.substring(0, name.length() - 1).strip();
            int bytes = CTypes.sizeBytes(target, context.longBytes(), place.elementBytes());
            return new Place(place.field(), bytes, !CTypes.isUnsigned(target));
        }
        if (!(operand instanceof Value value)) {
            return operand;
        }
        int bytes = CTypes.sizeBytes(name, context.longBytes(), value.type().sizeBytes());
        boolean unsigned = pointer || CTypes.isUnsigned(name);
        if (name.equals("bool") || name.equals("_Bool")) {
            return applied('!', applied('!', value));
        }
        return cast(value, new CType(bytes, unsigned));
    }

    /** {@code (ktime_t) { .tv64 = REC->now }}: a struct around one number. */
    private Expression compound(String name) throws UnsupportedPrintException {
        expect("{");
        String member = takes(".") ? take().text() : "";
        if (!member.isEmpty()) {
            expect("=");
        }
        Value value = number();
        takes(",");
        if (!takes("}")) {
            throw unsupported("a struct of type " + name);
        }
        CLayout layout = new CLayout(true);
        layout.add(member, CType.LONG_LONG, -1);
        return member.isEmpty() ? value : new Expression.Aggregate(value, layout);
    }

    static Value cast(Value value, CType type) {
        return value instanceof Constant constant
                ? new Constant(type.wrap(constant.value()), type)
                : new Cast(value, type);
    }

    private static Constant integer(String text) throws UnsupportedPrintException {
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
            CType narrow = unsigned || high ? CType.UNSIGNED : CType.INT;
            if (!wide && value > Integer.MAX_VALUE && narrow.equals(CType.INT)) {
                wide = true;
            }
            CType broad = unsigned || value < 0 ? CType.UNSIGNED_LONG_LONG : CType.LONG_LONG;
            return new Constant(value, wide ? broad : narrow);
        } catch (NumberFormatException e) {
            throw unsupported(text);
        }
    }
}
