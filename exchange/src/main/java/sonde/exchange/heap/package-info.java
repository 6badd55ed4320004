/**
 * What programs allocated, by call stack: the files of heap profilers, each summed up into one
 * {@link sonde.event.heap.HeapProfile} while it is read.
 *
 * {@snippet :
 * HeapProfile profile = HeapFormat.read(path, HeapSums.UNKNOWN).profile();
 * long peak = profile.totals().peakBytes();
 * }
 */
package sonde.exchange.heap;
