/**
 * Reads named spans.
 *
 * {@snippet :
 * NamedSlices slices = new NamedSlices(threads, span -> print(span.name(), span.from()));
 * Engine.run(recording, List.of(threads, slices));
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.analysis.slice;
