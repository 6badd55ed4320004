package sonde.analysis.filter;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import sonde.analysis.filter.Condition.And;
import sonde.analysis.filter.Condition.Compare;
import sonde.analysis.filter.Condition.Not;
import sonde.analysis.filter.Condition.Operator;
import sonde.analysis.filter.Condition.Or;
import sonde.analysis.filter.Condition.Value;
import sonde.event.Glob;

/**
 * Reads {@code [EVENTS:] CONDITION} by recursive descent; {@code ||} binds loosest, then {@code
 * &&}.
 */
final class FilterParser {
    private static final Pattern EVENTS = Pattern.compile("[\\w/*?,. \\[\\]-]+");
    private static final int DEEPEST = 100;
    // The longer spelling of each start comes first.
    private static final List<Operator> OPERATORS =
            List.of(
                    Operator.EQUAL,
                    Operator.NOT_EQUAL,
                    Operator.NOT_GLOB,
                    Operator.AT_MOST,
                    Operator.AT_LEAST,
                    Operator.MATCHES,
                    Operator.LESS,
                    Operator.GREATER,
                    Operator.ANY_BIT,
                    Operator.GLOB);

    private final String text;
    private int at;
    private int depth;

    FilterParser(String text) {
        this.text = text;
    }

    RowFilter parse() {
        List<RowFilter.Events> events = events();
        blanks();
        if (at == text.length() && !events.isEmpty()) {
            return new RowFilter(text, events, null);
        }
        Condition condition = either();
        if (at < text.length()) {
            throw error(at, "&&, || or the end is expected");
        }
        return new RowFilter(text, events, condition);
    }

    private FilterException error(int position, String what) {
        return new FilterException(text, position, what);
    }

    /** What stands before a colon outside of quotes; nothing where there is none. */
    private List<RowFilter.Events> events() {
        int colon = text.indexOf(':');
        int quote = text.indexOf('"');
        if (colon < 0 || quote >= 0 && quote < colon) {
            return List.of();
        }
        String head = text.substring(0, colon);
        if (!EVENTS.matcher(head).matches()) {
            throw error(0, "before the colon events are expected: SYSTEM/EVENT,…");
        }
        List<RowFilter.Events> events = new ArrayList<>();
        int start = 0;
        for (String one : head.split(",", -1)) {
            String name = one.strip();
            if (name.isEmpty()) {
                throw error(start, "the name of an event is expected");
            }
            int slash = name.indexOf('/');
            events.add(
                    slash < 0
                            ? new RowFilter.Events(null, Glob.kernel(name))
                            : new RowFilter.Events(
                                    Glob.kernel(name.substring(0, slash)),
                                    Glob.kernel(orAll(name.substring(slash + 1)))));
            start += one.length() + 1;
        }
        at = colon + 1;
        return events;
    }

    private static String orAll(String name) {
        return name.isEmpty() ? "*" : name;
    }

    private Condition either() {
        Condition left = both();
        while (takes("||")) {
            left = new Or(left, both());
        }
        return left;
    }

    private Condition both() {
        Condition left = one();
        while (takes("&&")) {
            left = new And(left, one());
        }
        return left;
    }

    private Condition one() {
        if (++depth > DEEPEST) {
            throw error(at, "nested too deep");
        }
        try {
            blanks();
            if (takes("!")) {
                return new Not(one());
            }
            int open = at;
            if (takes("(")) {
                Condition inner = either();
                if (!takes(")")) {
                    throw error(at, "a bracket is not closed: the one at " + (open + 1));
                }
                return inner;
            }
            return comparison();
        } finally {
            depth--;
        }
    }

    private Condition comparison() {
        int start = at;
        while (at < text.length() && isWord(text.charAt(at))) {
            at++;
        }
        if (at == start) {
            throw error(at, "the name of a field is expected");
        }
        String field = text.substring(start, at);
        blanks();
        int sign = at;
        Operator operator = operator();
        if (operator == null) {
            throw error(at, "one of == != < <= > >= & ~ =~ is expected");
        }
        blanks();
        int place = at;
        Value value = value(operator);
        boolean word = value instanceof Value.Word;
        if (word && !operator.isForText()) {
            throw error(place, "behind " + operator.spelling + " a number is expected");
        }
        if (!word && operator.isForTextOnly()) {
            throw error(sign, operator.spelling + " compares texts: put it in quotes");
        }
        return new Compare(field, operator, value, start);
    }

    private @Nullable Operator operator() {
        for (Operator operator : OPERATORS) {
            boolean and = operator == Operator.ANY_BIT && text.startsWith("&&", at);
            if (text.startsWith(operator.spelling, at) && !and) {
                at += operator.spelling.length();
                return operator;
            }
        }
        return null;
    }

    private Value value(Operator operator) {
        int start = at;
        if (at == text.length()) {
            throw error(at, "a value is expected");
        }
        char quote = text.charAt(at);
        if (quote == '"' || quote == '\'') {
            int end = text.indexOf(quote, at + 1);
            if (end < 0) {
                throw error(at, "the quote is not closed");
            }
            at = end + 1;
            return word(text.substring(start + 1, end), operator, start + 1);
        }
        while (at < text.length() && " \t&|)".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        String bare = text.substring(start, at);
        if (bare.isEmpty()) {
            throw error(at, "a value is expected");
        }
        boolean digits =
                Character.isDigit(bare.charAt(bare.startsWith("-") ? 1 % bare.length() : 0));
        if (!digits) {
            return word(bare, operator, start);
        }
        try {
            return new Value.Number(number(bare));
        } catch (NumberFormatException e) {
            throw error(start, bare + " is no number");
        }
    }

    private static long number(String digits) {
        boolean negative = digits.startsWith("-");
        String bare = negative ? digits.substring(1) : digits;
        int radix = 10;
        if (bare.startsWith("0x") || bare.startsWith("0X")) {
            radix = 16;
            bare = bare.substring(2);
        } else if (bare.length() > 1 && bare.startsWith("0")) {
            radix = 8;
        }
        long value = Long.parseUnsignedLong(bare, radix);
        return negative ? -value : value;
    }

    private Value word(String word, Operator operator, int position) {
        if (operator != Operator.MATCHES) {
            return new Value.Word(word, Glob.kernel(word)::matches);
        }
        try {
            return new Value.Word(word, Pattern.compile(word).asPredicate());
        } catch (PatternSyntaxException e) {
            throw error(position + Math.max(0, e.getIndex()), e.getDescription());
        }
    }

    private static boolean isWord(char c) {
        return c == '_' || c == '.' || Character.isLetterOrDigit(c);
    }

    private boolean takes(String sign) {
        blanks();
        if (text.startsWith(sign, at)) {
            at += sign.length();
            return true;
        }
        return false;
    }

    private void blanks() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }
}
