/**
 * Probes by source line and variable: functions, lines and variables of a program or of the kernel,
 * expressions of the source turned into the kernel's fetch arguments, and named probes in tracefs.
 *
 * <pre>{@code
 * try (ProbedObject subject = ProbedObject.program("/usr/bin/bash", GivenPlaces.NONE)) {
 *     PointSpec spec = PointSpec.parse("readline:12 prompt:string");
 *     List<ProbeDefinition> made = new ProbeDefiner(subject).define(spec);
 *     made.getFirst().text(); // "p:probe_bash/readline_L12 /usr/bin/bash:0xb4d2c prompt=%di:string"
 * }
 * }</pre>
 *
 * <p>Attach points of scripts are in {@code sonde.lang.probes}; its page says what the two share
 * and what differs.
 */
@org.jspecify.annotations.NullMarked
package sonde.probe.dynamic;
