package sonde.lang.declare;

import sonde.lang.type.Type;

/**
 * A parameter of a function where the function is entered.
 *
 * @param name empty where nothing tells it
 * @param place where it is
 * @param at of registers the index of the first among those for arguments, of the stack bytes from
 *     the stack pointer, else 0
 * @param why it cannot be read, as "is in …"; empty when it can
 */
public record Argument(String name, Type type, Place place, int at, String why) {
    /** Where a parameter is. */
    public enum Place {
        REGISTER,
        /** In two registers, lower bytes first. */
        REGISTERS,
        /** In memory that a register points to. */
        REFERENCE,
        STACK,
        /** Where programs cannot read. */
        NOWHERE,
    }
}
