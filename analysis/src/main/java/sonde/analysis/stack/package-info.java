/**
 * Sums samples, off-CPU time and page faults along call chains.
 *
 * {@snippet :
 * StackTable stacks = new StackTable(symbols);
 * StackAggregate samples = StackAggregate.cpuSamples(threads, stacks, TimeWindow.ALL);
 * Engine.run(recording, List.of(threads, samples));
 * CallTree tree = new CallTreeBuilder(stacks, symbols).tree("on-cpu", Unit.NANOS, samples.sums());
 * }
 */
@org.jspecify.annotations.NullMarked
package sonde.analysis.stack;
