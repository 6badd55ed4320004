package sonde.lang.probes;

import java.util.ArrayList;
import java.util.List;

/**
 * Takes the text of an attach point apart at its colons. Quotes keep colons together, a backslash
 * in them takes the next character as it is; {@code @} is a part of its own; {@code $1} is replaced
 * by a parameter, whose colons separate as well.
 */
final class AttachPointParts {
    private static final int MOST_TEXT = 1 << 16;

    private final ParseSettings settings;
    private final List<String> parts = new ArrayList<>();
    private final StringBuilder part = new StringBuilder();
    private String text;
    private boolean quoted;

    private AttachPointParts(String text, ParseSettings settings) {
        this.text = text;
        this.settings = settings;
    }

    static List<String> of(String text, ParseSettings settings) throws AttachPointException {
        return new AttachPointParts(text, settings).split();
    }

    private List<String> split() throws AttachPointException {
        int control = 0;
        while (control < text.length() && !isControl(text.charAt(control))) {
            control++;
        }
        if (control < text.length()) {
            throw new AttachPointException(
                    "a probe's name has no control characters (\\x%02x)"
                            .formatted((int) text.charAt(control)));
        }
        int at = 0;
        while (at < text.length()) {
            char c = text.charAt(at);
            if (!quoted && (c == ':' || c == '@')) {
                end();
                if (c == '@') {
                    parts.add("@");
                }
            } else if (c == '"') {
                quoted = !quoted;
            } else if (quoted && c == '\\' && at + 1 < text.length()) {
                part.append(text.charAt(++at));
            } else if (!quoted && c == '$') {
                at = insertParameter(at);
                continue;
            } else {
                part.append(c);
            }
            at++;
        }
        end();
        return parts;
    }

    private static boolean isControl(char c) {
        return c < ' ' && !Character.isWhitespace(c) || c == 0x7f;
    }

    private void end() {
        parts.add(part.toString());
        part.setLength(0);
    }

    /** Puts the parameter in place of its name and gives where it begins. */
    private int insertParameter(int dollar) throws AttachPointException {
        int end = dollar + 1;
        while (end < text.length() && Character.isDigit(text.charAt(end))) {
            if (end == dollar + 1 && text.charAt(end) == '0') {
                break;
            }
            end++;
        }
        if (end == dollar + 1) {
            String next = end < text.length() ? text.substring(end, end + 1) : "";
            throw new AttachPointException(
                    "invalid trailing character for positional param: "
                            + next
                            + ". Try quoting this entire part if this is intentional e.g. \"$"
                            + next
                            + "\".");
        }
        String number = text.substring(dollar + 1, end);
        String value = "";
        if (number.length() <= 9) {
            int index = Integer.parseInt(number) - 1;
            List<String> given = settings.parameters();
            value = index < given.size() ? given.get(index) : "";
        }
        // One that names itself would be put in for ever.
        if (value.indexOf('$') >= 0 || text.length() + value.length() > MOST_TEXT) {
            throw new AttachPointException("positional parameter is not valid: " + number);
        }
        text = text.substring(0, dollar) + value + text.substring(end);
        return dollar;
    }
}
