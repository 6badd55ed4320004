package sonde.symbol.files;

/**
 * A place that was looked at.
 *
 * @param place path or address, as it would be shown
 * @param outcome what came of it
 * @param detail more about it: the build-ids wanted and found, what is damaged; may be empty
 */
public record Attempt(String place, AttemptResult outcome, String detail) {
    /** What came of it. */
    public enum AttemptResult {
        /** It is the file. */
        FOUND,
        /** There is nothing. */
        ABSENT,
        /** A file of another build. */
        OTHER_BUILD,
        /** The right file, without what is needed. */
        LACKING,
        /** A file that cannot be read as one. */
        BROKEN,
        /** It may not be read, or is no regular file, or a server refused. */
        REFUSED,
    }

    /** One sentence without a final stop. */
    public String sentence() {
        String tail = detail.isEmpty() ? "" : ": " + detail;
        return place
                + switch (outcome) {
                    case FOUND -> " is it";
                    case ABSENT -> " is not there";
                    case OTHER_BUILD -> " is of another build" + tail;
                    case LACKING -> " has no " + detail;
                    case BROKEN -> " is damaged" + tail;
                    case REFUSED -> " cannot be used" + tail;
                };
    }
}
