package sonde.symbol.demangle;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.symbol.demangle.CxxNames.NameState;
import sonde.symbol.demangle.CxxNode.Expr;
import sonde.symbol.demangle.CxxNode.Expr.Kind;
import sonde.symbol.demangle.CxxNode.JoinedNode;
import sonde.symbol.demangle.CxxNode.PackExpansion;
import sonde.symbol.demangle.CxxNode.TextNode;

/** Expressions of the Itanium C++ ABI, 5.1.6, written the way GNU c++filt writes them. */
final class CxxExpressions {
    private final MangledCursor c;
    private final CxxNames names;
    private final CxxTypes types;

    CxxExpressions(MangledCursor cursor, CxxNames names, CxxTypes types) {
        this.c = cursor;
        this.names = names;
        this.types = types;
    }

    CxxNode expression() {
        c.enter();
        CxxNode node = anyExpression();
        c.leave();
        return node;
    }

    private CxxNode anyExpression() {
        char first = c.peek();
        if (first == 'L') {
            return literal();
        }
        if (first == 'T') {
            return types.templateParameter();
        }
        if (first == 'f') {
            CxxNode special = parameterOrFold();
            if (special != null) {
                return special;
            }
        }
        if (MangledCursor.isDigit(first)) {
            return simpleName();
        }
        if (c.accept("on")) {
            return withArguments(names.unqualified(null, new NameState()));
        }
        if (c.accept('u')) {
            List<CxxNode> parts = new ArrayList<>(List.of(names.source()));
            while (!c.accept('E')) {
                parts.add(types.templateArgument());
            }
            return new Expr(Kind.INITIALIZED, "", parts);
        }
        String code = "" + first + c.peek(1);
        CxxNode known = byCode(code);
        if (known != null) {
            return known;
        }
        c.take(2);
        return operator(code);
    }

    private CxxNode simpleName() {
        return withArguments(names.tags(names.source()));
    }

    private CxxNode withArguments(CxxNode name) {
        return c.peek() == 'I' ? new CxxNode.Templated(name, types.templateArguments()) : name;
    }

    private @Nullable CxxNode byCode(String code) {
        return switch (code) {
            case "cl", "cp" -> {
                c.take(2);
                List<CxxNode> parts = untilEnd();
                if (parts.isEmpty()) {
                    throw UnfitNameException.INSTANCE;
                }
                yield new Expr(Kind.CALL, "", parts);
            }
            case "cv" -> conversion();
            case "tl" -> braces(true);
            case "il" -> braces(false);
            case "sc" -> namedCast("static_cast");
            case "dc" -> namedCast("dynamic_cast");
            case "rc" -> namedCast("reinterpret_cast");
            case "cc" -> namedCast("const_cast");
            case "st" -> ofType("sizeof ");
            case "at" -> ofType("alignof ");
            case "ti" -> ofType("typeid ");
            case "sz" -> ofExpression("sizeof ");
            case "az" -> ofExpression("alignof ");
            case "te" -> ofExpression("typeid ");
            case "nx" -> ofExpression("noexcept");
            case "sZ" -> packSize();
            case "sP" -> {
                c.take(2);
                List<CxxNode> pack = new ArrayList<>();
                while (!c.accept('E')) {
                    pack.add(types.templateArgument());
                }
                yield new TextNode(Integer.toString(pack.size()));
            }
            case "sr" -> unresolved();
            case "sp" -> {
                c.take(2);
                yield new PackExpansion(expression());
            }
            case "dt" -> member(".");
            case "pt" -> member("->");
            case "tr" -> {
                c.take(2);
                yield new TextNode("throw");
            }
            case "tw" -> {
                c.take(2);
                yield new Expr(Kind.PREFIX, "throw ", List.of(expression()));
            }
            case "di", "dx", "dX" -> designated(code);
            case "nw", "na" -> allocation(code);
            case "dl" -> ofOperand("delete ");
            case "da" -> ofOperand("delete[] ");
            case "gs" -> {
                c.take(2);
                yield new CxxNode.Prefixed("::", expression(), "");
            }
            case "ix" -> {
                c.take(2);
                CxxNode base = expression();
                yield new Expr(Kind.INDEX, "", List.of(base, expression()));
            }
            case "dn" -> {
                c.take(2);
                CxxNode of = MangledCursor.isDigit(c.peek()) ? simpleName() : types.type();
                yield new CxxNode.Prefixed("~", of, "");
            }
            default -> null;
        };
    }

