package sonde.lang.declare;

import sonde.lang.type.ValueType;

/**
 * A parameter of a function where the function is entered.
 *
 * @param name empty where nothing tells it
 * @param place where it is
 * @param at of registers the index of the first among those for arguments, of the stack bytes from
 *     the stack pointer, else 0
 * @param why it cannot be read, as "is in …"; empty when it can
 */
public record EntryArgument(String name, ValueType type, ArgumentPlace place, int at, String why) {
    /** Where a parameter is. */
    public enum ArgumentPlace {
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
