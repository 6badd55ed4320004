/**
 * Types of C and C++ as debugging information has them, their layout, and where functions find
 * their parameters.
 *
 * <pre>{@code
 * TypeLayout layout = new TypeLayout(entries);
 * CallingConvention convention = new CallingConvention(layout, Machine.X86_64);
 * convention.result(function.type()); // Registers[first=0, count=1]
 * convention.next(parameter.type()); // Registers[first=0, count=2]
 * }</pre>
 */
@org.jspecify.annotations.NullMarked
package sonde.symbol.ctype;
