package sonde.symbol.demangle;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.symbol.demangle.Node.Expr;
import sonde.symbol.demangle.Node.Expr.Kind;
import sonde.symbol.demangle.Node.Text;

/** Expressions of the Itanium C++ ABI, 5.1.6, written the way GNU c++filt writes them. */
final class CxxExpressions {
    private final Cursor c;
    private final CxxNames names;
    private final CxxTypes types;

    CxxExpressions(Cursor cursor, CxxNames names, CxxTypes types) {
        this.c = cursor;
        this.names = names;
        this.types = types;
    }

    Node expression() {
        c.enter();
        Node node = anyExpression();
        c.leave();
        return node;
    }

    private Node anyExpression() {
        char first = c.peek();
        if (first == 'L') {
            return literal();
        }
        if (first == 'T') {
            return types.templateParameter();
        }
        if (first == 'f') {
            Node special = parameterOrFold();
            if (special != null) {
                return special;
            }
        }
        if (Cursor.isDigit(first)) {
            return simpleName();
        }
        if (c.accept("on")) {
            return withArguments(names.unqualified(null, new CxxNames.State()));
        }
        if (c.accept('u')) {
            List<Node> parts = new ArrayList<>(List.of(names.source()));
            while (!c.accept('E')) {
                parts.add(types.templateArgument());
            }
            return new Expr(Kind.INITIALIZED, "", parts);
        }
        String code = "" + first + c.peek(1);
        Node known = byCode(code);
        if (known != null) {
            return known;
        }
        c.take(2);
        return operator(code);
    }

    private Node simpleName() {
        return withArguments(names.tags(names.source()));
    }

    private Node withArguments(Node name) {
        return c.peek() == 'I' ? new Node.Templated(name, types.templateArguments()) : name;
    }

