package sonde.recording.ctf.schema;

/** How many elements (of text and bytes: how many bytes) a field has. */
public sealed interface FieldLength {
    /** Always as many. */
    record Fixed(long count) implements FieldLength {}

    /** As an earlier field says. */
    record LengthField(FieldLocation location) implements FieldLength {}

    /** Up to a NUL. */
    record Terminated() implements FieldLength {}
}
