package sonde.symbol.demangle;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.symbol.demangle.CxxNode.ArgumentList;
import sonde.symbol.demangle.CxxNode.ConversionNode;
import sonde.symbol.demangle.CxxNode.DeclaredNode;
import sonde.symbol.demangle.CxxNode.TaggedNode;
import sonde.symbol.demangle.CxxNode.TextNode;

/** Names and encodings of the Itanium C++ ABI, chapter 5.1.2 to 5.1.4 and 5.1.6 to 5.1.8. */
final class CxxNames {
    private static final Map<Character, CxxNode> STANDARD =
            Map.of(
                    'a', new CxxNode.Standard("std::allocator", "allocator"),
                    'b', new CxxNode.Standard("std::basic_string", "basic_string"),
                    's',
                            new CxxNode.Standard(
                                    "std::basic_string<char, std::char_traits<char>,"
                                            + " std::allocator<char> >",
                                    "basic_string"),
                    'i',
                            new CxxNode.Standard(
                                    "std::basic_istream<char, std::char_traits<char> >",
                                    "basic_istream"),
                    'o',
                            new CxxNode.Standard(
                                    "std::basic_ostream<char, std::char_traits<char> >",
                                    "basic_ostream"),
                    'd',
                            new CxxNode.Standard(
                                    "std::basic_iostream<char, std::char_traits<char> >",
                                    "basic_iostream"));
    private static final TextNode STD = new TextNode("std");

    private final MangledCursor c;
    private final CxxTypes types;

    CxxNames(MangledCursor cursor) {
        c = cursor;
        types = new CxxTypes(cursor, this);
    }

    /** What is known of a name besides its text. */
    static final class NameState {
        boolean endsWithArguments;
        List<CxxNode> arguments = List.of();
        boolean isSpecial;
        String qualifiers = "";
    }

    CxxTypes types() {
        return types;
    }

    CxxNode encoding() {
        c.enter();
        boolean outer = c.isConversion;
        c.isConversion = false;
        CxxNode node = c.peek() == 'G' || c.peek() == 'T' ? special() : function();
        c.isConversion = outer;
        c.leave();
        return node;
    }

    private CxxNode function() {
        NameState state = new NameState();
        CxxNode name = name(state);
        if (c.atEnd() || c.peek() == 'E' || c.peek() == '.') {
            return name;
        }
        CxxNode result = null;
        if (state.endsWithArguments && !state.isSpecial) {
            result = types.type();
        }
        List<CxxNode> arguments = state.endsWithArguments ? state.arguments : List.of();
        return new CxxNode.Function(result, name, types.parameters(), state.qualifiers, arguments);
    }

    private CxxNode special() {
        String code = c.take(2);
        return switch (code) {
            case "TV" -> of("vtable for ", types.type());
            case "TT" -> of("VTT for ", types.type());
            case "TI" -> of("typeinfo for ", types.type());
            case "TS" -> of("typeinfo name for ", types.type());
            case "TH" -> of("TLS init function for ", name(new NameState()));
            case "TW" -> of("TLS wrapper function for ", name(new NameState()));
            case "TA" -> of("template parameter object for ", types.templateArgument());
            case "TC" -> {
                CxxNode derived = types.type();
                c.number();
                c.expect('_');
                CxxNode base = types.type();
                yield new CxxNode.Prefixed(
                        "construction vtable for ", base, "-in-" + write(derived));
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
            case "GV" -> of("guard variable for ", name(new NameState()));
            case "GR" -> {
                CxxNode name = name(new NameState());
                int number = c.atEnd() ? 0 : c.sequence(true);
                yield of("reference temporary #" + number + " for ", name);
            }
            case "GA" -> of("hidden alias for ", encoding());
            case "GT" -> {
                boolean safe = c.next() == 't';
                yield of(
                        safe ? "transaction clone for " : "non-transaction clone for ", encoding());
            }
            default -> throw UnfitNameException.INSTANCE;
        };
    }

    private static String write(CxxNode node) {
        return new DemangledText().add(node).toString();
    }

    private static CxxNode of(String what, CxxNode node) {
        return new CxxNode.Prefixed(what, node, "");
    }

    /** {@code h offset _} or {@code v offset _ offset _}. */
    private void offset(char kind) {
        for (int i = kind == 'v' ? 2 : 1; i > 0; i--) {
            c.accept('n');
            c.number();
            c.expect('_');
        }
    }

    CxxNode name(NameState state) {
        c.enter();
        CxxNode node =
                switch (c.peek()) {
                    case 'N' -> nested(state);
                    case 'Z' -> local(state);
                    default -> unscoped(state);
                };
        c.leave();
        return node;
    }

    private CxxNode unscoped(NameState state) {
        if (c.peek() == 'S' && c.peek(1) != 't') {
            CxxNode substitution = substitution();
            return c.peek() == 'I' ? withArguments(substitution, state) : substitution;
        }
        boolean std = c.accept("St");
        CxxNode name = unqualified(null, state);
        if (std) {
            name = new CxxNode.Nested(STD, name);
        }
        if (c.peek() == 'I') {
            c.remember(name);
            return withArguments(name, state);
        }
        return name;
    }

    private CxxNode withArguments(CxxNode name, NameState state) {
        ArgumentList arguments = types.templateArguments();
        state.endsWithArguments = true;
        state.arguments = arguments.list();
        return new CxxNode.Templated(name, arguments);
    }

    private CxxNode nested(NameState state) {
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
        CxxNode prefix = null;
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
            throw UnfitNameException.INSTANCE;
        }
        return prefix;
    }

