package sonde.symbol.demangle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.symbol.demangle.Node.Text;

/** Names and encodings of the Itanium C++ ABI, chapter 5.1.2 to 5.1.4 and 5.1.6 to 5.1.8. */
final class CxxNames {
    private static final Map<Character, Node> STANDARD =
            Map.of(
                    'a', new Node.Standard("std::allocator", "allocator"),
                    'b', new Node.Standard("std::basic_string", "basic_string"),
                    's',
                            new Node.Standard(
                                    "std::basic_string<char, std::char_traits<char>,"
                                            + " std::allocator<char> >",
                                    "basic_string"),
                    'i',
                            new Node.Standard(
                                    "std::basic_istream<char, std::char_traits<char> >",
                                    "basic_istream"),
                    'o',
                            new Node.Standard(
                                    "std::basic_ostream<char, std::char_traits<char> >",
                                    "basic_ostream"),
                    'd',
                            new Node.Standard(
                                    "std::basic_iostream<char, std::char_traits<char> >",
                                    "basic_iostream"));
    private static final Text STD = new Text("std");

    private final Cursor c;
    private final CxxTypes types;

    CxxNames(Cursor cursor) {
        c = cursor;
        types = new CxxTypes(cursor, this);
    }

    /** What is known of a name besides its text. */
    static final class State {
        boolean endsWithArguments;
        List<Node> arguments = List.of();
        boolean isSpecial;
        String qualifiers = "";
    }

    CxxTypes types() {
        return types;
    }

    Node encoding() {
        c.enter();
        boolean outer = c.isConversion;
        c.isConversion = false;
        Node node = c.peek() == 'G' || c.peek() == 'T' ? special() : function();
        c.isConversion = outer;
        c.leave();
        return node;
    }

    private Node function() {
        State state = new State();
        Node name = name(state);
        if (c.atEnd() || c.peek() == 'E' || c.peek() == '.') {
            return name;
        }
        Node result = null;
        if (state.endsWithArguments && !state.isSpecial) {
            result = types.type();
        }
        List<Node> arguments = state.endsWithArguments ? state.arguments : List.of();
        return new Node.Function(result, name, types.parameters(), state.qualifiers, arguments);
    }

    private Node special() {
        String code = c.take(2);
        return switch (code) {
            case "TV" -> of("vtable for ", types.type());
            case "TT" -> of("VTT for ", types.type());
            case "TI" -> of("typeinfo for ", types.type());
            case "TS" -> of("typeinfo name for ", types.type());
            case "TH" -> of("TLS init function for ", name(new State()));
            case "TW" -> of("TLS wrapper function for ", name(new State()));
            case "TA" -> of("template parameter object for ", types.templateArgument());
            case "TC" -> {
                Node derived = types.type();
                c.number();
                c.expect('_');
                Node base = types.type();
                yield new Node.Prefixed("construction vtable for ", base, "-in-" + write(derived));
            }
            case "Th" -> {
                offset('h');
                yield of("non-virtual thunk to ", encoding());
            }
            case "Tv" -> {
                offset('v');
                yield of("virtual thunk to ", encoding());
            }
            case "Tc" -> {
                offset(c.next());
                offset(c.next());
                yield of("covariant return thunk to ", encoding());
            }
            case "GV" -> of("guard variable for ", name(new State()));
            case "GR" -> {
                Node name = name(new State());
                int number = c.atEnd() ? 0 : c.sequence(true);
                yield of("reference temporary #" + number + " for ", name);
            }
            case "GA" -> of("hidden alias for ", encoding());
            case "GT" -> {
                boolean safe = c.next() == 't';
                yield of(
                        safe ? "transaction clone for " : "non-transaction clone for ", encoding());
            }
            default -> throw Unfit.INSTANCE;
        };
    }

    private static String write(Node node) {
        return new Out().add(node).toString();
    }

    private static Node of(String what, Node node) {
        return new Node.Prefixed(what, node, "");
    }

    /** {@code h offset _} or {@code v offset _ offset _}. */
    private void offset(char kind) {
        for (int i = kind == 'v' ? 2 : 1; i > 0; i--) {
            c.accept('n');
            c.number();
            c.expect('_');
        }
    }

    Node name(State state) {
        c.enter();
        Node node =
                switch (c.peek()) {
                    case 'N' -> nested(state);
                    case 'Z' -> local(state);
                    default -> unscoped(state);
                };
        c.leave();
        return node;
    }

