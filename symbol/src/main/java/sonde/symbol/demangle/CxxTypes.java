package sonde.symbol.demangle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.symbol.demangle.Node.Text;

/** Types and template arguments of the Itanium C++ ABI, 5.1.5. */
final class CxxTypes {
    private static final Map<Character, String> BUILTIN =
            Map.ofEntries(
                    Map.entry('v', "void"),
                    Map.entry('w', "wchar_t"),
                    Map.entry('b', "bool"),
                    Map.entry('c', "char"),
                    Map.entry('a', "signed char"),
                    Map.entry('h', "unsigned char"),
                    Map.entry('s', "short"),
                    Map.entry('t', "unsigned short"),
                    Map.entry('i', "int"),
                    Map.entry('j', "unsigned int"),
                    Map.entry('l', "long"),
                    Map.entry('m', "unsigned long"),
                    Map.entry('x', "long long"),
                    Map.entry('y', "unsigned long long"),
                    Map.entry('n', "__int128"),
                    Map.entry('o', "unsigned __int128"),
                    Map.entry('f', "float"),
                    Map.entry('d', "double"),
                    Map.entry('e', "long double"),
                    Map.entry('g', "__float128"),
                    Map.entry('z', "..."));
    private static final Map<Character, String> BUILTIN_D =
            Map.of(
                    'd', "decimal64",
                    'e', "decimal128",
                    'f', "decimal32",
                    'h', "half",
                    'i', "char32_t",
                    's', "char16_t",
                    'u', "char8_t",
                    'a', "auto",
                    'c', "decltype(auto)",
                    'n', "decltype(nullptr)");

    private final Cursor c;
    private final CxxNames names;
    private final CxxExpressions expressions;

    CxxTypes(Cursor cursor, CxxNames names) {
        this.c = cursor;
        this.names = names;
        this.expressions = new CxxExpressions(cursor, names, this);
    }

    Node type() {
        c.enter();
        Node type = anyType();
        c.leave();
        return type;
    }

    private Node anyType() {
        char first = c.peek();
        String builtin = BUILTIN.get(first);
        if (builtin != null) {
            c.next();
            return new Text(builtin);
        }
        return switch (first) {
            case 'r', 'V', 'K' -> c.remember(qualified());
            case 'P' -> c.remember(pointer("*"));
            case 'R' -> c.remember(pointer("&"));
            case 'O' -> c.remember(pointer("&&"));
            case 'C' -> c.remember(suffixed(" _Complex"));
            case 'G' -> c.remember(suffixed(" _Imaginary"));
            case 'F' -> c.remember(functionType("", ""));
            case 'A' -> c.remember(array());
            case 'M' -> c.remember(memberPointer());
            case 'T' -> elaboratedOrParameter();
            case 'D' -> typeD();
            case 'S' -> substitutedOrNamed();
            case 'U' -> c.remember(vendorQualified());
            case 'u' -> {
                c.next();
                yield c.remember(names.source());
            }
            default -> c.remember(names.name(new CxxNames.State(false)));
        };
    }

    private Node pointer(String sign) {
        c.next();
        return new Node.Pointer(type(), sign);
    }

    private Node suffixed(String suffix) {
        c.next();
        return new Node.Qualified(type(), suffix);
    }

    private Node qualified() {
        boolean restrict = c.accept('r');
        boolean isVolatile = c.accept('V');
        boolean isConst = c.accept('K');
        String words =
                (isConst ? " const" : "")
                        + (isVolatile ? " volatile" : "")
                        + (restrict ? " restrict" : "");
        if (isFunction()) {
            return functionType(words, "");
        }
        Node node = type();
        if (isConst) {
            node = new Node.Qualified(node, " const");
        }
        if (isVolatile) {
            node = new Node.Qualified(node, " volatile");
        }
        return restrict ? new Node.Qualified(node, " restrict") : node;
    }

    private boolean isFunction() {
        return c.peek() == 'F'
                || c.peek() == 'D' && "oOwx".indexOf(c.peek(1)) >= 0 && c.peek(1) != 0;
    }

    private Node functionType(String qualifiers, String exceptions) {
        if (c.accept("Dx")) {
            return functionType(qualifiers, exceptions + " transaction_safe");
        }
        if (c.accept("Do")) {
            return functionType(qualifiers, " noexcept");
        }
        if (c.accept("DO")) {
            Node condition = expressions.expression();
            c.expect('E');
            String text = new Out().add(condition).toString();
            return functionType(qualifiers, " noexcept(" + text + ")");
        }
        if (c.accept("Dw")) {
            List<Node> thrown = parametersUntilEnd();
            String text = new Out().add(new Node.Pack(thrown)).toString();
            return functionType(qualifiers, " throw(" + text + ")");
        }
        c.expect('F');
        c.accept('Y');
        Node result = type();
        List<Node> parameters = new ArrayList<>();
        String reference = "";
        while (!c.accept('E')) {
            if (c.accept("RE")) {
                reference = " &";
                break;
            }
            if (c.accept("OE")) {
                reference = " &&";
                break;
            }
            parameters.add(type());
        }
        return new Node.FunctionType(
                result, withoutVoid(parameters), qualifiers + reference + exceptions);
    }

    private static List<Node> withoutVoid(List<Node> parameters) {
        return parameters.size() == 1
                        && parameters.getFirst() instanceof Text t
                        && t.text().equals("void")
                ? List.of()
                : parameters;
    }

    /** Parameters of a function, up to the end, a suffix or the E of an enclosing name. */
    List<Node> parameters() {
        List<Node> parameters = new ArrayList<>();
        while (!c.atEnd() && c.peek() != 'E' && c.peek() != '.') {
            parameters.add(type());
        }
        if (parameters.isEmpty()) {
            throw Unfit.INSTANCE;
        }
        return withoutVoid(parameters);
    }

