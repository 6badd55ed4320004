package sonde.recording.ctf;

import org.jspecify.annotations.Nullable;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.Role;

/** The magic number at the start of packets. */
record FirstWord(boolean bigEndian) {
    /** How it lies; null when packets have none at their start. */
    static @Nullable FirstWord of(FieldClass.@Nullable Structure header) {
        if (header == null || header.members().isEmpty()) {
            return null;
        }
        FieldClass first = header.members().get(0).type();
        boolean isMagic =
                first instanceof FieldClass.Bits bits
                        && bits.bits() == 32
                        && bits.roles().contains(Role.PACKET_MAGIC_NUMBER);
        return isMagic && first instanceof FieldClass.Bits bits
                ? new FirstWord(bits.bigEndian())
                : null;
    }
}