    private boolean lastWasSubstitution;

    private CxxNode step(@Nullable CxxNode prefix, NameState state) {
        char first = c.peek();
        lastWasSubstitution = false;
        if (first == 'I') {
            if (prefix == null) {
                throw UnfitNameException.INSTANCE;
            }
            CxxNode node = withArguments(prefix, state);
            lastWasSubstitution = false;
            return node;
        }
        state.endsWithArguments = false;
        if (prefix == null) {
            if (first == 'S') {
                if (c.accept("St")) {
                    return STD;
                }
                CxxNode substitution = substitution();
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
        CxxNode name = unqualified(prefix, state);
        lastWasSubstitution = false;
        return prefix == null ? name : new CxxNode.Nested(prefix, name);
    }

    private CxxNode local(NameState state) {
        c.expect('Z');
        CxxNode function = encoding();
        c.expect('E');
        if (function instanceof CxxNode.Function f) {
            function = f.withoutResult();
        }
        if (c.accept('s')) {
            discriminator();
            return new CxxNode.Nested(function, new TextNode("string literal"));
        }
        if (c.accept('d')) {
            int number = c.sequence(false);
            CxxNode name = name(state);
            CxxNode scope = new TextNode("{default arg#" + (number + 1) + "}");
            return new CxxNode.Nested(new CxxNode.Nested(function, scope), name);
        }
        CxxNode name = name(state);
        discriminator();
        return new CxxNode.Nested(function, name);
    }

    /** {@code _d} or {@code __number_}: which of several equal names; not shown. */
    private void discriminator() {
        if (c.accept("__")) {
            c.number();
            c.expect('_');
        } else if (c.peek() == '_' && MangledCursor.isDigit(c.peek(1))) {
            c.next();
            c.number();
        } else if (c.onlyDigits()) {
            // as old compilers told apart what one function has
            c.number();
        }
    }

    /** A name without its scope, which constructors need to know. */
    CxxNode unqualified(@Nullable CxxNode scope, NameState state) {
        c.accept('L'); // internal linkage
        char first = c.peek();
        state.isSpecial = false;
        CxxNode name;
        if (MangledCursor.isDigit(first)) {
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

    private CxxNode binding() {
        List<CxxNode> names = new ArrayList<>();
        do {
            names.add(source());
        } while (!c.accept('E'));
        return new CxxNode.Prefixed("[", new CxxNode.Pack(names), "]");
    }

    CxxNode tags(CxxNode name) {
        CxxNode tagged = name;
        while (c.accept('B')) {
            tagged = new TaggedNode(tagged, c.identifier());
        }
        return tagged;
    }

    CxxNode source() {
        String name = c.identifier();
        boolean anonymous =
                name.length() > 9
                        && name.startsWith("_GLOBAL_")
                        && "._$".indexOf(name.charAt(8)) >= 0
                        && name.charAt(9) == 'N';
        return new TextNode(anonymous ? "(anonymous namespace)" : name);
    }

    /** {@code Ut number _} and {@code Ul parameters E number _}: both may be substituted. */
    private CxxNode unnamed() {
        if (c.accept("Ut")) {
            return new TextNode("{unnamed type#" + (c.sequence(false) + 1) + "}");
        }
        if (!c.accept("Ul")) {
            throw UnfitNameException.INSTANCE;
        }
        List<CxxNode> declared = new ArrayList<>();
        List<String> names = new ArrayList<>();
        while (c.peek() == 'T' && "yntp".indexOf(c.peek(1)) >= 0 && c.peek(1) != 0) {
            declared.add(declaration(names));
        }
        List<CxxNode> parameters = types.parametersUntilEnd();
        return new CxxNode.Lambda(declared, names, parameters, c.sequence(false) + 1L);
    }

    /** {@code Ty}, {@code Tn type}, {@code Tt … E}, {@code Tp …}: a parameter of a lambda. */
    private CxxNode declaration(List<String> names) {
        c.enter();
        boolean pack = false;
        while (c.accept("Tp")) {
            pack = true;
        }
        String dots = pack ? "..." : "";
        CxxNode declared;
        if (c.accept("Ty")) {
            declared = new TextNode("typename " + dots + name(names, "$T"));
        } else if (c.accept("Tn")) {
            CxxNode type = types.type();
            declared = new DeclaredNode(type, new TextNode(dots + name(names, "$N")));
        } else if (c.accept("Tt")) {
            List<CxxNode> inner = new ArrayList<>();
            List<String> innerNames = new ArrayList<>();
            while (!c.accept('E')) {
                inner.add(declaration(innerNames));
            }
            declared =
                    new CxxNode.Prefixed(
                            "template<",
                            new CxxNode.Pack(inner),
                            "> class " + dots + name(names, "$TT"));
        } else {
            throw UnfitNameException.INSTANCE;
        }
        c.leave();
        return declared;
    }

    private static String name(List<String> names, String prefix) {
        long before =
                names.stream()
                        .filter(n -> n.startsWith(prefix) && n.length() > prefix.length())
                        .filter(n -> MangledCursor.isDigit(n.charAt(prefix.length())))
                        .count();
        names.add(prefix + before);
        return names.getLast();
    }

    private CxxNode structor(@Nullable CxxNode scope) {
        if (scope == null) {
            throw UnfitNameException.INSTANCE;
        }
        boolean constructor = c.next() == 'C';
        boolean inheriting = constructor && c.accept('I');
        if (!MangledCursor.isDigit(c.next())) {
            throw UnfitNameException.INSTANCE;
        }
        if (inheriting) {
            types.type();
        }
        return constructor ? scope.plainName() : new CxxNode.Destructor(scope);
    }

    private CxxNode operator(NameState state) {
        String code = c.take(2);
        if (code.equals("cv")) {
            state.isSpecial = true;
            boolean outer = c.isConversion;
            c.isConversion = true;
            CxxNode type = types.type();
            c.isConversion = outer;
            return new ConversionNode(type);
        }
        if (code.equals("li")) {
            return new CxxNode.Prefixed("operator\"\" ", source(), "");
        }
        String sign = OperatorNames.sign(code);
        boolean word = Character.isLetter(sign.charAt(0));
        return new TextNode("operator" + (word ? " " : "") + sign);
    }

    /** {@code S_}, {@code S0_}…, and the letters for parts of std. */
    CxxNode substitution() {
        c.expect('S');
        CxxNode standard = STANDARD.get(c.peek());
        if (standard != null) {
            c.next();
            return c.peek() == 'B' ? c.remember(tags(standard)) : standard;
        }
        int index = c.sequence(true);
        if (index >= c.substitutions.size()) {
            throw UnfitNameException.INSTANCE;
        }
        return c.substitutions.get(index);
    }
}
