/**
 * Reads heaptrack's interpreted recordings, after their zstd or gzip wrapper is removed
 * (KDE/heaptrack src/analyze/accumulatedtracedata.cpp).
 *
 * {@snippet :
 * Recording heap = HeaptrackReader.open(input);
 * }
 */
package sonde.exchange.heaptrack;
