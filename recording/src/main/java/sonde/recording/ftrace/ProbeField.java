package sonde.recording.ftrace;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the kernel's fetch arguments cannot say of a variable, put into the format of its event: the
 * field is declared {@code double} or {@code float}, {@code s4} (a signed number in the lowest 4
 * bits) or {@code u64_plus_520} (the value is the number and 520). {@link EventFormat} reads these.
 * The print format calculates the value too, so that trace-cmd and perf script show it; of floating
 * point numbers, which libtraceevent cannot print, they show the bits.
 */
public final class ProbeField {
    private static final Pattern SHOWN =
            Pattern.compile("double|float|([su])(\\d{1,2})(?:_(plus|minus)_(\\d{1,18}))?");

    private ProbeField() {}

    /** The declared type of a number in the lowest bits with a constant added to it. */
    public static String type(boolean signed, int bits, long added) {
        String sum = added == 0 ? "" : (added < 0 ? "_minus_" : "_plus_") + Math.abs(added);
        return (signed ? "s" : "u") + bits + sum;
    }

    /**
     * A format file with other types.
     *
     * @param types of fields by name; a field that is not there, or no integer, stays
     */
    public static String declare(String format, Map<String, String> types) {
        String text = format;
        for (Map.Entry<String, String> one : types.entrySet()) {
            Matcher shown = SHOWN.matcher(one.getValue());
            String name = Pattern.quote(one.getKey());
            Matcher field =
                    Pattern.compile(
                                    "field:[su](8|16|32|64) ("
                                            + name
                                            + ");"
                                            + "(\\s*offset:\\d+;\\s*size:\\d+;\\s*signed:)[01];")
                            .matcher(text);
            if (!shown.matches() || !field.find()) {
                continue;
            }
            boolean real = shown.group(2) == null;
            boolean signed = real || shown.group(1).equals("s");
            text =
                    text.substring(0, field.start())
                            + "field:"
                            + one.getValue()
                            + " "
                            + one.getKey()
                            + ";"
                            + field.group(3)
                            + (signed ? 1 : 0)
                            + ";"
                            + text.substring(field.end());
            if (!real) {
                text = printed(text, one.getKey(), shown, Integer.parseInt(field.group(1)));
            }
        }
        return text;
    }

    private static String printed(String format, String name, Matcher shown, int stored) {
        boolean signed = shown.group(1).equals("s");
        int bits = Integer.parseInt(shown.group(2));
        String value = "REC->" + name;
        if (shown.group(3) != null) {
            char sign = shown.group(3).equals("plus") ? '+' : '-';
            String sum = "(" + value + " " + sign + " " + shown.group(4) + ")";
            value = bits == 64 ? sum : "(" + shown.group(1) + bits + ")" + sum;
        } else if (signed && bits < stored) {
            // libtraceevent shifts to the right without the sign, and has no exclusive or
            long top = 1L << bits - 1;
            value = "(((" + value + " + " + top + ") & " + (2 * top - 1) + ") - " + top + ")";
        }
        int print = format.indexOf("print fmt:");
        if (print < 0) {
            return format;
        }
        String text =
                format.substring(print)
                        .replaceFirst(
                                "REC->" + Pattern.quote(name) + "(?!\\w)",
                                Matcher.quoteReplacement(value));
        if (signed) {
            text = text.replaceFirst("(\\b" + Pattern.quote(name) + "=%L?l{0,2})u", "$1d");
        }
        return format.substring(0, print) + text;
    }
}
