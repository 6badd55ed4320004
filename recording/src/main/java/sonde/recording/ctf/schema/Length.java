package sonde.recording.ctf.schema;

/** How many elements (of text and bytes: how many bytes) a field has. */
public sealed interface Length {
    /** Always as many. */
    record Fixed(long count) implements Length {}

    /** As an earlier field says. */
    record Of(Location location) implements Length {}

    /** Up to a NUL. */
    record Terminated() implements Length {}
}
