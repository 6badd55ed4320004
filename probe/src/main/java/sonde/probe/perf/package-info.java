/**
 * Opens perf events per CPU, with one ring per CPU, and drains the rings without parsing each
 * event.
 *
 * {@snippet :
 * try (PerfRings rings = PerfRings.open(plan, cpus, target, false, tracefs)) {
 *     rings.enableLife();
 *     rings.enable();
 *     rings.drain(writer::append);
 *     rings.disable();
 * }
 * }
 */
package sonde.probe.perf;
