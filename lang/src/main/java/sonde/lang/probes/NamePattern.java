package sonde.lang.probes;

/** What bpftrace takes for a pattern of names. */
final class NamePattern {
    private NamePattern() {}

    /** Whether a text means more than itself; brackets ask for a pattern, too. */
    static boolean isPattern(String text) {
        return text.indexOf('*') >= 0 || text.indexOf('[') >= 0 && text.indexOf(']') >= 0;
    }
}
