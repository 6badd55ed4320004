package sonde.analysis.filter;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import sonde.analysis.filter.FilterCondition.And;
import sonde.analysis.filter.FilterCondition.Comparand;
import sonde.analysis.filter.FilterCondition.Comparand.NumberComparand;
import sonde.analysis.filter.FilterCondition.Comparand.TextComparand;
import sonde.analysis.filter.FilterCondition.Compare;
import sonde.analysis.filter.FilterCondition.Comparison;
import sonde.analysis.filter.FilterCondition.Not;
import sonde.analysis.filter.FilterCondition.Or;
import sonde.analysis.filter.RowFilter.EventNameTest;
import sonde.event.Glob;

/**
 * Reads {@code [EVENTS:] CONDITION} by recursive descent; {@code ||} binds loosest, then {@code
 * &&}.
 */
final class FilterParser {
    private static final Pattern EVENTS = Pattern.compile("[\\w/*?,. \\[\\]-]+");
    private static final int DEEPEST = 100;
    // The longer spelling of each start comes first.
    private static final List<Comparison> OPERATORS =
            List.of(
                    Comparison.EQUAL,
                    Comparison.NOT_EQUAL,
                    Comparison.NOT_GLOB,
                    Comparison.AT_MOST,
                    Comparison.AT_LEAST,
                    Comparison.MATCHES,
                    Comparison.LESS,
                    Comparison.GREATER,
                    Comparison.ANY_BIT,
                    Comparison.GLOB);

    private final String text;
    private int at;
    private int depth;

    FilterParser(String text) {
        this.text = text;
    }

    RowFilter parse() {
        List<EventNameTest> events = events();
        blanks();
        if (at == text.length() && !events.isEmpty()) {
            return new RowFilter(text, events, null);
        }
        FilterCondition condition = either();
        if (at < text.length()) {
            throw error(at, "&&, || or the end is expected");
        }
        return new RowFilter(text, events, condition);
    }

    private FilterException error(int position, String what) {
        return new FilterException(text, position, what);
    }

    /** What stands before a colon outside of quotes; nothing where there is none. */
    private List<EventNameTest> events() {
        int colon = text.indexOf(':');
        int quote = text.indexOf('"');
        if (colon < 0 || quote >= 0 && quote < colon) {
            return List.of();
        }
        String head = text.substring(0, colon);
        if (!EVENTS.matcher(head).matches()) {
            throw error(0, "before the colon events are expected: SYSTEM/EVENT,…");
        }
        List<EventNameTest> events = new ArrayList<>();
        int start = 0;
        for (String one : head.split(",", -1)) {
            String name = one.strip();
            if (name.isEmpty()) {
                throw error(start, "the name of an event is expected");
            }
            int slash = name.indexOf('/');
            events.add(
                    slash < 0
                            ? new EventNameTest(null, Glob.kernel(name))
                            : new EventNameTest(
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

    private FilterCondition either() {
        FilterCondition left = both();
        while (takes("||")) {
            left = new Or(left, both());
        }
        return left;
    }

    private FilterCondition both() {
        FilterCondition left = one();
        while (takes("&&")) {
            left = new And(left, one());
        }
        return left;
    }

    private FilterCondition one() {
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
                FilterCondition inner = either();
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

    private FilterCondition comparison() {
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
        Comparison operator = operator();
        if (operator == null) {
            throw error(at, "one of == != < <= > >= & ~ =~ is expected");
        }
        blanks();
        int place = at;
        Comparand value = value(operator);
        boolean word = value instanceof TextComparand;
        if (word && !operator.isForText()) {
            throw error(place, "behind " + operator.spelling + " a number is expected");
        }
        if (!word && operator.isForTextOnly()) {
            throw error(sign, operator.spelling + " compares texts: put it in quotes");
        }
        return new Compare(field, operator, value, start);
    }

    private @Nullable Comparison operator() {
        for (Comparison operator : OPERATORS) {
            boolean and = operator == Comparison.ANY_BIT && text.startsWith("&&", at);
            if (text.startsWith(operator.spelling, at) && !and) {
                at += operator.spelling.length();
                return operator;
            }
        }
        return null;
    }

    private Comparand value(Comparison operator) {
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
            return new NumberComparand(number(bare));
        } catch (NumberFormatException e) {
            throw error(start, bare + " is not a number");
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

    private Comparand word(String word, Comparison operator, int position) {
        if (operator != Comparison.MATCHES) {
            return new TextComparand(word, Glob.kernel(word)::matches);
        }
        try {
            return new TextComparand(word, Pattern.compile(word).asPredicate());
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
