/**
 * Analyses requests to block devices and their durations.
 *
 * {@snippet :
 * BlockIo io = new BlockIo(threads, TimeWindow.ALL);
 * Engine.run(recording, List.of(threads, io));
 * io.entries().forEach(entry -> out.accept(entry.group(), entry.service().quantile(0.99)));
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.analysis.block;
