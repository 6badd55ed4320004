package sonde.tools.report.answer;

import java.util.Locale;
import sonde.event.result.Unit;
import sonde.view.NumberText;

/** Numbers as sentences have them. */
final class AnswerWording {
    private AnswerWording() {}

    static String time(long nanos) {
        return NumberText.text(Unit.NANOS, nanos, true);
    }

    static String bytes(long bytes) {
        return NumberText.text(Unit.BYTES, bytes, true);
    }

    static String count(long count) {
        return NumberText.text(Unit.COUNT, count, true);
    }

    /** {@code 12,345 a second}. */
    static String rate(double perSecond) {
        return count(Math.round(perSecond)) + " a second";
    }

    /** {@code " on /var/x"}; the name of a socket that listens begins with where it is. */
    static String on(String object) {
        return object.startsWith("at ") ? " on the socket " + object : " on " + object;
    }

    static String percent(double share) {
        return String.format(Locale.ROOT, "%.0f %%", 100 * share);
    }
}
