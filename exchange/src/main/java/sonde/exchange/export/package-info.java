/**
 * Writes recordings in the formats of other tools.
 *
 * {@snippet :
 * ExportLosses losses = new ExportLosses();
 * try (ExportRows rows = ExportRows.of(recordings, ChainNames.of(recordings))) {
 *     ExportFormat.PERFETTO.write(rows, out, losses);
 * }
 * losses.lines().forEach(System.err::println);
 * }
 */
package sonde.exchange.export;
