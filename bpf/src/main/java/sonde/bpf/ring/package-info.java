/**
 * Reads the streams that programs write (ring buffers, perf buffers), and writes user ring buffers.
 *
 * {@snippet :
 * try (BpfMap map = BpfMap.create(new MapSpec("events", MapType.RING_BUFFER, 0, 0, 1 << 24));
 *         RingBuffer ring = RingBuffer.open(map)) {
 *     while (running) {
 *         ring.await(100_000_000L, 2_000_000L);
 *         ring.drain((memory, offset, bytes) -> pids.add(memory.get(JAVA_INT, offset)));
 *     }
 * }
 * }
 */
package sonde.bpf.ring;
