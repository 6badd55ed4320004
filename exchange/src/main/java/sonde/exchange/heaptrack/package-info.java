/**
 * heaptrack's recordings, interpreted and without their zstd or gzip wrapper (KDE/heaptrack
 * src/analyze/accumulatedtracedata.cpp).
 *
 * {@snippet :
 * Recording heap = HeaptrackReader.open(input);
 * }
 */
package sonde.exchange.heaptrack;
