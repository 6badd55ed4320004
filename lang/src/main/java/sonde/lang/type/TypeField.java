package sonde.lang.type;

/**
 * A member of a structure or union.
 *
 * @param name empty for a structure or union whose members count as those of the outer one
 * @param bitOffset from the start of the structure
 * @param bits of a bitfield, 0 for a member that is none
 * @param place what lies at the offset
 */
public record TypeField(String name, ValueType type, long bitOffset, int bits, FieldPlace place) {
    /** What lies at the offset. */
    public enum FieldPlace {
        /** The member. */
        HERE,
        /** 4 bytes: length (upper half) and offset from the start of the event (__data_loc). */
        DATA_LOC,
        /** 4 bytes: length and offset from behind these 4 bytes (__rel_loc). */
        RELATIVE_LOC,
        /** The head of every event, which the kernel keeps from programs. */
        CLOSED,
        /** The first 8 bytes of the member; others are in the next register for arguments. */
        REGISTERS,
        /** The address of the member, which is in the process. */
        REFERENCE,
        /** Nothing: the member is so far from the process's stack pointer. */
        STACK,
    }

    /** A member that is no bitfield. */
    public TypeField(String name, ValueType type, long offsetBytes) {
        this(name, type, offsetBytes * 8, 0, FieldPlace.HERE);
    }

    /** From the start of the structure; of a bitfield the byte its first bit lies in. */
    public int offsetBytes() {
        return (int) (bitOffset / 8);
    }

    /** As a member of what this one's structure lies in. */
    TypeField shifted(long moreBits) {
        return new TypeField(name, type, bitOffset + moreBits, bits, place);
    }
}
