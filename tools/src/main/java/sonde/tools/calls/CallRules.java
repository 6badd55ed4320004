package sonde.tools.calls;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import sonde.tools.option.OptionException;

/**
 * A chain of rules {@code [+-][SYMBOL][@LIBRARY]} (ltrace(1), "FILTER EXPRESSIONS"): the last rule
 * that fits a symbol decides. Patterns are globs, or regular expressions between slashes.
 */
record CallRules(List<CallRule> rules) {
    /** Fits the main program, whatever its name. */
    private static final String MAIN = "MAIN";

    private record CallRule(
            boolean adds, Pattern symbol, @Nullable Pattern library, boolean isPath) {
        boolean anyObject() {
            return library != null && library.pattern().equals(".*");
        }

        boolean fits(String name, TracedObject object) {
            if (!symbol.matcher(name).matches()) {
                return false;
            }
            return library == null
                    ? object.isMain()
                    : library.matcher(isPath ? object.path() : object.soname()).matches();
        }
    }

    /** All calls of the main program. */
    static CallRules ofMain() {
        return parse("-e", List.of("@MAIN"));
    }

    static CallRules parse(String option, List<String> expressions) {
        List<CallRule> all = new ArrayList<>();
        for (String expression : expressions) {
            int at = 0;
            while (at < expression.length()) {
                char sign = expression.charAt(at);
                boolean signed = sign == '+' || sign == '-';
                if (sign == '-' && at == 0) {
                    all.add(rule(option, true, ""));
                }
                int start = signed ? at + 1 : at;
                int end = end(expression, start);
                all.add(rule(option, sign != '-', expression.substring(start, end)));
                at = end;
            }
        }
        return new CallRules(List.copyOf(all));
    }

    /** The next sign that is not part of a regular expression. */
    private static int end(String text, int start) {
        boolean within = false;
        for (int i = start; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '/' && (i == start || within || text.charAt(i - 1) == '@')) {
                within = !within && text.indexOf('/', i + 1) > 0;
            } else if (!within && (c == '+' || c == '-') && isRule(text, i)) {
                return i;
            }
        }
        return text.length();
    }

    /**
     * Names of libraries have signs, as libstdc++ and ld-linux: a sign before {@code .} is none.
     */
    private static boolean isRule(String text, int sign) {
        int next = sign + 1;
        boolean inLibrary = text.lastIndexOf('@', sign) > text.lastIndexOf('+', sign - 1);
        boolean versioned =
                next < text.length() && "+.0123456789".indexOf(text.charAt(next)) >= 0
                        || text.charAt(sign - 1) == '+';
        boolean dashed = text.charAt(sign) == '-' && text.startsWith("ld", sign - 2);
        return next < text.length() && !(inLibrary && (versioned || dashed));
    }

    private static CallRule rule(String option, boolean adds, String text) {
        int at =
                text.startsWith("/")
                        ? text.indexOf("@", Math.max(0, slash(text)))
                        : text.indexOf('@');
        String symbol = at < 0 ? text : text.substring(0, at);
        String library = at < 0 ? "" : text.substring(at + 1);
        if (at < 0 && text.startsWith("/") && text.contains("@")) {
            // /x@y/ is short for /x/@/y/
            int middle = text.indexOf('@');
            symbol = text.substring(0, middle) + "/";
            library = "/" + text.substring(middle + 1);
        }
        boolean isRegex = library.length() > 1 && library.startsWith("/") && library.endsWith("/");
        boolean isPath = library.startsWith("/") && !isRegex;
        Pattern object = library.equals(MAIN) ? null : pattern(option, library, isPath);
        return new CallRule(adds, pattern(option, symbol, false), object, isPath);
    }

    private static int slash(String text) {
        int end = text.indexOf('/', 1);
        return end < 0 ? 0 : end;
    }

    private static Pattern pattern(String option, String text, boolean plain) {
        boolean regex = !plain && text.length() > 1 && text.startsWith("/") && text.endsWith("/");
        try {
            if (regex) {
                return Pattern.compile(".*(?:" + text.substring(1, text.length() - 1) + ").*");
            }
            return Pattern.compile(text.isEmpty() ? ".*" : glob(text));
        } catch (PatternSyntaxException e) {
            throw new OptionException(
                    option + ": '" + text + "' is no pattern: " + e.getDescription());
        }
    }

    private static String glob(String text) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            int close = c == '[' ? text.indexOf(']', i + 2) : -1;
            if (c == '*') {
                out.append(".*");
            } else if (c == '?') {
                out.append('.');
            } else if (close > 0) {
                String set = text.substring(i + 1, close).replace("\\", "\\\\").replace("[", "\\[");
                boolean not = set.startsWith("!") || set.startsWith("^");
                out.append('[').append(not ? "^" : "").append(set, not ? 1 : 0, set.length());
                out.append(']');
                i = close;
            } else if (c != '^' && c != '$') {
                out.append(Pattern.quote(String.valueOf(c)));
            }
        }
        return out.toString();
    }

    /** Whether a symbol of an object, or a call of it from an object, is wanted. */
    boolean fits(String name, TracedObject object) {
        boolean marked = false;
        for (CallRule rule : rules) {
            if (rule.fits(name, object)) {
                marked = rule.adds();
            }
        }
        return marked;
    }

    /** Whether it does not matter which object calls. */
    boolean fitsAnyObject() {
        return rules.stream().allMatch(CallRule::anyObject);
    }

    boolean isEmpty() {
        return rules.isEmpty();
    }
}
