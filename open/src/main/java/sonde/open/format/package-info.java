/**
 * Recognises the formats of traces and profiles by their content.
 *
 * {@snippet :
 * Optional<TraceFormat> format = TraceFormat.of(input);
 * if (format.isPresent()) {
 *     Recording recording = format.get().open(input);
 * }
 * }
 */
package sonde.open.format;
