package sonde.probe.dynamic;

/**
 * An argument of a probe as the kernel takes it.
 *
 * @param name of its field
 * @param fetch how it is found: {@code "+8(%di)"}
 * @param type how it is shown: {@code "u32"}; empty for the kernel's choice
 * @param source the expression that it was made from
 * @param note what is to be said of its value; empty for nothing
 */
public record ProbeArgument(String name, String fetch, String type, String source, String note) {
    /** {@code name=+8(%di):u32}. */
    public String text() {
        return name + "=" + fetch + (type.isEmpty() ? "" : ":" + type);
    }
}