    private @Nullable Node byCode(String code) {
        return switch (code) {
            case "cl", "cp" -> {
                c.take(2);
                List<Node> parts = untilEnd();
                if (parts.isEmpty()) {
                    throw Unfit.INSTANCE;
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
                List<Node> pack = new ArrayList<>();
                while (!c.accept('E')) {
                    pack.add(types.templateArgument());
                }
                yield new Text(Integer.toString(pack.size()));
            }
            case "sr" -> unresolved();
            case "sp" -> {
                c.take(2);
                yield new Node.Expansion(expression());
            }
            case "dt" -> member(".");
            case "pt" -> member("->");
            case "tr" -> {
                c.take(2);
                yield new Text("throw");
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
                yield new Node.Prefixed("::", expression(), "");
            }
            case "ix" -> {
                c.take(2);
                Node base = expression();
                yield new Expr(Kind.INDEX, "", List.of(base, expression()));
            }
            case "dn" -> {
                c.take(2);
                Node of = Cursor.isDigit(c.peek()) ? simpleName() : types.type();
                yield new Node.Prefixed("~", of, "");
            }
            default -> null;
        };
    }

    private Node operator(String code) {
        if (code.equals("qu")) {
            Node condition = expression();
            Node yes = expression();
            return new Expr(Kind.CONDITIONAL, "", List.of(condition, yes, expression()));
        }
        if (code.equals("pp") || code.equals("mm")) {
            boolean prefix = c.accept('_');
            Kind kind = prefix ? Kind.PREFIX : Kind.POSTFIX;
            return new Expr(kind, Operators.sign(code), List.of(expression()));
        }
        if (Operators.isUnary(code)) {
            return new Expr(Kind.PREFIX, Operators.sign(code), List.of(expression()));
        }
        if (!Operators.isBinary(code)) {
            throw Unfit.INSTANCE;
        }
        Node left = expression();
        return new Expr(Kind.BINARY, Operators.sign(code), List.of(left, expression()));
    }

    private List<Node> untilEnd() {
        List<Node> list = new ArrayList<>();
        while (!c.accept('E')) {
            list.add(expression());
        }
        return list;
    }

    private Node conversion() {
        c.take(2);
        List<Node> parts = new ArrayList<>();
        parts.add(types.type());
        if (c.accept('_')) {
            parts.addAll(untilEnd());
        } else {
            parts.add(expression());
        }
        return new Expr(Kind.CAST, "", parts);
    }

    private Node braces(boolean typed) {
        c.take(2);
        List<Node> parts = new ArrayList<>();
        parts.add(typed ? types.type() : new Text(""));
        parts.addAll(untilEnd());
        return new Expr(Kind.BRACES, "", parts);
    }

    /** {@code nw placement* _ type E} or {@code … pi initializer* E}. */
    private Node allocation(String code) {
        c.take(2);
        List<Node> placement = new ArrayList<>();
        while (!c.accept('_')) {
            placement.add(expression());
        }
        Node type = types.type();
        String word = Operators.sign(code) + " ";
        Node what =
                placement.isEmpty()
                        ? new Node.Prefixed(word, type, "")
                        : new Node.Joined(
                                new Node.Prefixed(word + "(", new Node.Pack(placement), ") "),
                                type);
        if (c.accept("pi")) {
            List<Node> parts = new ArrayList<>(List.of(what));
            parts.addAll(untilEnd());
            return new Expr(Kind.INITIALIZED, "", parts);
        }
        c.expect('E');
        return what;
    }

    /** {@code di field value}, {@code dx index value}, {@code dX from to value}. */
    private Node designated(String code) {
        c.take(2);
        Node place =
                code.equals("di")
                        ? new Node.Prefixed(".", names.source(), "")
                        : new Node.Prefixed(
                                "[",
                                code.equals("dx")
                                        ? expression()
                                        : new Node.Joined(
                                                expression(),
                                                new Node.Prefixed(" ... ", expression(), "")),
                                "]");
        boolean more = c.peek() == 'd' && "ixX".indexOf(c.peek(1)) >= 0;
        Node value = expression();
        return new Node.Joined(place, more ? value : new Node.Assigned(value));
    }

    private Node ofOperand(String word) {
        c.take(2);
        return new Expr(Kind.PREFIX, word, List.of(expression()));
    }

    private Node namedCast(String word) {
        c.take(2);
        Node type = types.type();
        return new Expr(Kind.NAMED_CAST, word, List.of(type, expression()));
    }

    private Node ofType(String word) {
        c.take(2);
        return new Expr(Kind.OF, word, List.of(types.type()));
    }

    private Node ofExpression(String word) {
        c.take(2);
        return new Expr(Kind.OF, word, List.of(expression()));
    }

    private Node packSize() {
        c.take(2);
        return new Node.PackSize(c.peek() == 'T' ? types.templateParameter() : expression());
    }

    private Node member(String sign) {
        c.take(2);
        Node object = expression();
        return new Expr(Kind.MEMBER, sign, List.of(object, expression()));
    }

    /** {@code fp_}, {@code fL0p_}: a parameter; {@code fl fr fL fR}: a fold. */
    private @Nullable Node parameterOrFold() {
        if (c.accept("fpT")) {
            return new Text("this");
        }
        if (c.peek(1) == 'p' || c.peek(1) == 'L' && Cursor.isDigit(c.peek(2))) {
            c.next();
            if (c.accept('L')) {
                c.number();
            }
            c.expect('p');
            while ("rVK".indexOf(c.peek()) >= 0 && c.peek() != 0) {
                c.next();
            }
            return new Text("{parm#" + (c.sequence(false) + 1) + "}");
        }
        char kind = c.peek(1);
        if ("lrLR".indexOf(kind) < 0 || kind == 0) {
            return null;
        }
        c.take(2);
        String sign = Operators.sign(c.take(2));
        Node first = expression();
        return switch (kind) {
            case 'l' -> new Expr(Kind.FOLD_LEFT, sign, List.of(first));
            case 'r' -> new Expr(Kind.FOLD_RIGHT, sign, List.of(first));
            default -> new Expr(Kind.FOLD_BOTH, sign, List.of(first, expression()));
        };
    }

    /** {@code sr type name}, {@code srN type names E name}. */
    private Node unresolved() {
        c.take(2);
        if (Cursor.isDigit(c.peek())) {
            return qualifiedNames();
        }
        if (c.peek() == 'N' && !c.isStrict) {
            return new Node.Nested(types.type(), baseName());
        }
        boolean many = c.accept('N');
        Node scope = types.type();
        if (many) {
            while (!c.accept('E')) {
                scope = new Node.Nested(scope, simpleName());
            }
        }
        return new Node.Nested(scope, baseName());
    }

    /** {@code sr name+ E name}; without the E in older GCC. */
    private Node qualifiedNames() {
        Node scope = simpleName();
        while (Cursor.isDigit(c.peek())) {
            scope = new Node.Nested(scope, simpleName());
        }
        return c.accept('E') ? new Node.Nested(scope, baseName()) : scope;
    }

    private Node baseName() {
        if (c.accept("on")) {
            return withArguments(names.unqualified(null, new CxxNames.State()));
        }
        if (c.accept("dn")) {
            return new Node.Prefixed("~", types.type(), "");
        }
        return Cursor.isDigit(c.peek())
                ? simpleName()
                : withArguments(names.unqualified(null, new CxxNames.State()));
    }

    /** {@code L type value E} or {@code L _Z encoding E}. */
    Node literal() {
        c.expect('L');
        if (c.accept("_Z") || c.accept('Z')) {
            Node encoding = names.encoding();
            c.expect('E');
            return encoding;
        }
        Node type = types.type();
        StringBuilder value = new StringBuilder();
        if (c.accept('n')) {
            value.append('-');
        }
        while (!c.accept('E')) {
            value.append(c.next());
        }
        String text = value.toString();
        if (type instanceof Text t) {
            if (t.text().equals("bool") && (text.equals("0") || text.equals("1"))) {
                return new Text(text.equals("1") ? "true" : "false");
            }
            if (t.text().equals("decltype(nullptr)") && text.isEmpty()) {
                return type;
            }
            String suffix = types.literalSuffix(type);
            if (suffix != null) {
                return new Text(text + suffix);
            }
            if ("float double long double __float128".contains(t.text())) {
                text = "[" + text + "]";
            }
        }
        return new Expr(Kind.LITERAL, text, List.of(type));
    }
}
