/**
 * What can be probed, and named probes: {@code sonde probe}.
 *
 * {@snippet :
 * try (Subject program = Targets.open(Optional.of("./server"), OptionalInt.empty(), …)) {
 *     ProbeAnswer functions = SourceProbeRecipe.functions(program, "parse_*");
 * }
 * }
 */
package sonde.tools.probe;
