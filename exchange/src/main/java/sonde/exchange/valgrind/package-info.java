/**
 * Reads the files of valgrind's callgrind, cachegrind and massif (valgrind.org, "Callgrind Format
 * Specification"; ms_print's input).
 *
 * {@snippet :
 * Recording costs = CallgrindReader.open(input);
 * Recording heap = MassifReader.open(input);
 * }
 */
package sonde.exchange.valgrind;
