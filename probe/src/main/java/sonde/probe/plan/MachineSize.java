package sonde.probe.plan;

/**
 * The size of a machine.
 *
 * @param cpus that are online
 * @param memoryBytes of RAM
 */
public record MachineSize(int cpus, long memoryBytes) {
    public MachineSize {
        if (cpus < 1 || memoryBytes < 1) {
            throw new IllegalArgumentException(cpus + " CPUs, " + memoryBytes + " bytes");
        }
    }
}
