package sonde.format.ftrace;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.IntegerField;
import sonde.format.ftrace.Expression.Binary;
import sonde.format.ftrace.Expression.Cast;
import sonde.format.ftrace.Expression.Choice;
import sonde.format.ftrace.Expression.Constant;
import sonde.format.ftrace.Expression.Element;
import sonde.format.ftrace.Expression.FieldValue;
import sonde.format.ftrace.Expression.Operator;
import sonde.format.ftrace.Expression.Place;
import sonde.format.ftrace.Expression.Unary;
import sonde.format.ftrace.Expression.Value;
import sonde.format.ftrace.PrintLexer.Kind;
import sonde.format.ftrace.PrintLexer.Token;

/** The C expressions of a {@code print fmt}, by recursive descent. */
final class PrintParser {
    // The deepest of the 6.18 kernel's formats nests 34 parentheses.
    private static final int DEEPEST = 200;
    private static final Set<String> TYPE_WORDS =
            Set.of(
                    "unsigned",
                    "signed",
                    "const",
                    "struct",
                    "union",
                    "enum",
                    "void",
                    "char",
                    "short",
                    "int",
                    "long",
                    "bool",
                    "_Bool",
                    "volatile",
                    "__force",
                    "typeof",
                    "__typeof__");

    private final EventType type;
    private final TextContext context;
    private final List<Token> tokens;
    private int at;
    private int depth;
    private boolean unresolved;

    PrintParser(EventType type, TextContext context, List<Token> tokens) {
        this.type = type;
        this.context = context;
        this.tokens = tokens;
    }

    TextContext context() {
        return context;
    }

    Token peek() {
        return tokens.get(at);
    }

    Token take() {
        Token token = tokens.get(at);
        if (token.kind() != Kind.END) {
            at++;
        }
        return token;
    }

    boolean takes(String sign) {
        if (peek().is(sign)) {
            at++;
            return true;
        }
        return false;
    }

    void expect(String sign) throws UnsupportedPrintException {
        if (!takes(sign)) {
            throw unsupported(peek().text() + " where " + sign + " was expected");
        }
    }

    static UnsupportedPrintException unsupported(String what) {
        return new UnsupportedPrintException(what);
    }

    /** Whether a name was met since the last call whose value only the kernel knows. */
    boolean wasUnresolved() {
        boolean was = unresolved;
        unresolved = false;
        return was;
    }

    /** One argument: up to a comma, a closing bracket or the end. */
    Expression argument() throws UnsupportedPrintException {
        if (++depth > DEEPEST) {
            throw unsupported("nested too deep");
        }
        try {
            return conditional();
        } finally {
            depth--;
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
        };
    }

    private Expression conditional() throws UnsupportedPrintException {
        Expression condition = binary(1);
        if (!takes("?")) {
            return condition;
        }
        Expression yes = argument();
        expect(":");
        Expression no = argument();
        if (condition instanceof Constant constant) {
            return constant.value() != 0 ? yes : no;
        }
        if (yes instanceof Value a && no instanceof Value b) {
            return new Choice(value(condition), a, b, a.type().with(b.type()));
        }
        return new Text.TextChoice(value(condition), branch(yes), branch(no));
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
            at++;
            Expression right = binary(operator.precedence + 1);
            left = joined(operator, value(left), value(right));
        }
    }

    private @Nullable Operator operator() {
        Token token = peek();
        if (token.kind() != Kind.SIGN) {
            return null;
        }
        for (Operator operator : Operator.ALL) {
            if (operator.spelling.equals(token.text())) {
                return operator;
            }
        }
        return null;
    }

    private static Value joined(Operator operator, Value left, Value right) {
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
        if (++depth > DEEPEST) {
            throw unsupported("nested too deep");
        }
        try {
            Token token = peek();
            if (token.kind() == Kind.SIGN) {
                switch (token.text()) {
                    case "-", "~", "!" -> {
                        at++;
                        return applied(token.text().charAt(0), value(unary()));
                    }
                    case "+" -> {
                        at++;
                        return unary();
                    }
                    case "&" -> {
                        at++;
                        return address(unary());
                    }
                    case "*" -> {
                        at++;
                        return element(unary(), new Constant(0, CType.INT));
                    }
                    default -> {
                        return postfix(primary());
                    }
                }
            }
            return postfix(primary());
        } finally {
            depth--;
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
            } else if (takes("[")) {
                Value index = number();
                expect("]");
                expression = element(expression, index);
            } else {
                return expression;
            }
        }
    }

    private static Expression element(Expression array, Value index)
            throws UnsupportedPrintException {
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
        return switch (token.kind()) {
            case NUMBER -> integer(token.text());
            case CHARACTER -> {
                byte[] character = CString.unescape(token.text());
                yield new Constant(character.length == 0 ? 0 : character[0], CType.INT);
            }
            case STRING -> {
                StringBuilder literal = new StringBuilder(token.text());
                while (peek().kind() == Kind.STRING) {
                    literal.append(take().text());
                }
                yield new Text.Literal(CString.unescape(literal.toString()));
            }
            case NAME -> named(token.text());
            case SIGN -> {
                if (!token.is("(") || peek().is("{")) {
                    throw unsupported(token.text());
                }
                yield parenthesised();
            }
            case END -> throw unsupported("the end");
        };
    }

    private Expression named(String name) throws UnsupportedPrintException {
        if (name.equals("REC")) {
            return new Expression.Record();
        }
        if (peek().is("(")) {
            at++;
            return PrintFunctions.call(this, name);
        }
        Long known = PrintFunctions.constant(name);
        // A variable of the kernel (vmemmap_base) or an enumerator it did not resolve: trace-cmd
        // takes 0, so the rest of the text still tells something.
        unresolved |= known == null;
        return new Constant(known == null ? 0 : known, CType.INT);
    }

    private Expression parenthesised() throws UnsupportedPrintException {
        if (!isCast()) {
            Expression inner = argument();
            expect(")");
            return inner;
        }
        String name = typeName();
        expect(")");
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
        CType type = new CType(bytes, unsigned);
        return value instanceof Constant constant
                ? new Constant(type.wrap(constant.value()), type)
                : new Cast(value, type);
    }

    /** After an opening bracket: whether a type name stands in it. */
    private boolean isCast() {
        Token first = peek();
        if (first.kind() != Kind.NAME || first.is("REC")) {
            return false;
        }
        if (TYPE_WORDS.contains(first.text())) {
            return true;
        }
        int i = at + 1;
        while (tokens.get(i).is("*")) {
            i++;
        }
        if (!tokens.get(i).is(")")) {
            return false;
        }
        Token next = tokens.get(Math.min(i + 1, tokens.size() - 1));
        return next.is("(") || next.kind() == Kind.NAME || next.kind() == Kind.NUMBER;
    }

    /** Reads up to the closing bracket, which stays. */
    String typeName() throws UnsupportedPrintException {
        StringBuilder name = new StringBuilder();
        int open = 0;
        while (open > 0 || !peek().is(")")) {
            Token token = take();
            if (token.kind() == Kind.END) {
                throw unsupported("a type that does not end");
            }
            open += token.is("(") ? 1 : token.is(")") ? -1 : 0;
            name.append(name.isEmpty() ? "" : " ").append(token.text());
        }
        return name.toString();
    }

    /** Skips to the bracket that closes the call, and over it. */
    void skipCall() throws UnsupportedPrintException {
        typeName();
        expect(")");
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
