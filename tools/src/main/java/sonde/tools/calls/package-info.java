/** {@code sonde calls}: the calls of library functions of a program, in ltrace's lines. */
@org.jspecify.annotations.NullMarked
package sonde.tools.calls;
