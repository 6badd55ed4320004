package sonde.bpf.insn;

/** Size of a memory access; the code is bits 3 and 4 of the opcode (RFC 9669 section 5). */
public enum Width {
    U32(0x00, 4),
    U16(0x08, 2),
    U8(0x10, 1),
    U64(0x18, 8);

    private static final Width[] ALL = values();

    private final int code;
    private final int bytes;

    Width(int code, int bytes) {
        this.code = code;
        this.bytes = bytes;
    }

    int code() {
        return code;
    }

    /** Bytes accessed. */
    public int bytes() {
        return bytes;
    }

    /**
     * Access of that many bytes.
     *
     * @throws IllegalArgumentException unless 1, 2, 4 or 8
     */
    public static Width of(int bytes) {
        for (Width width : ALL) {
            if (width.bytes == bytes) {
                return width;
            }
        }
        throw new IllegalArgumentException("no access has " + bytes + " bytes");
    }

    static Width ofOpcode(int opcode) {
        return ALL[opcode >> 3 & 3];
    }
}
