package sonde.probe.plan;

/**
 * What was found out about a feature.
 *
 * @param reason what was tried and what came back; for {@link Answer#YES} often empty
 * @param remedy what to do to get it; empty when there is nothing to do
 */
public record Finding(Answer answer, String reason, String remedy) {
    /** Three outcomes: a test that could not be made is no "no". */
    public enum Answer {
        /** Tried, works. */
        YES,
        /** Tried, refused. */
        NO,
        /** Could not be tried. */
        UNKNOWN
    }

    /** Tried, works. */
    public static Finding yes() {
        return new Finding(Answer.YES, "", "");
    }

    /** Tried, works; how it was seen. */
    public static Finding yes(String reason) {
        return new Finding(Answer.YES, reason, "");
    }

    /** Tried, refused. */
    public static Finding no(String reason, String remedy) {
        return new Finding(Answer.NO, reason, remedy);
    }

    /** Could not be tried. */
    public static Finding unknown(String reason) {
        return new Finding(Answer.UNKNOWN, reason, "");
    }
}