    List<Node> parametersUntilEnd() {
        List<Node> parameters = new ArrayList<>();
        while (!c.accept('E')) {
            parameters.add(type());
        }
        return withoutVoid(parameters);
    }

    private Node array() {
        c.expect('A');
        Node dimension = null;
        if (Cursor.isDigit(c.peek())) {
            dimension = new Text(Integer.toString(c.number()));
        } else if (c.peek() != '_') {
            dimension = expressions.expression();
        }
        c.expect('_');
        return new Node.Array(type(), dimension);
    }

    private Node memberPointer() {
        c.expect('M');
        Node owner = type();
        return new Node.MemberPointer(owner, type());
    }

    private Node elaboratedOrParameter() {
        char second = c.peek(1);
        if (second == 's' || second == 'u' || second == 'e') {
            c.take(2);
            return c.remember(names.name(new CxxNames.State(false)));
        }
        Node parameter = c.remember(templateParameter());
        return c.peek() == 'I' && !(c.mayForward && parameter instanceof Node.Forward)
                ? c.remember(new Node.Templated(parameter, templateArguments(false)))
                : parameter;
    }

    /** {@code T_}, {@code T0_}…; in a lambda's parameters the n-th auto. */
    Node templateParameter() {
        c.expect('T');
        int index = c.sequence(false);
        if (c.inLambda) {
            return new Text("auto:" + (index + 1));
        }
        if (index < c.templateArguments.size() && !c.mayForward) {
            return Node.parameter(c.templateArguments.get(index));
        }
        if (!c.mayForward) {
            throw Unfit.INSTANCE;
        }
        Node.Forward forward = new Node.Forward();
        c.forwards.add(new Cursor.Pending(index, forward));
        return forward;
    }

    private Node typeD() {
        char second = c.peek(1);
        String builtin = BUILTIN_D.get(second);
        if (builtin != null) {
            c.take(2);
            return new Text(builtin);
        }
        return switch (second) {
            case 't', 'T' -> c.remember(decltype());
            case 'p' -> {
                c.take(2);
                yield c.remember(new Node.Expansion(type()));
            }
            case 'v' -> c.remember(vector());
            case 'o', 'O', 'w', 'x' -> c.remember(functionType("", ""));
            case 'F' -> {
                c.take(2);
                String bits = Integer.toString(c.number());
                boolean extended = c.accept('x');
                if (!extended) {
                    c.expect('_');
                }
                yield new Text("_Float" + bits + (extended ? "x" : ""));
            }
            default -> throw Unfit.INSTANCE;
        };
    }

    Node decltype() {
        c.take(2);
        Node expression = expressions.expression();
        c.expect('E');
        return new Node.Prefixed("decltype (", expression, ")");
    }

    private Node vector() {
        c.take(2);
        c.accept('_'); // before a size that is an expression
        Node size =
                Cursor.isDigit(c.peek())
                        ? new Text(Integer.toString(c.number()))
                        : expressions.expression();
        c.expect('_');
        Node element = type();
        return new Node.Qualified(element, " __vector(" + new Out().add(size).toString() + ")");
    }

    private Node substitutedOrNamed() {
        if (c.peek(1) == 't') {
            return c.remember(names.name(new CxxNames.State(false)));
        }
        Node substitution = names.substitution();
        return c.peek() == 'I'
                ? c.remember(new Node.Templated(substitution, templateArguments(false)))
                : substitution;
    }

    private Node vendorQualified() {
        if (c.peek(1) == 'l' || c.peek(1) == 't') {
            return names.name(new CxxNames.State(false));
        }
        c.expect('U');
        Node word = names.source();
        Node arguments = c.peek() == 'I' ? templateArguments(false) : null;
        Node type = type();
        Node suffix = arguments == null ? word : new Node.Templated(word, arguments);
        return new Node.Qualified(type, " " + new Out().add(suffix).toString());
    }

    /**
     * @param named whether these belong to the name of an encoding, so that T_ means them from now
     *     on
     */
    Node templateArguments(boolean named) {
        c.expect('I');
        boolean outerForward = c.mayForward;
        c.mayForward = false;
        List<Node> list = new ArrayList<>();
        List<Node> outer = c.templateArguments;
        while (!c.accept('E')) {
            list.add(templateArgument());
        }
        c.mayForward = outerForward;
        c.templateArguments = named ? list : outer;
        return new Node.Arguments(List.copyOf(list));
    }

    Node templateArgument() {
        c.enter();
        Node argument =
                switch (c.peek()) {
                    case 'X' -> {
                        c.next();
                        Node expression = expressions.expression();
                        c.expect('E');
                        yield expression;
                    }
                    case 'L' -> expressions.literal();
                    // GCC 4.4 to 4.6 wrote I where the ABI has J
                    case 'J', 'I' -> {
                        c.next();
                        List<Node> pack = new ArrayList<>();
                        while (!c.accept('E')) {
                            pack.add(templateArgument());
                        }
                        yield new Node.Pack(List.copyOf(pack));
                    }
                    default -> type();
                };
        c.leave();
        return argument;
    }

    @Nullable String literalSuffix(Node type) {
        if (!(type instanceof Text t)) {
            return null;
        }
        return switch (t.text()) {
            case "int" -> "";
            case "unsigned int" -> "u";
            case "long" -> "l";
            case "unsigned long" -> "ul";
            case "long long" -> "ll";
            case "unsigned long long" -> "ull";
            default -> null;
        };
    }
}