    private CxxNode operator(String code) {
        if (code.equals("qu")) {
            CxxNode condition = expression();
            CxxNode yes = expression();
            return new Expr(Kind.CONDITIONAL, "", List.of(condition, yes, expression()));
        }
        if (code.equals("pp") || code.equals("mm")) {
            boolean prefix = c.accept('_');
            Kind kind = prefix ? Kind.PREFIX : Kind.POSTFIX;
            return new Expr(kind, OperatorNames.sign(code), List.of(expression()));
        }
        if (OperatorNames.isUnary(code)) {
            return new Expr(Kind.PREFIX, OperatorNames.sign(code), List.of(expression()));
        }
        if (!OperatorNames.isBinary(code)) {
            throw UnfitNameException.INSTANCE;
        }
        CxxNode left = expression();
        return new Expr(Kind.BINARY, OperatorNames.sign(code), List.of(left, expression()));
    }

    private List<CxxNode> untilEnd() {
        List<CxxNode> list = new ArrayList<>();
        while (!c.accept('E')) {
            list.add(expression());
        }
        return list;
    }

    private CxxNode conversion() {
        c.take(2);
        List<CxxNode> parts = new ArrayList<>();
        parts.add(types.type());
        if (c.accept('_')) {
            parts.addAll(untilEnd());
        } else {
            parts.add(expression());
        }
        return new Expr(Kind.CAST, "", parts);
    }

    private CxxNode braces(boolean typed) {
        c.take(2);
        List<CxxNode> parts = new ArrayList<>();
        parts.add(typed ? types.type() : new TextNode(""));
        parts.addAll(untilEnd());
        return new Expr(Kind.BRACES, "", parts);
    }

    /** {@code nw placement* _ type E} or {@code … pi initializer* E}. */
    private CxxNode allocation(String code) {
        c.take(2);
        List<CxxNode> placement = new ArrayList<>();
        while (!c.accept('_')) {
            placement.add(expression());
        }
        CxxNode type = types.type();
        String word = OperatorNames.sign(code) + " ";
        CxxNode what =
                placement.isEmpty()
                        ? new CxxNode.Prefixed(word, type, "")
                        : new JoinedNode(
                                new CxxNode.Prefixed(word + "(", new CxxNode.Pack(placement), ") "),
                                type);
        if (c.accept("pi")) {
            List<CxxNode> parts = new ArrayList<>(List.of(what));
            parts.addAll(untilEnd());
            return new Expr(Kind.INITIALIZED, "", parts);
        }
        c.expect('E');
        return what;
    }

    /** {@code di field value}, {@code dx index value}, {@code dX from to value}. */
    private CxxNode designated(String code) {
        c.take(2);
        CxxNode place =
                code.equals("di")
                        ? new CxxNode.Prefixed(".", names.source(), "")
                        : new CxxNode.Prefixed(
                                "[",
                                code.equals("dx")
                                        ? expression()
                                        : new JoinedNode(
                                                expression(),
                                                new CxxNode.Prefixed(" ... ", expression(), "")),
                                "]");
        boolean more = c.peek() == 'd' && "ixX".indexOf(c.peek(1)) >= 0;
        CxxNode value = expression();
        return new JoinedNode(place, more ? value : new CxxNode.Assigned(value));
    }

    private CxxNode ofOperand(String word) {
        c.take(2);
        return new Expr(Kind.PREFIX, word, List.of(expression()));
    }

    private CxxNode namedCast(String word) {
        c.take(2);
        CxxNode type = types.type();
        return new Expr(Kind.NAMED_CAST, word, List.of(type, expression()));
    }

    private CxxNode ofType(String word) {
        c.take(2);
        return new Expr(Kind.OF, word, List.of(types.type()));
    }

