/**
 * Unwinds user stacks in the kernel: programs for the events of perf rings, and the tables of files
 * that they follow. docs/stacks.md explains the design.
 *
 * {@snippet :
 * List<EventKind> kinds = List.of(new EventKind(1, false));
 * try (StackPrograms stacks = StackPrograms.load(kinds, Set.of(pid), List.of("ls"), 8 << 20)) {
 *     stacks.attach(bpfOutputs, Map.of(1, cpuClocks), Map.of());
 * }
 * }
 */
package sonde.probe.stack;
