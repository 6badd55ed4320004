/**
 * Reads speedscope's own files (jlfwong/speedscope src/lib/file-format-spec.ts).
 *
 * {@snippet :
 * Recording profile = SpeedscopeReader.open(input);
 * }
 */
package sonde.exchange.speedscope;
