/**
 * perf events: opened per CPU, all of a CPU into one ring, drained without looking at each event.
 *
 * {@snippet :
 * try (PerfRings rings = PerfRings.open(plan, cpus, target, false, tracefs)) {
 *     rings.enable();
 *     rings.drain(writer::append);
 *     rings.disable();
 * }
 * }
 */
package sonde.probe.perf;
