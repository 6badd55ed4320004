/**
 * Decides what to record and how: a plan is made from a spec and the features of the kernel. All
 * three are plain data. Planning does not touch the kernel, so tests and {@code --plan} can make
 * plans for other machines.
 *
 * {@snippet :
 * RecordSpec spec = RecordSpec.of(TargetMode.COMMAND).withEvents(List.of("irq:*"));
 * MachineSize machine = new MachineSize(2, 8L << 30);
 * RecordPlan plan = RecordPlanner.plan(spec, KernelFeatureProbe.probe(), machine);
 * plan.owners().forEach(owner -> System.out.println(owner.event() + " from " + owner.source()));
 * }
 */
package sonde.probe.plan;
