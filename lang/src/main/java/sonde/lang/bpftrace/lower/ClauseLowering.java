package sonde.lang.bpftrace.lower;

import sonde.lang.bpftrace.check.PtRegs;
import sonde.lang.bpftrace.check.ScriptClause;
import sonde.lang.ir.IrFunction;

/** The pass that makes operations of a clause. */
public final class ClauseLowering {
    private ClauseLowering() {}

    /** Where the context of a user probe keeps an argument; -1 when it is not in a register. */
    public static int argumentOffset(int index) {
        return PtRegs.argument(index);
    }

    /**
     * A program.
     *
     * @param unit what it shares with the others
     * @param name a C identifier
     */
    public static IrFunction of(
            ScriptUnit unit, ScriptClause clause, ProgramSite site, String name) {
        return new ProgramLowering(unit, clause, site, name).run();
    }
}
