package sonde.recording.ctf;

import org.jspecify.annotations.Nullable;
import sonde.recording.ctf.schema.FieldClass;
import sonde.recording.ctf.schema.FieldClass.BitField;
import sonde.recording.ctf.schema.FieldRole;

/** The magic number at the start of packets. */
record FirstWord(boolean bigEndian) {
    /** How it lies; null when packets have none at their start. */
    static @Nullable FirstWord of(FieldClass.@Nullable StructureClass header) {
        if (header == null || header.members().isEmpty()) {
            return null;
        }
        FieldClass first = header.members().get(0).type();
        boolean isMagic =
                first instanceof BitField bits
                        && bits.bits() == 32
                        && bits.roles().contains(FieldRole.PACKET_MAGIC_NUMBER);
        return isMagic && first instanceof BitField bits ? new FirstWord(bits.bigEndian()) : null;
    }
}