    private Node unscoped(State state) {
        if (c.peek() == 'S' && c.peek(1) != 't') {
            Node substitution = substitution();
            return c.peek() == 'I' ? withArguments(substitution, state) : substitution;
        }
        boolean std = c.accept("St");
        Node name = unqualified(null, state);
        if (std) {
            name = new Node.Nested(STD, name);
        }
        if (c.peek() == 'I') {
            c.remember(name);
            return withArguments(name, state);
        }
        return name;
    }

    private Node withArguments(Node name, State state) {
        Node.Arguments arguments = types.templateArguments();
        state.endsWithArguments = true;
        state.arguments = arguments.list();
        return new Node.Templated(name, arguments);
    }

    private Node nested(State state) {
        c.expect('N');
        StringBuilder qualifiers = new StringBuilder();
        c.accept('H'); // explicit object parameter: printed as any function
        if (c.accept('r')) {
            qualifiers.append(" restrict");
        }
        if (c.accept('V')) {
            qualifiers.append(" volatile");
        }
        if (c.accept('K')) {
            qualifiers.insert(0, " const");
        }
        if (c.accept('R')) {
            qualifiers.append(" &");
        } else if (c.accept('O')) {
            qualifiers.append(" &&");
        }
        state.qualifiers = qualifiers.toString();
        Node prefix = null;
        while (!c.accept('E')) {
            c.enter();
            prefix = step(prefix, state);
            c.leave();
            if (!prefix.equals(STD) && c.peek() != 'E' && !lastWasSubstitution) {
                c.remember(prefix);
            }
            c.accept('M'); // a lambda in a data member's initializer
        }
        if (prefix == null) {
            throw Unfit.INSTANCE;
        }
        return prefix;
    }

    private boolean lastWasSubstitution;

    private Node step(@Nullable Node prefix, State state) {
        char first = c.peek();
        lastWasSubstitution = false;
        if (first == 'I') {
            if (prefix == null) {
                throw Unfit.INSTANCE;
            }
            Node node = withArguments(prefix, state);
            lastWasSubstitution = false;
            return node;
        }
        state.endsWithArguments = false;
        if (prefix == null) {
            if (first == 'S') {
                if (c.accept("St")) {
                    return STD;
                }
                Node substitution = substitution();
                lastWasSubstitution = true;
                return substitution;
            }
            if (first == 'T') {
                return types.templateParameter();
            }
            if (first == 'D' && (c.peek(1) == 't' || c.peek(1) == 'T')) {
                return types.decltype();
            }
        }
        Node name = unqualified(prefix, state);
        lastWasSubstitution = false;
        return prefix == null ? name : new Node.Nested(prefix, name);
    }

    private Node local(State state) {
        c.expect('Z');
        Node function = encoding();
        c.expect('E');
        if (function instanceof Node.Function f) {
            function = f.withoutResult();
        }
        if (c.accept('s')) {
            discriminator();
            return new Node.Nested(function, new Text("string literal"));
        }
        if (c.accept('d')) {
            int number = c.sequence(false);
            Node name = name(state);
            Node scope = new Text("{default arg#" + (number + 1) + "}");
            return new Node.Nested(new Node.Nested(function, scope), name);
        }
        Node name = name(state);
        discriminator();
        return new Node.Nested(function, name);
    }

    /** {@code _d} or {@code __number_}: which of several equal names; not shown. */
    private void discriminator() {
        if (c.accept("__")) {
            c.number();
            c.expect('_');
        } else if (c.peek() == '_' && Cursor.isDigit(c.peek(1))) {
            c.next();
            c.number();
        } else if (c.onlyDigits()) {
            // as old compilers told apart what one function has
            c.number();
        }
    }

    /** A name without its scope, which constructors need to know. */
    Node unqualified(@Nullable Node scope, State state) {
        c.accept('L'); // internal linkage
        char first = c.peek();
        state.isSpecial = false;
        Node name;
        if (Cursor.isDigit(first)) {
            name = source();
        } else if (first == 'U') {
            name = unnamed();
        } else if (first == 'C' || first == 'D' && c.peek(1) != 'C') {
            state.isSpecial = true;
            name = structor(scope);
        } else if (c.accept("DC")) {
            name = binding();
        } else {
            name = operator(state);
        }
        return tags(name);
    }

