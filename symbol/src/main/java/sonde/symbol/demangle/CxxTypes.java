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
            case 'F' -> c.remember(functionType("", List.of()));
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
            default -> c.remember(names.name(new CxxNames.State()));
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
            return functionType(words, List.of());
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

    private Node functionType(String qualifiers, List<Node> exceptions) {
        Node more = null;
        if (c.accept("Dx")) {
            more = new Text(" transaction_safe");
        } else if (c.accept("Do")) {
            more = new Text(" noexcept");
        } else if (c.accept("DO")) {
            more = new Node.Prefixed(" noexcept(", expressions.expression(), ")");
            c.expect('E');
        } else if (c.accept("Dw")) {
            more = new Node.Prefixed(" throw(", new Node.Pack(parametersUntilEnd()), ")");
        }
        if (more != null) {
            List<Node> all = new ArrayList<>(exceptions);
            all.add(more);
            c.enter();
            Node type = functionType(qualifiers, all);
            c.leave();
            return type;
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
                result, withoutVoid(parameters), qualifiers + reference, List.copyOf(exceptions));
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
            return c.remember(names.name(new CxxNames.State()));
        }
        Node parameter = c.remember(templateParameter());
        // Of an operator that converts the arguments are the function's.
        return c.peek() == 'I' && !c.isConversion
                ? c.remember(new Node.Templated(parameter, templateArguments()))
                : parameter;
    }

    /** {@code T_}, {@code T0_}…. */
    Node templateParameter() {
        c.expect('T');
        return new Node.Parameter(c.sequence(false));
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
            case 'o', 'O', 'w', 'x' -> c.remember(functionType("", List.of()));
            case 'B', 'U' -> {
                c.take(2);
                Node bits =
                        Cursor.isDigit(c.peek())
                                ? new Text(Integer.toString(c.number()))
                                : expressions.expression();
                c.expect('_');
                String word = second == 'U' ? "unsigned _BitInt(" : "_BitInt(";
                yield new Node.Prefixed(word, bits, ")");
            }
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
            return c.remember(names.name(new CxxNames.State()));
        }
        Node substitution = names.substitution();
        return c.peek() == 'I'
                ? c.remember(new Node.Templated(substitution, templateArguments()))
                : substitution;
    }

    private Node vendorQualified() {
        if (c.peek(1) == 'l' || c.peek(1) == 't') {
            return names.name(new CxxNames.State());
        }
        c.expect('U');
        Node word = names.source();
        Node arguments = c.peek() == 'I' ? templateArguments() : null;
        Node type = type();
        Node suffix = arguments == null ? word : new Node.Templated(word, arguments);
        return new Node.Qualified(type, " " + new Out().add(suffix).toString());
    }

    Node.Arguments templateArguments() {
        c.expect('I');
        boolean outer = c.isConversion;
        c.isConversion = false;
        List<Node> list = new ArrayList<>();
        while (!c.accept('E')) {
            list.add(templateArgument());
        }
        c.isConversion = outer;
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
