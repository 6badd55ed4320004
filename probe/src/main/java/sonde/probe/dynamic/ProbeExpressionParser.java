package sonde.probe.dynamic;

import java.util.Locale;
import java.util.Set;
import sonde.probe.dynamic.ProbeExpression.CastTo;
import sonde.probe.dynamic.ProbeExpression.ContainerItself;
import sonde.probe.dynamic.ProbeExpression.ElementAt;
import sonde.probe.dynamic.ProbeExpression.MemberOf;
import sonde.probe.dynamic.ProbeExpression.NumberLiteral;
import sonde.probe.dynamic.ProbeExpression.PointerOffset;
import sonde.probe.dynamic.ProbeExpression.RawFetch;
import sonde.probe.dynamic.ProbeExpression.RegisterName;
import sonde.probe.dynamic.ProbeExpression.SpecialName;
import sonde.probe.dynamic.ProbeExpression.VariableName;
import sonde.symbol.ctype.NamedTypes.NameSpace;

/**
 * Reads source expressions of C:
 *
 * <pre>
 *   unary   = "*" unary | "&amp;" unary | "(" type ")" unary | sum of postfix and constants
 *   postfix = primary { "." name | "-&gt;" name | "[" number "]" }
 *   primary = name | "$" name | "%" register | number | "(" unary ")" | "@" symbol | raw
 *           | "container_of(" unary "," type "," member path ")"
 * </pre>
 */
final class ProbeExpressionParser {
    private static final int MOST_DEPTH = 64;

    /** Words that can only begin the name of a type. */
    private static final Set<String> TYPE_WORDS =
            Set.of(
                    """
                    struct union enum class const volatile unsigned signed int char \
                    short long void float double _Bool bool\
                    """
                            .split(" "));

    private final String text;
    private int at;
    private int depth;

    private ProbeExpressionParser(String text) {
        this.text = text;
    }

    static ProbeExpression parse(String text) throws ProbeException {
        ProbeExpressionParser parser = new ProbeExpressionParser(text);
        ProbeExpression found = parser.sum();
        parser.blanks();
        if (parser.at < text.length()) {
            throw parser.fault("this was not expected here");
        }
        return found;
    }

    private ProbeException fault(String message) {
        return ProbeException.at(text, at, message);
    }

    private void blanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    private boolean takes(String sign) {
        blanks();
        if (text.startsWith(sign, at)) {
            at += sign.length();
            return true;
        }
        return false;
    }

    private void expect(String sign) throws ProbeException {
        if (!takes(sign)) {
            throw fault("'" + sign + "' was expected here");
        }
    }

    private char peek() {
        blanks();
        return at < text.length() ? text.charAt(at) : 0;
    }

    private static boolean isWord(char c) {
        return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= '0' && c <= '9';
    }

    private String word(String what) throws ProbeException {
        blanks();
        int from = at;
        while (at < text.length() && isWord(text.charAt(at))) {
            at++;
        }
        if (at == from || Character.isDigit(text.charAt(from))) {
            at = from;
            throw fault(what + " was expected here");
        }
        return text.substring(from, at);
    }

    private ProbeExpression sum() throws ProbeException {
        if (++depth > MOST_DEPTH) {
            throw fault("this is nested too deep");
        }
        ProbeExpression left = unary();
        while (peek() == '+' || peek() == '-') {
            int sign = at;
            boolean minus = text.charAt(at++) == '-';
            blanks();
            long amount = number();
            left = new PointerOffset(sign, left, minus ? -amount : amount);
        }
        depth--;
        return left;
    }

    private ProbeExpression unary() throws ProbeException {
        if (++depth > MOST_DEPTH) {
            throw fault("this is nested too deep");
        }
        blanks();
        int from = at;
        ProbeExpression found;
        if (takes("*")) {
            found = new ProbeExpression.Dereference(from, unary());
        } else if (takes("&")) {
            found = new ProbeExpression.AddressOf(from, unary());
        } else if (isCast()) {
            expect("(");
            ProbeExpression.TypeWords type = type();
            expect(")");
            found = new CastTo(from, type, unary());
        } else {
            found = postfix(primary());
        }
        depth--;
        return found;
    }

