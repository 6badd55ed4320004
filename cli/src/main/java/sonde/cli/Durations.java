package sonde.cli;

import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * Times as people write them: {@code 500ms}, {@code 10s}, {@code 1.5m}; a bare number is seconds.
 */
final class Durations {
    private static final Pattern FORM =
            Pattern.compile("([0-9]{1,9}(?:\\.[0-9]{1,9})?)(ns|us|ms|s|m|h)?");

    private Durations() {}

    static long nanos(String text, CommandLine line) {
        return nanos(text).orElseThrow(() -> new ParameterException(line, problem(text)));
    }

    /** Why a text is refused. */
    static String problem(String text) {
        return "'" + text + "' is no time; write 500ms, 10s, 5m or 1h";
    }

    /** Empty for what is no time. */
    static OptionalLong nanos(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            return OptionalLong.empty();
        }
        String unit = matcher.group(2) == null ? "s" : matcher.group(2);
        double factor =
                switch (unit) {
                    case "ns" -> 1;
                    case "us" -> 1e3;
                    case "ms" -> 1e6;
                    case "s" -> 1e9;
                    case "m" -> 60e9;
                    default -> 3600e9;
                };
        return OptionalLong.of((long) (Double.parseDouble(matcher.group(1)) * factor));
    }
}
