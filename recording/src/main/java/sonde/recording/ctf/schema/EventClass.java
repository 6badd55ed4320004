package sonde.recording.ctf.schema;

import org.jspecify.annotations.Nullable;

/**
 * A kind of event.
 *
 * @param id what event headers say
 * @param name null when it has none
 * @param specificContext before the payload; null for none
 * @param payload the fields; null for none
 */
public record EventClass(
        long id,
        @Nullable String name,
        FieldClass.@Nullable StructureClass specificContext,
        FieldClass.@Nullable StructureClass payload) {}
