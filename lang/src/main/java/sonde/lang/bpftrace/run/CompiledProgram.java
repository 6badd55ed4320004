package sonde.lang.bpftrace.run;

import sonde.lang.bpftrace.check.Clause;
import sonde.lang.bpftrace.lower.ProgramSite;
import sonde.lang.ir.Assembly;
import sonde.lang.probes.ProbeGroup;

/**
 * A program and what it is attached to.
 *
 * @param number within the script, for what it loses
 */
public record CompiledProgram(
        int number, ProbeGroup group, Clause clause, ProgramSite site, Assembly assembly) {
    /** Its name in the kernel: 15 letters at most. */
    public String kernelName() {
        String plain = group.first().name().replaceAll("[^A-Za-z0-9_]+", "_");
        return plain.substring(0, Math.min(15, plain.length()));
    }
}
