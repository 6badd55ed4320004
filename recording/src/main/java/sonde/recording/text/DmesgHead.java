package sonde.recording.text;

import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;

/**
 * What stands before a message of the kernel's log: as {@code dmesg} prints it in each of its time
 * formats, as the console does, as a record of /dev/kmsg (Documentation/ABI/testing/dev-kmsg), or
 * as journalctl -k and syslog do.
 */
final class DmesgHead {
    private static final long SECOND = 1_000_000_000L;
    private static final String MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec";
    private static final String DAYS = "MonTueWedThuFriSatSun";
    private static final byte[] KERNEL = KeyValueTokens.bytes("kernel:");
    static final String[] LEVELS = {
        "emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"
    };

    // include/uapi/linux/... : <syslog.h>, LOG_FAC; util-linux prints these names.
    static final String[] FACILITIES = {
        "kern",
        "user",
        "mail",
        "daemon",
        "auth",
        "syslog",
        "lpr",
        "news",
        "uucp",
        "cron",
        "authpriv",
        "ftp"
    };

    private final LineScan scan = new LineScan();

    /** What the time of a line is. */
    enum Kind {
        NONE,
        /** Since boot. */
        BOOT,
        /** Since 1970; without a year or zone as if in 1970 and UTC. */
        WALL,
        /** Since the line before. */
        STEP,
    }

    Kind kind = Kind.NONE;
    long time;

    /** -1 when the line does not say. */
    int level;

    int facility;

    /** The thread that wrote it ({@code [ T104]}); -1 unknown. */
    int tid;

    /** The CPU that wrote it outside of any thread ({@code [C1]}); -1 unknown. */
    int cpu;

    int textFrom;

    /** Reads the head; false when the line has none. */
    boolean parse(byte[] b, int from, int to) {
        kind = Kind.NONE;
        level = -1;
        facility = -1;
        tid = -1;
        cpu = -1;
        scan.over(b, from, to);
        if (priority()) {
            // may stand alone: <6>text
            textFrom = scan.at;
        } else if (!names(b)) {
            scan.at = from;
        }
        int start = scan.at;
        if (record()) {
            return true;
        }
        scan.at = start;
        if (scan.peek() == '[' && bracket(b)) {
            return text();
        }
        scan.at = start;
        if (iso()) {
            kernel(b, to);
            return text();
        }
        scan.at = start;
        if (syslog(b, to)) {
            return text();
        }
        scan.at = start;
        return level >= 0 && text();
    }

    /** The time of this line, behind one of that time. */
    long timeAfter(long before) {
        return switch (kind) {
            case NONE -> before;
            case STEP -> before > Long.MAX_VALUE - time ? before : before + time;
            case BOOT, WALL -> time;
        };
    }

    private boolean text() {
        scan.take(' ');
        textFrom = scan.at;
        return true;
    }

    private boolean priority() {
        int start = scan.at;
        if (scan.take('<') && scan.decimal() && scan.value < 1 << 10 && scan.take('>')) {
            level = (int) scan.value & 7;
            facility = (int) scan.value >> 3;
            return true;
        }
        scan.at = start;
        return false;
    }

    /** {@code kern :info : }: dmesg -x. */
    private boolean names(byte[] b) {
        int start = scan.at;
        int found = name(b, FACILITIES);
        scan.blanks();
        if (found >= 0 && scan.take(':')) {
            int severity = name(b, LEVELS);
            scan.blanks();
            if (severity >= 0 && scan.take(':')) {
                scan.blanks();
                facility = found;
                level = severity;
                return true;
            }
        }
        scan.at = start;
        return false;
    }

    private int name(byte[] b, String[] names) {
        int start = scan.at;
        while (LineScan.isLetter(scan.peek())) {
            scan.at++;
        }
        if (scan.at - start > 8) {
            return -1;
        }
        String word = KeyValueTokens.ascii(b, start, scan.at);
        for (int i = 0; i < names.length; i++) {
            if (names[i].equals(word)) {
                return i;
            }
        }
        return -1;
    }

    /** {@code 6,339,5140900,-;text}: priority, sequence, microseconds, flags. */
    private boolean record() {
        if (!scan.decimal() || scan.value >= 1 << 16) {
            return false;
        }
        long prefix = scan.value;
        if (!scan.take(',') || !scan.decimal() || !scan.take(',') || !scan.decimal()) {
            return false;
        }
        long micros = scan.value;
        if (!scan.take(',') || micros > Long.MAX_VALUE / 1000) {
            return false;
        }
        while (!scan.atEnd() && scan.peek() != ';') {
            scan.at++;
        }
        if (!scan.take(';')) {
            return false;
        }
        level = (int) prefix & 7;
        facility = (int) prefix >> 3;
        kind = Kind.BOOT;
        time = micros * 1000;
        textFrom = scan.at;
        return true;
    }

    private boolean bracket(byte[] b) {
        scan.at++;
        int start = scan.at;
        scan.blanks();
        if (scan.seconds() && scan.fraction > 0) {
            kind = Kind.BOOT;
            time = scan.value;
            scan.blanks();
            if (scan.take('<')) { // dmesg -d: and how long after the one before
                skipTo('>');
            }
            return scan.take(']') && caller();
        }
        scan.at = start;
        if (human(b)) {
            return true;
        }
        scan.at = start;
        scan.blanks();
        if (scan.take('<') || scan.take('+')) { // "[<    0.1>]", "[  +0.02]"
            scan.blanks();
            boolean step = scan.seconds();
            kind = step ? Kind.STEP : Kind.NONE;
            time = step ? scan.value : 0;
            scan.take('>');
            return step && scan.take(']');
        }
        scan.at = start;
        return minute(b) && scan.take(']');
    }

