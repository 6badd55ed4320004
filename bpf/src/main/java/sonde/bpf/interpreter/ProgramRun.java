package sonde.bpf.interpreter;

import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.Disassembler;
import sonde.bpf.insn.InstructionEncoding;
import sonde.bpf.interpreter.ProgramFaultException.Kind;
import sonde.bpf.interpreter.ProgramMemory.AccessException;

/** One run of a program, from R1 to R0. */
final class ProgramRun {
    /** MAX_CALL_FRAMES of include/linux/bpf_verifier.h. */
    private static final int MOST_FRAMES = 8;

    /** MAX_TAIL_CALL_CNT of include/linux/bpf.h. */
    private static final int MOST_TAIL_CALLS = 33;

    /** BPF_MAX_LOOPS of include/linux/bpf.h: passes of may_goto. */
    private static final int MOST_PASSES = 8 * 1024 * 1024;

    private static final int KEPT = 5;
    private static final long LOW = 0xffffffffL;

    final BpfMachine machine;
    final ProgramMemory space;
    private final ProgramContext context;
    private final long contextAddress;

    private final long[] kept = new long[MOST_FRAMES * KEPT];
    private final int[] returns = new int[MOST_FRAMES];
    private int depth;
    private long left;
    private int tailCalls;
    private int passes = MOST_PASSES;
    private @Nullable Executable next;
    private Executable current;
    private int calling;

    ProgramRun(BpfMachine machine, Executable first, ProgramContext context, long budget) {
        this.machine = machine;
        this.space = machine.space();
        this.context = context;
        this.current = first;
        this.left = budget;
        if (context.packet() != null) {
            space.address(context.packet());
        }
        this.contextAddress = space.address(context.region());
    }

    /** R0 of the program. */
    long toEnd() throws ProgramFaultException {
        long result = begin();
        return next == null ? result : follow();
    }

    /** From the first instruction, in the frame that is the deepest now. */
    private long begin() throws ProgramFaultException {
        long[] r = registers(current);
        r[1] = contextAddress;
        r[10] = machine.stackEnd(depth);
        return execute(0, r);
    }

    /**
     * Runs the programs that tail calls ask for; the last one's exit returns from the frame whose
     * program made the first, as on x86-64 since Linux 5.10.
     */
    private long follow() throws ProgramFaultException {
        Executable before = current;
        long result = 0;
        while (next != null) {
            current = next;
            next = null;
            result = begin();
        }
        current = before;
        return result;
    }

    /** Takes what a helper does with many bytes from what is left of the budget. */
    void charge(int bytes) {
        left -= bytes >> 3;
    }

    @Nullable MemoryRegion packet() {
        return context.packet();
    }

    private static long[] registers(Executable executable) {
        int first = BpfRegister.values().length;
        long[] registers = new long[first + executable.constants().length];
        System.arraycopy(
                executable.constants(), 0, registers, first, executable.constants().length);
        return registers;
    }

    /** Calls a subprogram on behalf of a helper. */
    long callBack(long function, long a1, long a2, long a3, long a4) throws ProgramFaultException {
        int slot = (int) function;
        boolean inside = slot >= 0 && slot < current.ops().length;
        if (function >>> 32 != ProgramPreparation.CODE >>> 32 || !inside) {
            throw fault(Kind.FUNCTION, calling, null, "no function is at 0x%x".formatted(function));
        }
        if (depth + 1 >= MOST_FRAMES) {
            throw tooDeep(calling);
        }
        int before = calling;
        depth++;
        long[] r = registers(current);
        r[1] = a1;
        r[2] = a2;
        r[3] = a3;
        r[4] = a4;
        r[10] = machine.stackEnd(depth);
        long result = execute(slot, r);
        depth--;
        calling = before;
        return result;
    }

