package sonde.lang.bpftrace.lower;

import sonde.lang.bpftrace.check.Clause;
import sonde.lang.ir.Function;

/** The pass that makes operations of a clause. */
public final class Lowering {
    private Lowering() {}

    /**
     * A program.
     *
     * @param unit what it shares with the others
     * @param name a C identifier
     */
    public static Function of(Unit unit, Clause clause, ProgramSite site, String name) {
        return new Lowerer(unit, clause, site, name).run();
    }
}
