/**
 * The formats of traces and profiles that other programs write, told apart by their bytes.
 *
 * {@snippet :
 * Optional<TraceFormat> format = TraceFormat.of(input);
 * if (format.isPresent()) {
 *     Recording recording = format.get().open(input);
 * }
 * }
 */
package sonde.open.format;