    /** One method, because a switch of single lines is what the JVM compiles into a jump table. */
    @SuppressWarnings("MethodLength")
    private long execute(int start, long[] r) throws ProgramFaultException {
        long[] ops = current.ops();
        ProgramMemory m = space;
        int base = depth;
        long budget = left;
        int pc = start;
        long w = 0;
        try {
            while (true) {
                if (--budget < 0) {
                    throw fault(Kind.BUDGET, pc, null, "the run took too many instructions");
                }
                w = ops[pc++];
                int to = PreparedOp.to(w);
                int from = PreparedOp.from(w);
                switch (PreparedOp.op(w)) {
                    case PreparedOp.ADD -> r[to] += r[from];
                    case PreparedOp.SUB -> r[to] -= r[from];
                    case PreparedOp.MUL -> r[to] *= r[from];
                    case PreparedOp.DIV -> r[to] = BpfArithmetic.divide(r[to], r[from]);
                    case PreparedOp.OR -> r[to] |= r[from];
                    case PreparedOp.AND -> r[to] &= r[from];
                    case PreparedOp.LSH -> r[to] <<= r[from];
                    case PreparedOp.RSH -> r[to] >>>= r[from];
                    case PreparedOp.MOD -> r[to] = BpfArithmetic.remainder(r[to], r[from]);
                    case PreparedOp.XOR -> r[to] ^= r[from];
                    case PreparedOp.MOV -> r[to] = r[from];
                    case PreparedOp.ARSH -> r[to] >>= r[from];
                    case PreparedOp.SDIV -> r[to] = r[from] == 0 ? 0 : r[to] / r[from];
                    case PreparedOp.SMOD -> r[to] = r[from] == 0 ? r[to] : r[to] % r[from];
                    case PreparedOp.ALU32 + PreparedOp.ADD -> r[to] = r[to] + r[from] & LOW;
                    case PreparedOp.ALU32 + PreparedOp.SUB -> r[to] = r[to] - r[from] & LOW;
                    case PreparedOp.ALU32 + PreparedOp.MUL -> r[to] = r[to] * r[from] & LOW;
                    case PreparedOp.ALU32 + PreparedOp.DIV ->
                            r[to] = BpfArithmetic.divide(r[to] & LOW, r[from] & LOW);
                    case PreparedOp.ALU32 + PreparedOp.OR -> r[to] = (r[to] | r[from]) & LOW;
                    case PreparedOp.ALU32 + PreparedOp.AND -> r[to] = r[to] & r[from] & LOW;
                    case PreparedOp.ALU32 + PreparedOp.LSH ->
                            r[to] = (int) r[to] << (int) r[from] & LOW;
                    case PreparedOp.ALU32 + PreparedOp.RSH ->
                            r[to] = (int) r[to] >>> (int) r[from] & LOW;
                    case PreparedOp.ALU32 + PreparedOp.MOD ->
                            r[to] = BpfArithmetic.remainder(r[to] & LOW, r[from] & LOW);
                    case PreparedOp.ALU32 + PreparedOp.XOR -> r[to] = (r[to] ^ r[from]) & LOW;
                    case PreparedOp.ALU32 + PreparedOp.MOV -> r[to] = r[from] & LOW;
                    case PreparedOp.ALU32 + PreparedOp.ARSH ->
                            r[to] = (int) r[to] >> (int) r[from] & LOW;
                    case PreparedOp.ALU32 + PreparedOp.SDIV ->
                            r[to] = BpfArithmetic.divide32(r[to], r[from]);
                    case PreparedOp.ALU32 + PreparedOp.SMOD ->
                            r[to] = BpfArithmetic.remainder32(r[to], r[from]);
                    case PreparedOp.JEQ -> pc = r[to] == r[from] ? PreparedOp.offset(w) : pc;
                    case PreparedOp.JGT -> pc = above(r[to], r[from]) ? PreparedOp.offset(w) : pc;
                    case PreparedOp.JGE -> pc = above(r[from], r[to]) ? pc : PreparedOp.offset(w);
                    case PreparedOp.JSET -> pc = (r[to] & r[from]) != 0 ? PreparedOp.offset(w) : pc;
                    case PreparedOp.JNE -> pc = r[to] != r[from] ? PreparedOp.offset(w) : pc;
                    case PreparedOp.JSGT -> pc = r[to] > r[from] ? PreparedOp.offset(w) : pc;
                    case PreparedOp.JSGE -> pc = r[to] >= r[from] ? PreparedOp.offset(w) : pc;
                    case PreparedOp.JLT -> pc = above(r[from], r[to]) ? PreparedOp.offset(w) : pc;
                    case PreparedOp.JLE -> pc = above(r[to], r[from]) ? pc : PreparedOp.offset(w);
                    case PreparedOp.JSLT -> pc = r[to] < r[from] ? PreparedOp.offset(w) : pc;
                    case PreparedOp.JSLE -> pc = r[to] <= r[from] ? PreparedOp.offset(w) : pc;
                    case PreparedOp.JMP32, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49 ->
                            pc =
                                    BpfArithmetic.holds32(PreparedOp.op(w), r[to], r[from])
                                            ? PreparedOp.offset(w)
                                            : pc;
                    case PreparedOp.NEG -> r[to] = -r[to];
                    case PreparedOp.NEG32 -> r[to] = -r[to] & LOW;
                    case PreparedOp.SIGN8 -> r[to] = (byte) r[from];
                    case PreparedOp.SIGN16 -> r[to] = (short) r[from];
                    case PreparedOp.SIGN32 -> r[to] = (int) r[from];
                    case PreparedOp.SIGN8_32 -> r[to] = (byte) r[from] & LOW;
                    case PreparedOp.SIGN16_32 -> r[to] = (short) r[from] & LOW;
                    case PreparedOp.SWAP16 -> r[to] = Short.reverseBytes((short) r[to]) & 0xffffL;
                    case PreparedOp.SWAP32 -> r[to] = Integer.reverseBytes((int) r[to]) & LOW;
                    case PreparedOp.SWAP64 -> r[to] = Long.reverseBytes(r[to]);
                    case PreparedOp.ZERO16 -> r[to] &= 0xffffL;
                    case PreparedOp.ZERO32 -> r[to] &= LOW;
                    case PreparedOp.NOTHING -> {}
                    case PreparedOp.WIDE -> {
                        r[to] = r[from];
                        pc = PreparedOp.offset(w);
                    }
                    case PreparedOp.LOAD8 -> r[to] = m.load8(r[from] + PreparedOp.offset(w));
                    case PreparedOp.LOAD16 -> r[to] = m.load16(r[from] + PreparedOp.offset(w));
                    case PreparedOp.LOAD32 -> r[to] = m.load32(r[from] + PreparedOp.offset(w));
                    case PreparedOp.LOAD64 -> r[to] = m.load64(r[from] + PreparedOp.offset(w));
                    case PreparedOp.LOAD8_SIGNED ->
                            r[to] = (byte) m.load8(r[from] + PreparedOp.offset(w));
                    case PreparedOp.LOAD16_SIGNED ->
                            r[to] = (short) m.load16(r[from] + PreparedOp.offset(w));
                    case PreparedOp.LOAD32_SIGNED ->
                            r[to] = (int) m.load32(r[from] + PreparedOp.offset(w));
                    case PreparedOp.STORE8 -> m.store8(r[to] + PreparedOp.offset(w), r[from]);
                    case PreparedOp.STORE16 -> m.store16(r[to] + PreparedOp.offset(w), r[from]);
                    case PreparedOp.STORE32 -> m.store32(r[to] + PreparedOp.offset(w), r[from]);
                    case PreparedOp.STORE64 -> m.store64(r[to] + PreparedOp.offset(w), r[from]);
                    case PreparedOp.ATOMIC -> atomic(w, r);
                    case PreparedOp.GOTO -> pc = PreparedOp.offset(w);
                    case PreparedOp.CALL -> {
                        left = budget;
                        if (call(pc - 1, PreparedOp.offset(w), r)) {
                            if (depth == base) {
                                return 0;
                            }
                            r[0] = follow();
                            pc = leave(r);
                        }
                        budget = left;
                    }
                    case PreparedOp.CALL_LOCAL -> {
                        enter(pc, r);
                        pc = PreparedOp.offset(w);
                    }
                    case PreparedOp.CALL_KERNEL -> {
                        left = budget;
                        callKernel(pc - 1, PreparedOp.offset(w), r);
                        budget = left;
                    }
                    case PreparedOp.EXIT -> {
                        if (depth == base) {
                            left = budget;
                            return r[0];
                        }
                        pc = leave(r);
                    }
                    case PreparedOp.MAY_GOTO -> pc = --passes < 0 ? PreparedOp.offset(w) : pc;
                    case PreparedOp.PACKET8, PreparedOp.PACKET16, PreparedOp.PACKET32 -> {
                        if (packet(w, pc - 1, r)) {
                            left = budget;
                            return 0;
                        }
                    }
                    case PreparedOp.OUTSIDE ->
                            throw fault(Kind.FLOW, pc - 1, null, "the program ends before it");
                    default ->
                            throw fault(Kind.INSTRUCTION, pc - 1, null, "that does not run here");
                }
            }
        } catch (AccessException e) {
            throw fault(
                    Kind.MEMORY,
                    pc - 1,
                    BpfRegister.of(pointer(w)),
                    String.valueOf(e.getMessage()));
        }
    }

