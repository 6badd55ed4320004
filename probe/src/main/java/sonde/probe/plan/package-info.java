/**
 * What to record and how: a spec, what the kernel allows, and the plan made of both. All three are
 * plain data; making a plan touches no kernel, so plans for machines that are not here are made in
 * tests and shown by {@code --plan}.
 *
 * {@snippet :
 * RecordSpec spec = RecordSpec.of(Meta.Mode.COMMAND).withEvents(List.of("irq:*"));
 * Plan plan = Planner.plan(spec, FeatureProbe.probe(), new MachineSize(2, 8L << 30));
 * plan.owners().forEach(owner -> System.out.println(owner.event() + " from " + owner.source()));
 * }
 */
package sonde.probe.plan;
