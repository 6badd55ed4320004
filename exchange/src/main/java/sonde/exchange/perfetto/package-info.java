/**
 * Reads Perfetto traces, streams of {@code TracePacket} messages (protos/perfetto/trace/ in
 * google/perfetto).
 *
 * {@snippet :
 * if (PerfettoReader.isPerfetto(input)) {
 *     try (Recording trace = PerfettoReader.open(input)) {
 *         Engine.run(trace, operators);
 *     }
 * }
 * }
 */
package sonde.exchange.perfetto;