    private static boolean above(long left, long right) {
        return left + Long.MIN_VALUE > right + Long.MIN_VALUE;
    }

    /** The register whose address an operation used. */
    private static int pointer(long w) {
        int op = PreparedOp.op(w);
        return op >= PreparedOp.LOAD8 && op <= PreparedOp.LOAD32_SIGNED
                ? PreparedOp.from(w)
                : PreparedOp.to(w);
    }

    private void enter(int pc, long[] r) throws ProgramFaultException {
        if (depth + 1 >= MOST_FRAMES) {
            throw tooDeep(pc - 1);
        }
        returns[depth] = pc;
        System.arraycopy(r, 6, kept, depth * KEPT, KEPT);
        depth++;
        r[10] = machine.stackEnd(depth);
    }

    private int leave(long[] r) {
        depth--;
        System.arraycopy(kept, depth * KEPT, r, 6, KEPT);
        return returns[depth];
    }

    private void atomic(long w, long[] r) {
        int what = PreparedOp.offset(w);
        long address = r[PreparedOp.to(w)] + (short) what;
        boolean wide = (what >>> 16 & 1) != 0;
        AtomicOperation operation = ProgramPreparation.atomicOperation(what);
        long value = r[PreparedOp.from(w)];
        long old = wide ? space.load64(address) : space.load32(address);
        long written =
                switch (operation) {
                    case ADD, FETCH_ADD -> old + value;
                    case OR, FETCH_OR -> old | value;
                    case AND, FETCH_AND -> old & value;
                    case XOR, FETCH_XOR -> old ^ value;
                    case EXCHANGE -> value;
                    case COMPARE_EXCHANGE -> old == (wide ? r[0] : r[0] & LOW) ? value : old;
                };
        if (wide) {
            space.store64(address, written);
        } else {
            space.store32(address, written);
        }
        if (operation == AtomicOperation.COMPARE_EXCHANGE) {
            r[0] = old;
        } else if (operation.fetches()) {
            r[PreparedOp.from(w)] = old;
        }
    }

