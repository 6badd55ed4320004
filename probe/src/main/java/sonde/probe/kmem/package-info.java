/**
 * Watches what the kernel allocates and frees: one table of live addresses over all ways (slabs,
 * pages, per-CPU and vmalloc memory), kept by BPF programs on the allocators' tracepoints, and a
 * look into the slabs themselves for what was freed without an event.
 *
 * {@snippet :
 * try (KmemSession session = KmemSession.open(KmemRequest.ofTasks())) {
 *     session.follow(pid);
 *     session.keep(true);
 *     session.live().forEach(group -> System.out.println(group.count()));
 * }
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.probe.kmem;
