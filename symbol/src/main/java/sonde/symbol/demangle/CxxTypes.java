package sonde.symbol.demangle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.symbol.demangle.CxxNames.NameState;
import sonde.symbol.demangle.CxxNode.ArgumentList;
import sonde.symbol.demangle.CxxNode.MemberPointerNode;
import sonde.symbol.demangle.CxxNode.PackExpansion;
import sonde.symbol.demangle.CxxNode.ParameterNode;
import sonde.symbol.demangle.CxxNode.QualifiedNode;
import sonde.symbol.demangle.CxxNode.TextNode;

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

    private final MangledCursor c;
    private final CxxNames names;
    private final CxxExpressions expressions;

    CxxTypes(MangledCursor cursor, CxxNames names) {
        this.c = cursor;
        this.names = names;
        this.expressions = new CxxExpressions(cursor, names, this);
    }

    CxxNode type() {
        c.enter();
        CxxNode type = anyType();
        c.leave();
        return type;
    }

    private CxxNode anyType() {
        char first = c.peek();
        String builtin = BUILTIN.get(first);
        if (builtin != null) {
            c.next();
            return new TextNode(builtin);
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
            default -> c.remember(names.name(new NameState()));
        };
    }

    private CxxNode pointer(String sign) {
        c.next();
        return new CxxNode.Pointer(type(), sign);
    }

    private CxxNode suffixed(String suffix) {
        c.next();
        return new QualifiedNode(type(), suffix);
    }

    private CxxNode qualified() {
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
        CxxNode node = type();
        if (isConst) {
            node = new QualifiedNode(node, " const");
        }
        if (isVolatile) {
            node = new QualifiedNode(node, " volatile");
        }
        return restrict ? new QualifiedNode(node, " restrict") : node;
    }

    private boolean isFunction() {
        return c.peek() == 'F'
                || c.peek() == 'D' && "oOwx".indexOf(c.peek(1)) >= 0 && c.peek(1) != 0;
    }

    private CxxNode functionType(String qualifiers, List<CxxNode> exceptions) {
        CxxNode more = null;
        if (c.accept("Dx")) {
            more = new TextNode(" transaction_safe");
        } else if (c.accept("Do")) {
            more = new TextNode(" noexcept");
        } else if (c.accept("DO")) {
            more = new CxxNode.Prefixed(" noexcept(", expressions.expression(), ")");
            c.expect('E');
        } else if (c.accept("Dw")) {
            more = new CxxNode.Prefixed(" throw(", new CxxNode.Pack(parametersUntilEnd()), ")");
        }
        if (more != null) {
            List<CxxNode> all = new ArrayList<>(exceptions);
            all.add(more);
            c.enter();
            CxxNode type = functionType(qualifiers, all);
            c.leave();
            return type;
        }
        c.expect('F');
        c.accept('Y');
        CxxNode result = type();
        List<CxxNode> parameters = new ArrayList<>();
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
        return new CxxNode.FunctionType(
                result, withoutVoid(parameters), qualifiers + reference, List.copyOf(exceptions));
    }

    private static List<CxxNode> withoutVoid(List<CxxNode> parameters) {
        return parameters.size() == 1
                        && parameters.getFirst() instanceof TextNode t
                        && t.text().equals("void")
                ? List.of()
                : parameters;
    }

    /** Parameters of a function, up to the end, a suffix or the E of an enclosing name. */
    List<CxxNode> parameters() {
        List<CxxNode> parameters = new ArrayList<>();
        while (!c.atEnd() && c.peek() != 'E' && c.peek() != '.') {
            parameters.add(type());
        }
        if (parameters.isEmpty()) {
            throw UnfitNameException.INSTANCE;
        }
        return withoutVoid(parameters);
    }

    List<CxxNode> parametersUntilEnd() {
        List<CxxNode> parameters = new ArrayList<>();
        while (!c.accept('E')) {
            parameters.add(type());
        }
        return withoutVoid(parameters);
    }

    private CxxNode array() {
        c.expect('A');
        CxxNode dimension = null;
        if (MangledCursor.isDigit(c.peek())) {
            dimension = new TextNode(Integer.toString(c.number()));
        } else if (c.peek() != '_') {
            dimension = expressions.expression();
        }
        c.expect('_');
        return new CxxNode.Array(type(), dimension);
    }

    private CxxNode memberPointer() {
        c.expect('M');
        CxxNode owner = type();
        return new MemberPointerNode(owner, type());
    }

    private CxxNode elaboratedOrParameter() {
        char second = c.peek(1);
        if (second == 's' || second == 'u' || second == 'e') {
            c.take(2);
            return c.remember(names.name(new NameState()));
        }
        CxxNode parameter = c.remember(templateParameter());
        // Of an operator that converts the arguments are the function's.
        return c.peek() == 'I' && !c.isConversion
                ? c.remember(new CxxNode.Templated(parameter, templateArguments()))
                : parameter;
    }

    /** {@code T_}, {@code T0_}…. */
    CxxNode templateParameter() {
        c.expect('T');
        return new ParameterNode(c.sequence(false));
    }

    private CxxNode typeD() {
        char second = c.peek(1);
        String builtin = BUILTIN_D.get(second);
        if (builtin != null) {
            c.take(2);
            return new TextNode(builtin);
        }
        return switch (second) {
            case 't', 'T' -> c.remember(decltype());
            case 'p' -> {
                c.take(2);
                yield c.remember(new PackExpansion(type()));
            }
            case 'v' -> c.remember(vector());
            case 'o', 'O', 'w', 'x' -> c.remember(functionType("", List.of()));
            case 'B', 'U' -> {
                c.take(2);
                CxxNode bits =
                        MangledCursor.isDigit(c.peek())
                                ? new TextNode(Integer.toString(c.number()))
                                : expressions.expression();
                c.expect('_');
                String word = second == 'U' ? "unsigned _BitInt(" : "_BitInt(";
                yield new CxxNode.Prefixed(word, bits, ")");
            }
            case 'F' -> {
                c.take(2);
                String bits = Integer.toString(c.number());
                boolean extended = c.accept('x');
                if (!extended) {
                    c.expect('_');
                }
                yield new TextNode("_Float" + bits + (extended ? "x" : ""));
            }
            default -> throw UnfitNameException.INSTANCE;
        };
    }

    CxxNode decltype() {
        c.take(2);
        CxxNode expression = expressions.expression();
        c.expect('E');
        return new CxxNode.Prefixed("decltype (", expression, ")");
    }

    private CxxNode vector() {
        c.take(2);
        c.accept('_'); // before a size that is an expression
        CxxNode size =
                MangledCursor.isDigit(c.peek())
                        ? new TextNode(Integer.toString(c.number()))
                        : expressions.expression();
        c.expect('_');
        CxxNode element = type();
        return new QualifiedNode(
                element, " __vector(" + new DemangledText().add(size).toString() + ")");
    }

    private CxxNode substitutedOrNamed() {
        if (c.peek(1) == 't') {
            return c.remember(names.name(new NameState()));
        }
        CxxNode substitution = names.substitution();
        return c.peek() == 'I'
                ? c.remember(new CxxNode.Templated(substitution, templateArguments()))
                : substitution;
    }

    private CxxNode vendorQualified() {
        if (c.peek(1) == 'l' || c.peek(1) == 't') {
            return names.name(new NameState());
        }
        c.expect('U');
        CxxNode word = names.source();
        CxxNode arguments = c.peek() == 'I' ? templateArguments() : null;
        CxxNode type = type();
        CxxNode suffix = arguments == null ? word : new CxxNode.Templated(word, arguments);
        return new QualifiedNode(type, " " + new DemangledText().add(suffix).toString());
    }

    ArgumentList templateArguments() {
        c.expect('I');
        boolean outer = c.isConversion;
        c.isConversion = false;
        List<CxxNode> list = new ArrayList<>();
        while (!c.accept('E')) {
            list.add(templateArgument());
        }
        c.isConversion = outer;
        return new ArgumentList(List.copyOf(list));
    }

    CxxNode templateArgument() {
        c.enter();
        CxxNode argument =
                switch (c.peek()) {
                    case 'X' -> {
                        c.next();
                        CxxNode expression = expressions.expression();
                        c.expect('E');
                        yield expression;
                    }
                    case 'L' -> expressions.literal();
                    // GCC 4.4 to 4.6 wrote I where the ABI has J
                    case 'J', 'I' -> {
                        c.next();
                        List<CxxNode> pack = new ArrayList<>();
                        while (!c.accept('E')) {
                            pack.add(templateArgument());
                        }
                        yield new CxxNode.Pack(List.copyOf(pack));
                    }
                    default -> type();
                };
        c.leave();
        return argument;
    }

    @Nullable String literalSuffix(CxxNode type) {
        if (!(type instanceof TextNode t)) {
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
