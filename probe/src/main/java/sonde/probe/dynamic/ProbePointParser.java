package sonde.probe.dynamic;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How the names of functions are written: {@code shop::Cart::total(int) const}, {@code operator
 * new}, {@code main.(*Order).Total}, {@code main.Map[...]}, {@code <shop::Item as Show>::show},
 * {@code main::{closure#0}}. Blanks in brackets are part of them.
 */
final class ProbePointParser {
    private static final Pattern OPERATOR =
            Pattern.compile(
                    "operator(?:<=>|<<=|>>=|->\\*|\\(\\)|\\[\\]|->|<<|>>|<=|>=|==|!=|&&|\\|\\||\\+\\+|--"
                            + "|[-+*/%^&|]=|[-+*/%^&|~!=<>,]"
                            + "|\\s+(?:new|delete)\\b(?:\\[\\])?"
                            + "|\\s+(?:(?:unsigned|signed|long|short)\\b\\s*)*(?:[A-Za-z_][\\w:]*)?)");

    /** What C++ puts behind the parameters. */
    private static final Pattern BEHIND =
            Pattern.compile("\\s+(?:const|volatile|&&?|\\[clone [^\\]\\s]*\\])(?=[\\s:+%@]|$)");

    private static final Pattern NAME =
            Pattern.compile("(?:\\p{L}|[_~$<])(?:[\\p{L}\\p{N}_.$~/,&* <>-]++|%[0-9a-f]{2}|::)*+");

    private static final int MOST_LENGTH = 1 << 14;

    private ProbePointParser() {}

    /**
     * Where the place ends that a text begins with, blanks before it included.
     *
     * @throws ProbeException where a bracket is not closed
     */
    static int end(String text) throws ProbeException {
        int at = 0;
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
        int depth = 0;
        int from = at;
        while (at < text.length()) {
            char c = text.charAt(at);
            int operator = operator(text, at, from);
            if (operator > at) {
                at = operator;
                continue;
            }
            if (depth == 0 && Character.isWhitespace(c)) {
                Matcher behind = BEHIND.matcher(text).region(at, text.length());
                if (text.charAt(at - 1) != ')' && !text.startsWith("const", at - 5)
                        || !behind.lookingAt()) {
                    return at;
                }
                at = behind.end();
                continue;
            }
            boolean arrow = c == '>' && at > 0 && text.charAt(at - 1) == '-';
            depth += "([{<".indexOf(c) >= 0 ? 1 : ")]}>".indexOf(c) >= 0 && !arrow ? -1 : 0;
            if (depth < 0) {
                throw ProbeException.at(text, at, "this bracket was not opened");
            }
            at++;
        }
        if (depth > 0) {
            throw ProbeException.at(text, at, "a bracket was not closed");
        }
        return at;
    }

    /** Behind the operator that is named at a place; the place itself for none. */
    private static int operator(String text, int at, int from) {
        boolean begins = at == from || !Character.isJavaIdentifierPart(text.charAt(at - 1));
        Matcher operator = OPERATOR.matcher(text).region(at, text.length());
        return begins && operator.lookingAt() ? operator.end() : at;
    }

    /** Whether a text can be the name of a function. */
    static boolean isFunction(String text) {
        if (text.length() > MOST_LENGTH) {
            return false;
        }
        StringBuilder bare = new StringBuilder();
        for (int at = 0; at < text.length(); ) {
            int behind = operator(text, at, 0);
            bare.append(behind > at ? "o" : text.substring(at, at + 1));
            at = Math.max(behind, at + 1);
        }
        // What stands in brackets may be anything.
        String outside = bare.toString();
        for (String before = ""; !before.equals(outside); ) {
            before = outside;
            outside = outside.replaceAll("\\([^()]*\\)|\\[[^\\[\\]]*\\]|\\{[^{}]*\\}", "o");
        }
        return NAME.matcher(outside).matches();
    }
}
