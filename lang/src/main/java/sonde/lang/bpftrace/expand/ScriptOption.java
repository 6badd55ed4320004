package sonde.lang.bpftrace.expand;

/**
 * An option that a script asks for with {@code getopt("name", default, "help")}.
 *
 * @param standard what it is when not given, as a person would write it: {@code "10"}, {@code
 *     "-1"}, {@code "hello"}, {@code "false"}
 * @param help empty for none
 */
public record ScriptOption(String name, Kind kind, String standard, String help) {
    /** What it takes. */
    public enum Kind {
        /** {@code --name} or {@code --name=true}. */
        BOOLEAN,
        /** Up to 2^64-1: its default is not negative. */
        UNSIGNED,
        /** Its default is negative. */
        SIGNED,
        STRING
    }
}
