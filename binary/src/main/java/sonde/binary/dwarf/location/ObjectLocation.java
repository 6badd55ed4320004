package sonde.binary.dwarf.location;

import java.util.List;

/** Where an object is (DWARF 5, 2.6). */
public sealed interface ObjectLocation {
    /** In a register, by DWARF's number of the machine. */
    record InRegister(int number) implements ObjectLocation {}

    /** In memory. */
    record InMemory(SymbolicValue address) implements ObjectLocation {}

    /** Nowhere, but this is its value. */
    record ImplicitValue(SymbolicValue value) implements ObjectLocation {}

    /** Nowhere, but these are its bytes. */
    @SuppressWarnings("ArrayRecordComponent")
    record ImplicitBytes(byte[] bytes) implements ObjectLocation {}

    /**
     * A pointer that is nowhere; what it points to is.
     *
     * @param target the variable pointed to, as an offset in {@code .debug_info}
     * @param offset in it, bytes
     */
    record ImplicitPointer(long target, long offset) implements ObjectLocation {}

    /** In several places, lowest bits first. */
    record LocationPieces(List<LocationPiece> pieces) implements ObjectLocation {}

    /**
     * One of them.
     *
     * @param bits how many
     * @param bitOffset where in its place they begin
     */
    record LocationPiece(ObjectLocation location, long bits, long bitOffset) {}

    /** Optimised away: it has no value that could be found here. */
    record AbsentLocation() implements ObjectLocation {}

    /** There may be a value, but what says where was not understood. */
    record UnreadableLocation(String why) implements ObjectLocation {}
}
