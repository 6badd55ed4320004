package sonde.binary.unwind;

/** Goes from a frame to its caller. Not thread-safe. */
public final class FrameStepper {
    private final UnwindMachine machine;
    private final CfiExpression expressions;
    private long missing;
    private long cfa;
    private long asked;

    /** What came of a step. */
    public enum StepOutcome {
        /** The caller's registers are there. */
        STEPPED,
        /** The rule says that there is no caller. */
        OUTERMOST,
        /** Memory was needed that is not known: {@link FrameStepper#missingAddress}. */
        NO_MEMORY,
        /** A register was needed whose value is not known. */
        NO_REGISTER,
        /** The rule makes no sense: an expression that cannot be evaluated, no return address. */
        BAD_RULE,
    }

    /** For stacks of one machine. */
    public FrameStepper(UnwindMachine machine) {
        this.machine = machine;
        this.expressions = new CfiExpression(machine);
    }

    /** The address that {@link StepOutcome#NO_MEMORY} speaks of. */
    public long missingAddress() {
        return missing;
    }

    /** A bit for each column whose value mattered since {@link #forgetAsked}, restoring apart. */
    public long asked() {
        return asked | expressions.asked;
    }

    /** Begins anew with {@link #asked}. */
    public void forgetAsked() {
        asked = 0;
        expressions.asked = 0;
    }

    /**
     * Applies a rule.
     *
     * @param from registers of the frame
     * @param to gets the caller's; program counter among them
     */
    public StepOutcome step(
            FrameRule rule, RegisterValues from, RegisterValues to, UnwindMemory memory) {
        if (rule.cfaExpression.length > 0) {
            StepOutcome outcome = expressions.run(rule.cfaExpression, from, memory);
            if (outcome != StepOutcome.STEPPED) {
                missing = expressions.missingAddress();
                return outcome;
            }
            cfa = expressions.result();
        } else if (from.has(rule.cfaRegister)) {
            asked |= 1L << rule.cfaRegister;
            cfa = narrow(from.get(rule.cfaRegister) + rule.cfaOffset);
        } else {
            return StepOutcome.NO_REGISTER;
        }
        to.keep(from);
        to.set(machine.stackPointer(), cfa);
        boolean returns = false;
        for (int i = 0; i < rule.columns.length; i++) {
            int column = rule.columns[i];
            if (column == rule.returnColumn) {
                returns = true;
                if (rule.kinds[i] == FrameRule.UNDEFINED) {
                    return StepOutcome.OUTERMOST;
                }
            }
            StepOutcome outcome = restore(rule, i, from, to, memory);
            if (outcome != StepOutcome.STEPPED) {
                return outcome;
            }
        }
        return returned(rule, returns, from, to);
    }

    private StepOutcome returned(
            FrameRule rule, boolean told, RegisterValues from, RegisterValues to) {
        int column = rule.returnColumn;
        RegisterValues where = told ? to : from;
        if (!told && !machine.hasLinkRegister() || column >= machine.columns()) {
            return StepOutcome.BAD_RULE;
        }
        if (!where.has(column)) {
            return StepOutcome.NO_REGISTER;
        }
        asked |= told ? 0 : 1L << column;
        long address = where.get(column);
        to.set(column, address);
        to.set(machine.programCounter(), machine.address(address));
        return StepOutcome.STEPPED;
    }

    private StepOutcome restore(
            FrameRule rule, int i, RegisterValues from, RegisterValues to, UnwindMemory memory) {
        int column = rule.columns[i];
        switch (rule.kinds[i]) {
            case FrameRule.UNDEFINED -> to.forget(column);
            case FrameRule.SAME -> copy(from, column, to, column);
            case FrameRule.REGISTER -> copy(from, (int) rule.operands[i], to, column);
            case FrameRule.VAL_OFFSET -> to.set(column, cfa + rule.operands[i]);
            case FrameRule.OFFSET -> {
                return load(narrow(cfa + rule.operands[i]), to, column, rule, memory);
            }
            default -> {
                StepOutcome outcome = expressions.run(rule.expressions[i], cfa, from, memory);
                if (outcome != StepOutcome.STEPPED) {
                    missing = expressions.missingAddress();
                    return outcome;
                }
                if (rule.kinds[i] == FrameRule.EXPRESSION) {
                    return load(expressions.result(), to, column, rule, memory);
                }
                to.set(column, expressions.result());
            }
        }
        return StepOutcome.STEPPED;
    }

    private void copy(RegisterValues from, int source, RegisterValues to, int column) {
        if (from.has(source)) {
            asked |= source == column ? 0 : 1L << source;
            to.set(column, from.get(source));
        } else {
            to.forget(column);
        }
    }

    /** Only the return address is worth an end: another register may never be asked for. */
    private StepOutcome load(
            long address, RegisterValues to, int column, FrameRule rule, UnwindMemory memory) {
        if (memory.has(address, machine.wordBytes())) {
            to.set(column, memory.read(address, machine.wordBytes(), column));
            return StepOutcome.STEPPED;
        }
        to.forget(column);
        missing = address;
        return column == rule.returnColumn ? StepOutcome.NO_MEMORY : StepOutcome.STEPPED;
    }

    private long narrow(long value) {
        return machine.wordBytes() == 4 ? value & 0xffff_ffffL : value;
    }

    /**
     * Follows the frame pointer, where nothing tells how code keeps its frames. Only the pointer,
     * the stack pointer (where it follows from it) and the program counter are known afterwards.
     *
     * @return {@code BAD_RULE} where the machine's calls have no such chain, {@code OUTERMOST} when
     *     the pointer is 0
     */
    public StepOutcome follow(RegisterValues from, RegisterValues to, UnwindMemory memory) {
        int word = machine.wordBytes();
        if (machine.frameRecord() == UnwindMachine.FrameRecord.NONE) {
            return StepOutcome.BAD_RULE;
        }
        if (!from.has(machine.framePointer())) {
            return StepOutcome.NO_REGISTER;
        }
        asked |= 1L << machine.framePointer();
        long pointer = from.get(machine.framePointer());
        if (pointer == 0) {
            return StepOutcome.OUTERMOST;
        }
        boolean below = machine.frameRecord() == UnwindMachine.FrameRecord.BELOW_POINTER;
        long at = below ? pointer - 2L * word : pointer;
        if (!memory.has(at, 2 * word)) {
            missing = at;
            return StepOutcome.NO_MEMORY;
        }
        to.clear();
        cfa = at + 2L * word;
        to.set(machine.framePointer(), memory.read(at, word));
        to.set(machine.programCounter(), machine.address(memory.read(at + word, word)));
        if (below || !machine.hasLinkRegister()) {
            to.set(machine.stackPointer(), cfa);
        }
        return StepOutcome.STEPPED;
    }
}
