package sonde.format.elf;

/**
 * A note (gABI chapter 5, "Note Section").
 *
 * @param name the bytes of the name, its zeros among them
 * @param owner the name up to its first zero: "GNU", "stapsdt"
 * @param type by owner
 * @param description its bytes
 */
public record Note(byte[] name, String owner, int type, byte[] description) {
    /** Type of owner "GNU": a build-id. */
    public static final int NT_GNU_BUILD_ID = 3;
}