    private CxxNode ofExpression(String word) {
        c.take(2);
        return new Expr(Kind.OF, word, List.of(expression()));
    }

    private CxxNode packSize() {
        c.take(2);
        return new CxxNode.PackSize(c.peek() == 'T' ? types.templateParameter() : expression());
    }

    private CxxNode member(String sign) {
        c.take(2);
        CxxNode object = expression();
        return new Expr(Kind.MEMBER, sign, List.of(object, expression()));
    }

    /** {@code fp_}, {@code fL0p_}: a parameter; {@code fl fr fL fR}: a fold. */
    private @Nullable CxxNode parameterOrFold() {
        if (c.accept("fpT")) {
            return new TextNode("this");
        }
        if (c.peek(1) == 'p' || c.peek(1) == 'L' && MangledCursor.isDigit(c.peek(2))) {
            c.next();
            if (c.accept('L')) {
                c.number();
            }
            c.expect('p');
            while ("rVK".indexOf(c.peek()) >= 0 && c.peek() != 0) {
                c.next();
            }
            return new TextNode("{parm#" + (c.sequence(false) + 1) + "}");
        }
        char kind = c.peek(1);
        if ("lrLR".indexOf(kind) < 0 || kind == 0) {
            return null;
        }
        c.take(2);
        String sign = OperatorNames.sign(c.take(2));
        CxxNode first = expression();
        return switch (kind) {
            case 'l' -> new Expr(Kind.FOLD_LEFT, sign, List.of(first));
            case 'r' -> new Expr(Kind.FOLD_RIGHT, sign, List.of(first));
            default -> new Expr(Kind.FOLD_BOTH, sign, List.of(first, expression()));
        };
    }

    /** {@code sr type name}, {@code srN type names E name}. */
    private CxxNode unresolved() {
        c.take(2);
        if (MangledCursor.isDigit(c.peek())) {
            return qualifiedNames();
        }
        if (c.peek() == 'N' && !c.isStrict) {
            return new CxxNode.Nested(types.type(), baseName());
        }
        boolean many = c.accept('N');
        CxxNode scope = types.type();
        if (many) {
            while (!c.accept('E')) {
                scope = new CxxNode.Nested(scope, simpleName());
            }
        }
        return new CxxNode.Nested(scope, baseName());
    }

    /** {@code sr name+ E name}; without the E in older GCC. */
    private CxxNode qualifiedNames() {
        CxxNode scope = simpleName();
        while (MangledCursor.isDigit(c.peek())) {
            scope = new CxxNode.Nested(scope, simpleName());
        }
        return c.accept('E') ? new CxxNode.Nested(scope, baseName()) : scope;
    }

    private CxxNode baseName() {
        if (c.accept("on")) {
            return withArguments(names.unqualified(null, new NameState()));
        }
        if (c.accept("dn")) {
            return new CxxNode.Prefixed("~", types.type(), "");
        }
        return MangledCursor.isDigit(c.peek())
                ? simpleName()
                : withArguments(names.unqualified(null, new NameState()));
    }

    /** {@code L type value E} or {@code L _Z encoding E}. */
    CxxNode literal() {
        c.expect('L');
        if (c.accept("_Z") || c.accept('Z')) {
            CxxNode encoding = names.encoding();
            c.expect('E');
            return encoding;
        }
        CxxNode type = types.type();
        StringBuilder value = new StringBuilder();
        if (c.accept('n')) {
            value.append('-');
        }
        while (!c.accept('E')) {
            value.append(c.next());
        }
        String text = value.toString();
        if (type instanceof TextNode t) {
            if (t.text().equals("bool") && (text.equals("0") || text.equals("1"))) {
                return new TextNode(text.equals("1") ? "true" : "false");
            }
            if (t.text().equals("decltype(nullptr)") && text.isEmpty()) {
                return type;
            }
            String suffix = types.literalSuffix(type);
            if (suffix != null) {
                return new TextNode(text + suffix);
            }
            if ("float double long double __float128".contains(t.text())) {
                text = "[" + text + "]";
            }
        }
        return new Expr(Kind.LITERAL, text, List.of(type));
    }
}
