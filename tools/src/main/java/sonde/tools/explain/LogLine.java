package sonde.tools.explain;

import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

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
            Pattern.compile(
                    "\\[ {0,8}(?<seconds>\\d{1,10}\\.\\d{3,9})(?: < *\\+?\\d+\\.\\d+>)?\\]");

    /** The same after its begin was lost. */
    private static final Pattern CUT_TIME =
            Pattern.compile("^ *(?<seconds>\\d{1,10}\\.\\d{6})\\] ");

    /** RFC 5424: {@code <4>1 2026-11-24T10:00:01.123456Z host kernel - - - text}. */
    private static final Pattern RFC5424 =
            Pattern.compile(
                    "^(?:<\\d{1,3}>)?1 \\d{4}-\\d\\d-\\d\\dT[\\d:.]{8,15}(?:Z|[+-]\\d\\d:\\d\\d) "
                            + "(?<host>[\\w.:-]{1,64}) kernel \\S{1,48} \\S{1,32} "
                            + "(?:-|\\[[^\\]]{0,500}\\]) ?\ufeff?");

    /** logcat -b kernel -v threadtime: {@code 11-24 10:00:01.123 0 0 E BUG : text}. */
    private static final Pattern LOGCAT =
            Pattern.compile(
                    "^(?:\\d{4}-)?\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3,6} +(?:\\w+ +)?\\d+ +\\d+ "
                            + "[VDIWEF] (?<tag>[^:\\[]{0,60}): ?");

    private static final Pattern PARTS = Pattern.compile("\\d+|\\s+|:|[^\\d\\s:]+");

    /** dmesg -x. */
    private static final Pattern DECODED =
            Pattern.compile(
                    "^[a-z]{3,8}[0-7]? *:(?:emerg|alert|crit|err|warn|notice|info|debug) *: ");

    private static final Pattern CALLER = Pattern.compile("^ ?\\[ *(?<caller>[TC]\\d+)\\]");

    private static final Pattern ANDROID =
            Pattern.compile(
                    "^(?: ?-?\\(\\d\\)| ?\\[\\d+: *[^\\]:]+: *\\d+\\]| ?\\[\\d+:[^\\]]+\\])+");

    /** dmesg -T and dmesg --time-format iso. */
    private static final Pattern DATE =
            Pattern.compile(
                    "^(?:\\[[A-Z][a-z]{2} [A-Z][a-z]{2} +\\d+ \\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)? "
                            + "\\d{4}\\]"
                            + "|\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d[,.]\\d+(?:Z|[+-]\\d\\d:\\d\\d)"
                            + "|\\[ *(?:\\+\\d+\\.\\d+|[A-Z][a-z]{2} ?\\d+ \\d\\d:\\d\\d)\\])"
                            + "(?: ?\\[ *(?<caller>[TC]\\d+)\\])? ?");

    /** journalctl -o short-monotonic, behind the time. */
    private static final Pattern MONOTONIC = Pattern.compile("^ ?(?<host>[\\w.-]{1,64}) kernel: ?");

    /** {@code Mon DD HH:MM:SS host kernel: } and the same with a date of ISO 8601. */
    private static final Pattern SYSLOG =
            Pattern.compile(
                    "^(?:<\\d{1,3}>)?(?:[A-Z][a-z]{2} [ \\d]?\\d(?: \\d{4})? "
                            + "\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?"
                            + "|[A-Z][a-z]{2} [A-Z][a-z]{2} +\\d+ \\d\\d:\\d\\d:\\d\\d(?: \\d{4})?"
                            + "|\\d{9,10}\\.\\d{3,9}"
                            + "|(?:[A-Z][a-z]{2} )?\\d{4}-\\d\\d-\\d\\d[T ]\\d\\d:\\d\\d:\\d\\d"
                            + "(?:[.,]\\d+)?(?:Z|[+-]\\d\\d:?\\d\\d| [A-Z]{3,5})?)[ ,]"
                            + "(?: ?(?<host>[\\w.:-]{1,64}) )?(?:[a-z]+\\.[a-z]+ )?"
                            + "(?:kernel|user kernel)(?:\\[\\d+\\])?: ?");

    static LogLine of(byte[] bytes, int from, int to, long number) {
        int begin = from;
        int end = to;
        while (end > begin && (bytes[end - 1] == '\r' || bytes[end - 1] == ' ')) {
            end--;
        }
        LogLine usual = usual(bytes, begin, end, number);
        return usual != null
                ? usual
                : of(new String(bytes, begin, end - begin, StandardCharsets.UTF_8), number);
    }

    /** As {@link #of(String, long)}, of a line that begins as the kernel's console writes it. */
    private static @Nullable LogLine usual(byte[] bytes, int from, int to, long number) {
        int at = usualTime(bytes, from, to);
        if (at < 0) {
            return null;
        }
        double seconds = 0;
        double part = 0;
        for (int i = from + 1; i < at - 1; i++) {
            if (bytes[i] == '.') {
                part = 1;
            } else if (bytes[i] != ' ') {
                seconds = seconds * 10 + bytes[i] - '0';
                part *= 10;
            }
        }
        int behind = callerEnd(bytes, at, to);
        String caller = behind == at ? "" : caller(bytes, at, behind);
        int begin = behind < to && bytes[behind] == ' ' ? behind + 1 : behind;
        for (int i = begin; i < to; i++) {
            boolean isJournal =
                    bytes[i] == 'k'
                            && i < begin + 66
                            && i + 7 < to
                            && bytes[i + 6] == ':'
                            && bytes[i + 1] == 'e';
            if (bytes[i] == '\r' || bytes[i] == 27 || isJournal) {
                return null;
            }
        }
        boolean isAndroid =
                begin < to && behind == at && (bytes[begin] == '[' || bytes[begin] == '(');
        return isAndroid
                ? null
                : new LogLine(
                        number,
                        seconds / part,
                        caller,
                        new String(bytes, begin, to - begin, StandardCharsets.UTF_8));
    }

    /** Where the time of a console's line ends; -1 where there is none at its begin. */
    private static int usualTime(byte[] bytes, int from, int to) {
        if (to - from < 4 || bytes[from] != '[') {
            return -1;
        }
        int at = from + 1;
        while (at < to && bytes[at] == ' ') {
            at++;
        }
        int digits = at;
        int point = -1;
        while (at < to && (bytes[at] >= '0' && bytes[at] <= '9' || bytes[at] == '.' && point < 0)) {
            point = bytes[at] == '.' ? at : point;
            at++;
        }
        boolean fits = point > digits && at - point == 7 && at - digits < 18;
        return fits && at < to && bytes[at] == ']' ? at + 1 : -1;
    }

    private static int callerEnd(byte[] bytes, int from, int to) {
        if (from >= to || bytes[from] != '[') {
            return from;
        }
        int at = from + 1;
        while (at < to && bytes[at] == ' ') {
            at++;
        }
        if (at >= to || bytes[at] != 'T' && bytes[at] != 'C') {
            return from;
        }
        at++;
        while (at < to && bytes[at] >= '0' && bytes[at] <= '9') {
            at++;
        }
        return at < to && bytes[at] == ']' ? at + 1 : from;
    }

    private static String caller(byte[] bytes, int from, int to) {
        int begin = from + 1;
        while (bytes[begin] == ' ') {
            begin++;
        }
        return new String(bytes, begin, to - 1 - begin, StandardCharsets.ISO_8859_1);
    }

    /** Whether something stands before the kernel's text: its time, its level, a host. */
    static boolean hasPrefix(byte[] bytes, int from, int to, long number) {
        if (usualTime(bytes, from, to) >= 0) {
            return true;
        }
        String raw = new String(bytes, from, to - from, StandardCharsets.UTF_8).strip();
        LogLine line = of(raw, number);
        return raw.startsWith("Linux version ")
                || line.hasTime()
                || !line.context().isEmpty()
                || line.text().length() < raw.length();
    }

    /** Who printed a line of a console; null where only {@link #of} can tell. */
    static @Nullable String context(byte[] bytes, int from, int to) {
        int at = usualTime(bytes, from, to);
        int behind = at < 0 ? 0 : callerEnd(bytes, at, to);
        return at < 0 || behind == at ? null : caller(bytes, at, behind);
    }

    static LogLine of(String raw, long number) {
        String text = raw;
        if (text.indexOf('\u001b') >= 0) {
            text = COLOUR.matcher(text).replaceAll("");
        }
        if (text.indexOf('\r') >= 0) {
            text = text.replace("\r", "");
        }
        if (text.isEmpty()) {
            return new LogLine(number, Double.NaN, "", "");
        }
        char first = text.charAt(0);
        boolean isQuoted = first == '{' || first == '\u001e' || first == 'd' || first <= ' ';
        if (isQuoted && text.indexOf('"') >= 0) {
            String plain = JournalEntry.plain(text);
            if (!plain.equals(text)) {
                return of(plain, number);
            }
        }
        boolean isOther = first == '[' || first == '<' || first >= '0' && first <= '9';
        LogLine other = isOther ? other(text, number) : null;
        if (other != null) {
            return other;
        }
        Matcher cut = first == ' ' || first <= '9' ? CUT_TIME.matcher(text) : null;
        if (cut != null && cut.lookingAt()) {
            return new LogLine(
                    number,
                    Double.parseDouble(cut.group("seconds")),
                    "",
                    text.substring(cut.end()));
        }
        Matcher decoded = first >= 'a' && first <= 'z' ? DECODED.matcher(text) : null;
        if (decoded != null && decoded.lookingAt()) {
            return of(text.substring(decoded.end()), number);
        }
        String host = "";
        if (first != '[' && first != ' ') {
            Matcher syslog = SYSLOG.matcher(text);
            if (syslog.lookingAt()) {
                host = syslog.group("host") == null ? "" : syslog.group("host");
                text = text.substring(syslog.end());
            } else if (first == '<' && text.indexOf('>') > 0 && text.indexOf('>') < 5) {
                text = text.substring(text.indexOf('>') + 1);
            }
        }
        return timed(text, host, number);
    }

    /** Records of the kernel, of Android's log, and lines with a date alone; else null. */
    private static @Nullable LogLine other(String text, long number) {
        Matcher protocol = RFC5424.matcher(text);
        if (protocol.lookingAt()) {
            return timed(text.substring(protocol.end()), protocol.group("host"), number);
        }
        Matcher android = LOGCAT.matcher(text);
        if (android.lookingAt()) {
            String tag = android.group("tag").strip();
            String rest = text.substring(android.end());
            return timed(tag.isEmpty() ? rest : tag + ": " + rest, "", number);
        }
        Matcher date = DATE.matcher(text);
        if (date.lookingAt() && !SYSLOG.matcher(text).lookingAt()) {
            String caller = date.group("caller") == null ? "" : date.group("caller");
            LogLine rest = timed(text.substring(date.end()), "", number);
            return caller.isEmpty()
                    ? rest
                    : new LogLine(number, rest.seconds(), caller, rest.text());
        }
        Matcher record = RECORD.matcher(text);
        if (!record.lookingAt()) {
            return null;
        }
        double seconds = Double.parseDouble(record.group("micros")) / 1e6;
        String caller = record.group("caller") == null ? "" : record.group("caller");
        return new LogLine(number, seconds, caller, text.substring(record.end()));
    }

    /** Takes off the kernel's time and caller, also where another text stands before them. */
    private static LogLine timed(String printed, String syslogHost, long number) {
        String text = printed;
        String host = syslogHost;
        String caller = "";
        double seconds = Double.NaN;
        int bracket = text.indexOf('[');
        Matcher time = TIME.matcher(text);
        boolean isNear = bracket >= 0 && bracket < FAR;
        if (isNear && time.region(bracket, Math.min(text.length(), bracket + FAR)).find()) {
            seconds = Double.parseDouble(time.group("seconds"));
            text = text.substring(time.end());
            Matcher named = CALLER.matcher(text);
            Matcher android = ANDROID.matcher(text);
            if (named.lookingAt()) {
                caller = named.group("caller");
                text = text.substring(named.end());
            } else if (android.lookingAt()) {
                text = text.substring(android.end());
            }
            Matcher monotonic = MONOTONIC.matcher(text);
            if (monotonic.lookingAt()) {
                host = monotonic.group("host");
                text = text.substring(monotonic.end());
            } else if (text.startsWith(" ")) {
                text = text.substring(1);
            }
        } else if (bracket == 0) {
            Matcher named = CALLER.matcher(text);
            if (named.lookingAt()) {
                caller = named.group("caller");
                text = text.substring(Math.min(text.length(), named.end() + 1));
            }
        }
        String both = host.isEmpty() || caller.isEmpty() ? host + caller : host + "/" + caller;
        return new LogLine(number, seconds, both, text);
    }

    /**
     * What lines begin with that have the same unknown words before the kernel's text: numbers may
     * differ, and grep has - where it has : in the line that matched.
     */
    static Pattern shape(String prefix) {
        StringBuilder regex = new StringBuilder();
        String body = prefix.stripTrailing();
        Matcher part = PARTS.matcher(body);
        while (part.find()) {
            char first = part.group().charAt(0);
            regex.append(
                    first >= '0' && first <= '9'
                            ? "\\d++"
                            : Character.isWhitespace(first)
                                    ? "\\s++"
                                    : first == ':' ? "[:-]" : Pattern.quote(part.group()));
        }
        // Frames begin with a space of their own; a line without text has lost those at its end.
        int spaces = prefix.length() - body.length();
        return Pattern.compile(regex + "(?:\\s{" + spaces + "}|\\s*$)");
    }

    /** The line without such words. */
    LogLine without(Pattern shape) {
        Matcher prefix = shape.matcher(text);
        return prefix.lookingAt()
                ? new LogLine(number, seconds, context, text.substring(prefix.end()))
                : this;
    }

    boolean hasTime() {
        return !Double.isNaN(seconds);
    }
}