    /** Whether the load left the packet, which ends the program with 0. */
    private boolean packet(long w, int slot, long[] r) throws ProgramFaultException {
        MemoryRegion data = context.packet();
        if (data == null || r[6] != contextAddress) {
            throw fault(Kind.MEMORY, slot, BpfRegister.R6, "no packet");
        }
        int bytes = 1 << PreparedOp.op(w) - PreparedOp.PACKET8;
        int offset = PreparedOp.offset(w) + (int) r[PreparedOp.from(w)];
        if (offset < 0 || offset > data.length - bytes) {
            return true;
        }
        long value = 0;
        for (int i = 0; i < bytes; i++) {
            value = value << 8 | data.data[data.start + offset + i] & 0xff;
        }
        r[0] = value;
        return false;
    }

    /** Whether another program takes over. */
    private boolean call(int slot, int number, long[] r) throws ProgramFaultException {
        HelperFunction function = machine.helper(number);
        if (function == null) {
            throw fault(Kind.FUNCTION, slot, null, "no such function is known here");
        }
        calling = slot;
        r[0] = function.call(new HelperCall(this, r, slot));
        return next != null;
    }

    private void callKernel(int slot, int btfId, long[] r) throws ProgramFaultException {
        HelperFunction function = machine.kernelFunction(btfId);
        if (function == null) {
            throw fault(Kind.FUNCTION, slot, null, "no such function is known here");
        }
        calling = slot;
        r[0] = function.call(new HelperCall(this, r, slot));
    }

    /** Lets another program take over, from its begin; false after too many. */
    boolean become(Executable program) {
        if (++tailCalls > MOST_TAIL_CALLS) {
            return false;
        }
        next = program;
        return true;
    }

    private ProgramFaultException tooDeep(int slot) {
        return fault(Kind.DEPTH, slot, null, "calls are nested more than 8 deep");
    }

    ProgramFaultException fault(
            Kind kind, int slot, @Nullable BpfRegister register, String reason) {
        long[] words = current.words();
        String text = "the end";
        if (slot < words.length) {
            boolean whole = (words[slot] & 0xff) != 0x18 || slot + 1 == words.length;
            long[] one =
                    whole ? new long[] {words[slot]} : new long[] {words[slot], words[slot + 1]};
            text = Disassembler.text(InstructionEncoding.decode(one).get(0));
        }
        return new ProgramFaultException(kind, slot, register, text, reason);
    }
}
