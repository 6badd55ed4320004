package sonde.probe.plan;

/**
 * What was found out about a feature.
 *
 * @param reason what was tried and what came back; for {@link FindingAnswer#YES} often empty
 * @param remedy what to do to get it; empty when there is nothing to do
 */
public record FeatureFinding(FindingAnswer answer, String reason, String remedy) {
    /** Three outcomes: a test that could not be made is no "no". */
    public enum FindingAnswer {
        /** Tried, works. */
        YES,
        /** Tried, refused. */
        NO,
        /** Could not be tried. */
        UNKNOWN
    }

    /** Tried, works. */
    public static FeatureFinding yes() {
        return new FeatureFinding(FindingAnswer.YES, "", "");
    }

    /** Tried, works; how it was seen. */
    public static FeatureFinding yes(String reason) {
        return new FeatureFinding(FindingAnswer.YES, reason, "");
    }

    /** Tried, refused. */
    public static FeatureFinding no(String reason, String remedy) {
        return new FeatureFinding(FindingAnswer.NO, reason, remedy);
    }

    /** Could not be tried. */
    public static FeatureFinding unknown(String reason) {
        return new FeatureFinding(FindingAnswer.UNKNOWN, reason, "");
    }
}
