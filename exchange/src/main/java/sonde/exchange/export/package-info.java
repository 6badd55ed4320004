/**
 * Writes recordings in the formats of other tools.
 *
 * {@snippet :
 * Losses losses = new Losses();
 * try (ExportRows rows = ExportRows.of(recordings, ChainNames.of(recordings))) {
 *     ExportFormat.PERFETTO.write(rows, out, losses);
 * }
 * losses.lines().forEach(System.err::println);
 * }
 */
package sonde.exchange.export;