    /** {@code Nov20 20:54}, the year is not told: dmesg --reltime where a minute begins. */
    private boolean minute(byte[] b) {
        int month = month(b);
        int day = month < 0 ? -1 : number(31);
        int hour = day < 0 ? -1 : number(24);
        int minute = hour >= 0 && scan.take(':') ? number(60) : -1;
        return minute >= 0 && wall(1970, month, day, (hour * 60L + minute) * 60 * SECOND, 0);
    }

    private boolean skipTo(char end) {
        while (!scan.atEnd() && scan.peek() != end) {
            scan.at++;
        }
        return scan.take(end);
    }

    /** {@code [ T104]} or {@code [ C0]}: CONFIG_PRINTK_CALLER. */
    private boolean caller() {
        int start = scan.at;
        if (scan.take('[')) {
            scan.blanks();
            boolean thread = scan.take('T');
            if ((thread || scan.take('C')) && scan.decimal() && scan.value < 1 << 22) {
                long number = scan.value;
                if (scan.take(']')) {
                    tid = thread ? (int) number : -1;
                    cpu = thread ? -1 : (int) Math.min(number, Short.MAX_VALUE);
                    return true;
                }
            }
        }
        scan.at = start;
        return true;
    }

    private int three(byte[] b, String names) {
        if (scan.to - scan.at < 3) {
            return -1;
        }
        int found = names.indexOf(KeyValueTokens.ascii(b, scan.at, scan.at + 3));
        if (found < 0 || found % 3 != 0) {
            return -1;
        }
        scan.at += 3;
        return found / 3;
    }

    private int month(byte[] b) {
        int found = three(b, MONTHS);
        return found < 0 ? -1 : found + 1;
    }

    private int number(int most) {
        scan.blanks();
        return scan.decimal() && scan.value <= most ? (int) scan.value : -1;
    }

    /** {@code Fri Nov 20 18:51:44 2026]}: dmesg -T. */
    private boolean human(byte[] b) {
        if (three(b, DAYS) < 0 || !scan.blanks()) {
            return false;
        }
        int month = month(b);
        int day = number(31);
        long nanos = clock();
        int year = number(9999);
        return nanos >= 0 && scan.take(']') && wall(year, month, day, nanos, 0);
    }

    /** {@code 18:51:44[.123456]} as nanoseconds; -1 for something else. */
    private long clock() {
        int hours = number(24);
        if (hours < 0 || !scan.take(':')) {
            return -1;
        }
        int minutes = number(60);
        if (minutes < 0 || !scan.take(':') || !scan.seconds() || scan.value > 61 * SECOND) {
            return -1;
        }
        return (hours * 60L + minutes) * 60 * SECOND + scan.value;
    }

    private boolean wall(int year, int month, int day, long nanos, long offsetSeconds) {
        try {
            LocalDateTime date = LocalDateTime.of(year, month, day, 0, 0);
            long seconds = date.toEpochSecond(ZoneOffset.UTC) - offsetSeconds;
            if (Math.abs(seconds) > Long.MAX_VALUE / SECOND - 200_000) {
                return false;
            }
            time = seconds * SECOND + nanos;
            kind = Kind.WALL;
            return true;
        } catch (DateTimeException e) {
            return false;
        }
    }

    /**
     * {@code 2026-11-20T20:54:36,144341+00:00}: dmesg --time-format iso, journalctl -o short-iso.
     */
    private boolean iso() {
        int year = number(9999);
        if (year < 1970 || !scan.take('-')) {
            return false;
        }
        int month = number(12);
        if (month < 0 || !scan.take('-')) {
            return false;
        }
        int day = number(31);
        if (day < 0 || !scan.take('T') && !scan.take(' ')) {
            return false;
        }
        long nanos = clock();
        return nanos >= 0 && wall(year, month, day, nanos, zone());
    }

    /** {@code +01:00}, {@code +0100}, {@code Z}, or nothing: seconds east of UTC. */
    private long zone() {
        if (scan.take('Z')) {
            return 0;
        }
        boolean west = scan.peek() == '-';
        if (!west && scan.peek() != '+') {
            return 0;
        }
        scan.at++;
        if (!scan.decimal()) {
            return 0;
        }
        long hours = scan.value;
        long minutes = 0;
        if (scan.take(':')) {
            minutes = scan.decimal() ? scan.value : 0;
        } else {
            minutes = hours % 100;
            hours /= 100;
        }
        long seconds = Math.min(hours * 60 + minutes, 24 * 60) * 60;
        return west ? -seconds : seconds;
    }

    /** {@code Nov 20 20:54:36 host kernel: }: journalctl -k, syslog; the year is not told. */
    private boolean syslog(byte[] b, int to) {
        int month = month(b);
        if (month < 0 || !scan.blanks()) {
            return false;
        }
        int day = number(31);
        long nanos = clock();
        return day > 0 && nanos >= 0 && wall(1970, month, day, nanos, 0) && kernel(b, to);
    }

    /** {@code host kernel:}, and the time since boot that the kernel's own line may have. */
    private boolean kernel(byte[] b, int to) {
        int start = scan.at;
        scan.blanks();
        scan.word();
        scan.blanks();
        if (!LineScan.startsWith(b, scan.at, to, KERNEL)) {
            scan.at = start;
            return false;
        }
        scan.at += KERNEL.length;
        return true;
    }
}
