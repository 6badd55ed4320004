/**
 * Creates, filters, drains (by splice) and removes ftrace instances.
 *
 * {@snippet :
 * Tracefs tracefs = Tracefs.find().orElseThrow();
 * try (TraceInstance instance = TraceInstance.create(tracefs, InstanceName.ofThisProcess("task"))) {
 *     instance.bufferBytes(8 << 20);
 *     instance.follow(List.of(pid));
 *     instance.enable(List.of("raw_syscalls:sys_enter"));
 *     instance.on();
 * }
 * }
 */
package sonde.probe.tracefs;
