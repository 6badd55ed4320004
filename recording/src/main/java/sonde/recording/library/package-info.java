/** Calls of library functions as text: prototypes from a table, and lines in the form of ltrace. */
@org.jspecify.annotations.NullMarked
package sonde.recording.library;
