/**
 * What can be probed, and named probes: {@code sonde probe}.
 *
 * {@snippet :
 * try (ProbedObject program = ProbedObjects.open(Optional.of("./server"), OptionalInt.empty(), …)) {
 *     ProbeAnswer functions = SourceProbeRecipe.functions(program, "parse_*");
 * }
 * }
 */
package sonde.tools.probe;
