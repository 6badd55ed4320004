package sonde.tools.explain;

import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A line of a log without what stands before the kernel's text.
 *
 * @param number counts from 1
 * @param seconds since the boot; NaN where the line has no time
 * @param context who printed it, {@code T123} or {@code C0} (CONFIG_PRINTK_CALLER); the host before
 *     it where several hosts log; empty where nobody says
 * @param text what the kernel printed
 */
record LogLine(long number, double seconds, String context, String text) {
    private static final int FAR = 200;

    private static final Pattern COLOUR = Pattern.compile("\u001b\\[[0-9;?]*[A-Za-z]");

    /** {@code 6,1235,5140900,-,caller=T12;text}: /dev/kmsg and extended netconsole. */
    private static final Pattern RECORD =
            Pattern.compile(
                    "^(?<level>\\d{1,4}),(?<number>\\d{1,20}),(?<micros>\\d{1,20}),[-c+]"
                            + "(?:,(?:caller=(?<caller>[TC]\\d+)|[\\w-]+=[^;,]*))*;");

    /** {@code [ 12.345678]}, also with Android's CPU and task behind. */
    private static final Pattern TIME =
            Pattern.compile("\\[ {0,8}(?<seconds>\\d{1,10}\\.\\d{3,9})\\]");

    private static final Pattern CALLER = Pattern.compile("^ ?\\[ *(?<caller>[TC]\\d+)\\]");

    private static final Pattern ANDROID =
            Pattern.compile(
                    "^(?: ?-?\\(\\d\\)| ?\\[\\d+: *[^\\]:]+: *\\d+\\]| ?\\[\\d+:[^\\]]+\\])+");

    /** {@code Mon DD HH:MM:SS host kernel: } and the same with a date of ISO 8601. */
    private static final Pattern SYSLOG =
            Pattern.compile(
                    "^(?:<\\d{1,3}>)?(?:[A-Z][a-z]{2} [ \\d]?\\d(?: \\d{4})? \\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?"
                            + "|[A-Z][a-z]{2} [A-Z][a-z]{2} +\\d+ \\d\\d:\\d\\d:\\d\\d(?: \\d{4})?"
                            + "|\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?"
                            + "(?:Z|[+-]\\d\\d:?\\d\\d)?)[ ,]"
                            + "(?: ?(?<host>[\\w.:-]{1,64}) )?(?:[a-z]+\\.[a-z]+ )?"
                            + "(?:kernel|user kernel)(?:\\[\\d+\\])?: ?");

    static LogLine of(byte[] bytes, int from, int to, long number) {
        int begin = from;
        int end = to;
        while (end > begin && (bytes[end - 1] == '\r' || bytes[end - 1] == ' ')) {
            end--;
        }
        String text = new String(bytes, begin, end - begin, StandardCharsets.UTF_8);
        return of(text, number);
    }

    static LogLine of(String raw, long number) {
        String text = raw;
        if (text.indexOf('\u001b') >= 0) {
            text = COLOUR.matcher(text).replaceAll("");
        }
        if (text.indexOf('\r') >= 0) {
            text = text.replace("\r", "");
        }
        String host = "";
        double seconds = Double.NaN;
        String caller = "";
        if (text.isEmpty()) {
            return new LogLine(number, seconds, "", "");
        }
        char first = text.charAt(0);
        if (first >= '0' && first <= '9') {
            Matcher record = RECORD.matcher(text);
            if (record.find()) {
                seconds = Double.parseDouble(record.group("micros")) / 1e6;
                caller = record.group("caller") == null ? "" : record.group("caller");
                return new LogLine(number, seconds, caller, text.substring(record.end()));
            }
        }
        if (first != '[' && first != ' ') {
            Matcher syslog = SYSLOG.matcher(text);
            if (syslog.find()) {
                host = syslog.group("host") == null ? "" : syslog.group("host");
                text = text.substring(syslog.end());
            } else if (first == '<' && text.indexOf('>') > 0 && text.indexOf('>') < 5) {
                text = text.substring(text.indexOf('>') + 1);
            }
        }
        int bracket = text.indexOf('[');
        if (bracket >= 0 && bracket < FAR) {
            Matcher time = TIME.matcher(text);
            if (time.region(bracket, Math.min(text.length(), bracket + FAR)).find()) {
                seconds = Double.parseDouble(time.group("seconds"));
                text = text.substring(time.end());
                Matcher named = CALLER.matcher(text);
                if (named.find()) {
                    caller = named.group("caller");
                    text = text.substring(named.end());
                } else if (text.startsWith("[") || text.startsWith("(") || text.startsWith(" [")) {
                    Matcher android = ANDROID.matcher(text);
                    if (android.find()) {
                        text = text.substring(android.end());
                    }
                }
                if (text.startsWith(" ")) {
                    text = text.substring(1);
                }
            } else if (text.startsWith("[T") || text.startsWith("[C") || text.startsWith("[ ")) {
                Matcher named = CALLER.matcher(text);
                if (named.find()) {
                    caller = named.group("caller");
                    text = text.substring(Math.min(text.length(), named.end() + 1));
                }
            }
        }
        return new LogLine(number, seconds, host.isEmpty() ? caller : host + "/" + caller, text);
    }

    boolean hasTime() {
        return !Double.isNaN(seconds);
    }
}
