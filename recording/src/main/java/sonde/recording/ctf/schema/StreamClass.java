package sonde.recording.ctf.schema;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the data streams of a class have in common. Filled by the readers of metadata. */
public final class StreamClass {
    public final long id;

    /** What its times count; null when it has none. */
    public @Nullable ClockClass clock;

    public FieldClass.@Nullable StructureClass packetContext;
    public FieldClass.@Nullable StructureClass eventHeader;
    public FieldClass.@Nullable StructureClass commonContext;
    public final Map<Long, EventClass> events = new LinkedHashMap<>();

    /** One without anything. */
    public StreamClass(long id) {
        this.id = id;
    }
}
