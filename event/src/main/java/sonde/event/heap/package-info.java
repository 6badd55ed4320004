/**
 * The heap of a process as it was observed, whoever observed it: probes in the kernel, a library in
 * the process, or a file of another tool. Views and comparisons read only this.
 *
 * {@snippet :
 * HeapSums lost = new HeapSums(200, 8000, 200, 8000, 200, 8000, 0, 1_900_000_000L);
 * HeapStack stack = new HeapStack(pid, List.of(malloc, func1, main), lost);
 * }
 */
package sonde.event.heap;
