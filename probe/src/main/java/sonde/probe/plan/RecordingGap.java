package sonde.probe.plan;

/**
 * Something the recording will not have.
 *
 * @param what is missing
 * @param why
 * @param remedy how to get it, empty when there is no way
 */
public record RecordingGap(String what, String why, String remedy) {
    /** One line of all three. */
    public String sentence() {
        return "no " + what + ": " + why + (remedy.isEmpty() ? "" : "; " + remedy);
    }
}
