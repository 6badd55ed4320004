package sonde.recording.ctf.schema;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the metadata of a trace says. Filled by the readers of metadata, then only read. */
public final class TraceClass {
    /** 1 or 2. */
    public final int major;

    /** UUID that packets repeat; null for none. */
    public byte @Nullable [] uuid;

    /** Structure before each packet; null for none. */
    public FieldClass.@Nullable StructureClass packetHeader;

    /** {@code env} of TSDL, {@code environment} of CTF 2: longs and strings. */
    public final Map<String, Object> environment = new LinkedHashMap<>();

    public final Map<String, ClockClass> clocks = new LinkedHashMap<>();
    public final Map<Long, StreamClass> streams = new LinkedHashMap<>();

    /** An empty one of that major version. */
    public TraceClass(int major) {
        this.major = major;
    }
}
