package sonde.probe.dynamic;

/**
 * An argument of a probe as the kernel takes it.
 *
 * @param name of its field
 * @param fetch how it is found: {@code "+8(%di)"}
 * @param type how it is shown: {@code "u32"}; empty for the kernel's choice
 * @param source the expression that it was made from
 * @param shown what the value is where the kernel's types cannot say it, see {@link
 *     sonde.recording.ftrace.ProbeField}; empty for what the kernel says
 */
public record ProbeArgument(String name, String fetch, String type, String source, String shown) {
    /** {@code name=+8(%di):u32}. */
    public String text() {
        return name + "=" + fetch + (type.isEmpty() ? "" : ":" + type);
    }
}