    /** Whether a bracket opens with a word that only types begin with, or a name and a star. */
    private boolean isCast() {
        int from = at;
        try {
            if (!takes("(")) {
                return false;
            }
            blanks();
            int start = at;
            while (at < text.length() && isWord(text.charAt(at))) {
                at++;
            }
            String word = text.substring(start, at);
            if (TYPE_WORDS.contains(word)) {
                return true;
            }
            // (name *) and (name)next are casts, (name) and (name)->x are not.
            if (word.isEmpty() || Character.isDigit(word.charAt(0))) {
                return false;
            }
            if (peek() == '*') {
                while (takes("*")) {
                    // The stars.
                }
                return peek() == ')';
            }
            if (!takes(")")) {
                return false;
            }
            char next = peek();
            return isWord(next) || next == '(' || next == '*' || next == '$' || next == '%';
        } finally {
            at = from;
        }
    }

    private ProbeExpression.TypeWords type() throws ProbeException {
        blanks();
        int from = at;
        NameSpace space = NameSpace.PLAIN;
        StringBuilder name = new StringBuilder();
        while (at < text.length() && (isWord(peek()) || peek() == ':')) {
            if (takes("::")) {
                name.append("::");
                continue;
            }
            String word = word("the name of a type");
            switch (word) {
                case "const", "volatile" -> {}
                case "struct", "class" -> space = NameSpace.STRUCT;
                case "union" -> space = NameSpace.UNION;
                case "enum" -> space = NameSpace.ENUM;
                default -> {
                    boolean joined = name.isEmpty() || name.toString().endsWith("::");
                    name.append(joined ? "" : " ").append(word);
                }
            }
        }
        if (name.isEmpty()) {
            throw fault("the name of a type was expected here");
        }
        int stars = 0;
        while (takes("*")) {
            stars++;
            if (takes("const")) {
                continue;
            }
        }
        return new ProbeExpression.TypeWords(from, space, name.toString(), stars);
    }

    private ProbeExpression postfix(ProbeExpression first) throws ProbeException {
        ProbeExpression found = first;
        while (true) {
            int sign = at;
            if (takes("->")) {
                blanks();
                int from = at;
                found = new MemberOf(from, found, word("the name of a member"), true);
            } else if (takes(".")) {
                blanks();
                int from = at;
                found = new MemberOf(from, found, word("the name of a member"), false);
            } else if (takes("[")) {
                long index = number();
                expect("]");
                found = new ElementAt(sign, found, index);
            } else {
                return found;
            }
            if (++depth > MOST_DEPTH * 4) {
                throw fault("this is nested too deep");
            }
        }
    }

    private ProbeExpression primary() throws ProbeException {
        char c = peek();
        int from = at;
        if (c == '(') {
            at++;
            ProbeExpression inner = sum();
            expect(")");
            return inner;
        }
        if (c == '$') {
            at++;
            return new SpecialName(from, word("a name"));
        }
        if (c == '%') {
            at++;
            return new RegisterName(from, word("a register"));
        }
        if (c == '@' || c == '\\' || c == '+' || c == '-') {
            return raw();
        }
        if (c >= '0' && c <= '9') {
            return new NumberLiteral(from, number());
        }
        String name = word("a variable");
        if (name.equals("container_of") && takes("(")) {
            ProbeExpression of = sum();
            expect(",");
            ProbeExpression.TypeWords type = type();
            expect(",");
            blanks();
            int path = at;
            ProbeExpression whole = new ContainerItself(path);
            String member = word("the name of a member");
            ProbeExpression inner = postfix(new MemberOf(path, whole, member, false));
            expect(")");
            return new ProbeExpression.ContainerOf(from, of, type, inner);
        }
        while (takes("::")) {
            name += "::" + word("a variable");
        }
        return new VariableName(from, name);
    }

    /** {@code @symbol+8}, {@code \0x10}, {@code +8(%di)}: up to the end of the text. */
    private ProbeExpression raw() throws ProbeException {
        int from = at;
        while (at < text.length() && !Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        String all = text.substring(from, at);
        if ((all.startsWith("+") || all.startsWith("-")) && !all.endsWith(")")) {
            at = from;
            throw fault("a number before a bracket, or a variable, was expected here");
        }
        return new RawFetch(from, all);
    }

    private long number() throws ProbeException {
        blanks();
        int from = at;
        boolean minus = at < text.length() && text.charAt(at) == '-';
        at += minus ? 1 : 0;
        int digits = at;
        while (at < text.length() && isWord(text.charAt(at))) {
            at++;
        }
        String all = text.substring(digits, at).toLowerCase(Locale.ROOT);
        try {
            long value =
                    all.startsWith("0x")
                            ? Long.parseUnsignedLong(all.substring(2), 16)
                            : Long.parseLong(all);
            return minus ? -value : value;
        } catch (NumberFormatException e) {
            at = from;
            throw fault("a constant number was expected here");
        }
    }
}
