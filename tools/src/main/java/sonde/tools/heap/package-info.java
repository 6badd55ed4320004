/**
 * {@code sonde heap}: what a program allocated, what made its peak, and what it did not free.
 *
 * {@snippet :
 * HeapFile file = HeapFormat.read(path, HeapSums.UNKNOWN);
 * Report report = new HeapReport(file, view).report();
 * }
 */
package sonde.tools.heap;
