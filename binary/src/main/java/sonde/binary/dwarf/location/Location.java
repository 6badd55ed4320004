package sonde.binary.dwarf.location;

import java.util.List;

/** Where an object is (DWARF 5, 2.6). */
public sealed interface Location {
    /** In a register, by DWARF's number of the machine. */
    record InRegister(int number) implements Location {}

    /** In memory. */
    record InMemory(Value address) implements Location {}

    /** Nowhere, but this is its value. */
    record Computed(Value value) implements Location {}

    /** Nowhere, but these are its bytes. */
    @SuppressWarnings("ArrayRecordComponent")
    record Bytes(byte[] bytes) implements Location {}

    /**
     * A pointer that is nowhere; what it points to is.
     *
     * @param target the variable pointed to, as an offset in {@code .debug_info}
     * @param offset in it, bytes
     */
    record ImplicitPointer(long target, long offset) implements Location {}

    /** In several places, lowest bits first. */
    record Pieces(List<Piece> pieces) implements Location {}

    /**
     * One of them.
     *
     * @param bits how many
     * @param bitOffset where in its place they begin
     */
    record Piece(Location location, long bits, long bitOffset) {}

    /** Optimised away: it has no value that could be found here. */
    record Absent() implements Location {}

    /** There may be a value, but what says where was not understood. */
    record Unreadable(String why) implements Location {}
}
