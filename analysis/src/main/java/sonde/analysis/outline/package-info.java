/**
 * Sums the content of recordings that are not a kernel's: named spans, counters, packets.
 *
 * {@snippet :
 * SpanSummary spans = new SpanSummary(TimeWindow.ALL, thread -> true);
 * Engine.run(recordings, List.of(threads, new NamedSlices(threads, spans)), 0);
 * spans.sums().forEach(sum -> show(sum.name(), sum.count(), sum.nanos()));
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.analysis.outline;
