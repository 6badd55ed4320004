package sonde.lang.bpftrace.lower;

import sonde.lang.bpftrace.check.Clause;
import sonde.lang.ir.Function;

/** The pass that makes operations of a clause. */
public final class Lowering {
    private Lowering() {}

    /** Where the context of a user probe keeps an argument; -1 when it is not in a register. */
    public static int argumentOffset(int index) {
        return Registers.argument(index);
    }

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
