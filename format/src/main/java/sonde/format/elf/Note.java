package sonde.format.elf;

/**
 * A note (gABI chapter 5, "Note Section").
 *
 * @param owner name without its final zero: "GNU", "stapsdt"
 * @param type by owner
 * @param description its bytes
 */
public record Note(String owner, int type, byte[] description) {
    /** Type of owner "GNU": a build-id. */
    public static final int NT_GNU_BUILD_ID = 3;
}
