/**
 * Decides what to record and how: a plan is made from a spec and the features of the kernel. All
 * three are plain data. Planning does not touch the kernel, so tests and {@code --plan} can make
 * plans for other machines.
 *
 * {@snippet :
 * RecordSpec spec = RecordSpec.of(Meta.Mode.COMMAND).withEvents(List.of("irq:*"));
 * Plan plan = Planner.plan(spec, FeatureProbe.probe(), new MachineSize(2, 8L << 30));
 * plan.owners().forEach(owner -> System.out.println(owner.event() + " from " + owner.source()));
 * }
 */
package sonde.probe.plan;