    private Node binding() {
        List<Node> names = new ArrayList<>();
        do {
            names.add(source());
        } while (!c.accept('E'));
        return new Node.Prefixed("[", new Node.Pack(names), "]");
    }

    Node tags(Node name) {
        Node tagged = name;
        while (c.accept('B')) {
            tagged = new Node.Tagged(tagged, c.identifier());
        }
        return tagged;
    }

    Node source() {
        String name = c.identifier();
        boolean anonymous =
                name.length() > 9
                        && name.startsWith("_GLOBAL_")
                        && "._$".indexOf(name.charAt(8)) >= 0
                        && name.charAt(9) == 'N';
        return new Text(anonymous ? "(anonymous namespace)" : name);
    }

    /** {@code Ut number _} and {@code Ul parameters E number _}: both may be substituted. */
    private Node unnamed() {
        if (c.accept("Ut")) {
            return new Text("{unnamed type#" + (c.sequence(false) + 1) + "}");
        }
        if (!c.accept("Ul")) {
            throw Unfit.INSTANCE;
        }
        List<Node> declared = new ArrayList<>();
        List<String> names = new ArrayList<>();
        while (c.peek() == 'T' && "yntp".indexOf(c.peek(1)) >= 0 && c.peek(1) != 0) {
            declared.add(declaration(names));
        }
        List<Node> parameters = types.parametersUntilEnd();
        return new Node.Lambda(declared, names, parameters, c.sequence(false) + 1L);
    }

    /** {@code Ty}, {@code Tn type}, {@code Tt … E}, {@code Tp …}: a parameter of a lambda. */
    private Node declaration(List<String> names) {
        c.enter();
        boolean pack = false;
        while (c.accept("Tp")) {
            pack = true;
        }
        String dots = pack ? "..." : "";
        Node declared;
        if (c.accept("Ty")) {
            declared = new Text("typename " + dots + name(names, "$T"));
        } else if (c.accept("Tn")) {
            Node type = types.type();
            declared = new Node.Declared(type, new Text(dots + name(names, "$N")));
        } else if (c.accept("Tt")) {
            List<Node> inner = new ArrayList<>();
            List<String> innerNames = new ArrayList<>();
            while (!c.accept('E')) {
                inner.add(declaration(innerNames));
            }
            declared =
                    new Node.Prefixed(
                            "template<",
                            new Node.Pack(inner),
                            "> class " + dots + name(names, "$TT"));
        } else {
            throw Unfit.INSTANCE;
        }
        c.leave();
        return declared;
    }

    private static String name(List<String> names, String prefix) {
        long before =
                names.stream()
                        .filter(n -> n.startsWith(prefix) && n.length() > prefix.length())
                        .filter(n -> Cursor.isDigit(n.charAt(prefix.length())))
                        .count();
        names.add(prefix + before);
        return names.getLast();
    }

    private Node structor(@Nullable Node scope) {
        if (scope == null) {
            throw Unfit.INSTANCE;
        }
        boolean constructor = c.next() == 'C';
        boolean inheriting = constructor && c.accept('I');
        if (!Cursor.isDigit(c.next())) {
            throw Unfit.INSTANCE;
        }
        if (inheriting) {
            types.type();
        }
        return constructor ? scope.plainName() : new Node.Destructor(scope);
    }

    private Node operator(State state) {
        String code = c.take(2);
        if (code.equals("cv")) {
            state.isSpecial = true;
            boolean outer = c.isConversion;
            c.isConversion = true;
            Node type = types.type();
            c.isConversion = outer;
            return new Node.Conversion(type);
        }
        if (code.equals("li")) {
            return new Node.Prefixed("operator\"\" ", source(), "");
        }
        String sign = Operators.sign(code);
        boolean word = Character.isLetter(sign.charAt(0));
        return new Text("operator" + (word ? " " : "") + sign);
    }

    /** {@code S_}, {@code S0_}…, and the letters for parts of std. */
    Node substitution() {
        c.expect('S');
        Node standard = STANDARD.get(c.peek());
        if (standard != null) {
            c.next();
            return c.peek() == 'B' ? c.remember(tags(standard)) : standard;
        }
        int index = c.sequence(true);
        if (index >= c.substitutions.size()) {
            throw Unfit.INSTANCE;
        }
        return c.substitutions.get(index);
    }
}
