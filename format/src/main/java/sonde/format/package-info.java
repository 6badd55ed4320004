/**
 * What every reader of a format shares.
 *
 * {@snippet :
 * if (length > input.sizeBytes() - offset) {
 *     throw new MalformedInputException("perf.data", "attr size", offset, Long.toString(length));
 * }
 * }
 */
package sonde.format;
