package sonde.probe.stack;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R4;
import static sonde.bpf.insn.BpfRegister.R5;
import static sonde.bpf.insn.BpfRegister.R6;
import static sonde.bpf.insn.BpfRegister.R8;
import static sonde.bpf.insn.BpfRegister.R9;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.BpfMap;
import sonde.bpf.LinkCloser;
import sonde.bpf.LoadedBtf;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.Program;
import sonde.bpf.ProgramSpec;
import sonde.bpf.ProgramType;
import sonde.bpf.TaskTree;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.AtomicOperation;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;
import sonde.probe.stack.StackPrograms.EventKind;
import sonde.sys.MachineFacts;

/**
 * A program that unwinds the user stack at each hit of an event and writes it through a bpf-output
 * event as a {@link UserStackRecord}, next to the kernel's own sample of the hit in the same ring.
 */
final class UserStackProgram implements AutoCloseable {
    /** Place of the context on the stack, beside the key of the filter. */
    private static final int CONTEXT = -16;

    private static final int KEY = -4;

    private static final int SECOND = 1_000_000_000;

    /** Bytes of copies of an event's stacks on a CPU in a second: some 1 to 20 KiB each. */
    private static final int COPIED_A_SECOND = 8 << 20;

    private static final long CURRENT_CPU = 0xffffffffL;

    private final Deque<AutoCloseable> parts;
    private final Program program;
    private final EventKind event;
    private final @Nullable BpfMap counters;

    private UserStackProgram(
            Deque<AutoCloseable> parts,
            Program program,
            EventKind event,
            @Nullable BpfMap counters) {
        this.event = event;
        this.counters = counters;
        this.parts = parts;
        this.program = program;
    }

    /**
     * What the programs of a recording share.
     *
     * @param outputs of the type PERF_EVENT_ARRAY, with a bpf-output event for each CPU
     * @param tree whose tasks get stacks; null for all
     * @param ownPid process whose hits are dropped altogether; 0 for none
     */
    record Surroundings(
            KernelFields fields,
            UnwindTables tables,
            BpfMap outputs,
            @Nullable TaskTree tree,
            int ownPid) {}

    /**
     * Loads the program for one event.
     *
     * @param event that its records name
     */
    static UserStackProgram load(Surroundings shared, EventKind event, ProgramSpec.Log log)
            throws IOException {
        ProgramType type = event.source().type();
        Deque<AutoCloseable> parts = new ArrayDeque<>();
        try {
            BpfMap scratch =
                    BpfMap.create(
                            new MapSpec(
                                    "sonde_uw_stack",
                                    MapType.PER_CPU_ARRAY,
                                    4,
                                    UnwindScratch.SCRATCH_BYTES,
                                    1));
            parts.push(scratch);
            int cpus = MachineFacts.possibleCpus().length();
            // The value of a per-CPU map has 32 KiB at most.
            BpfMap copies =
                    BpfMap.create(
                            new MapSpec(
                                    "sonde_uw_copy",
                                    MapType.ARRAY,
                                    4,
                                    UserStackRecord.COPY_BYTES,
                                    cpus));
            parts.push(copies);
            BpfMap counters = null;
            if (event.isCounted()) {
                counters =
                        BpfMap.create(
                                new MapSpec("sonde_uw_hits", MapType.PERF_EVENT_ARRAY, 4, 4, cpus));
                parts.push(counters);
            }
            UnwindCode unwind = new UnwindCode(shared.fields(), shared.tables());
            CodeBuilder code = new CodeBuilder();
            main(code, unwind, shared, new Target(event, scratch, copies, counters));
            unwind.subprograms(code);
            BtfWriter types = new BtfWriter();
            byte[] functions = FunctionTypes.add(types, "sonde_stack", unwind.starts(), 0);
            try (LoadedBtf btf = LoadedBtf.load(types.bytes())) {
                ProgramSpec.Debug debug =
                        new ProgramSpec.Debug(btf.fd(), functions, 8, new byte[0], 16, true);
                Program program =
                        Program.load(
                                new ProgramSpec("sonde_stack", type, code.build())
                                        .with(debug)
                                        .with(log));
                parts.push(program);
                return new UserStackProgram(parts, program, event, counters);
            }
        } catch (IOException e) {
            LinkCloser.all(parts);
            throw e;
        }
    }

    /** What one program is for, and where it unwinds. */
    private record Target(
            EventKind event, BpfMap scratch, BpfMap copies, @Nullable BpfMap counters) {}

    private static void main(
            CodeBuilder code, UnwindCode unwind, Surroundings shared, Target target) {
        Label out = new Label("out");
        Label drop = new Label("drop");
        TaskTree tree = shared.tree();
        HitSource source = target.event().source();
        boolean sampled = source == HitSource.SAMPLE;
        // Only the program of a perf event decides about the sample.
        boolean drops = shared.ownPid() != 0 && sampled;
        code.step("is the task watched").move(R8, R1);
        if (shared.ownPid() != 0) {
            code.call(HelperFunctionId.GET_CURRENT_PID_TGID)
                    .shiftRight(R0, 32)
                    .branch(JumpCondition.EQUAL, R0, shared.ownPid(), drops ? drop : out);
        }
        if (tree != null) {
            tree.filter(code, out);
        }
        code.store(Width.U32, R10, KEY, 0)
                .map(R1, target.scratch().fd())
                .move(R2, R10)
                .add(R2, KEY)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifZero(R0, out)
                .move(R6, R0);
        if (target.counters() != null) {
            onlySampled(code, target.counters(), out);
        }
        Label free = new Label("free");
        if (source == HitSource.UPROBE) {
            // Another task may hit it on this CPU meanwhile: its stack is left out.
            code.step("take the memory")
                    .move(R1, 1)
                    .atomic(AtomicOperation.EXCHANGE, Width.U64, R6, UnwindScratch.TAKEN, R1)
                    .ifNotZero(R1, out);
        }
        unwind.fromRegisters(code, sampled ? R8 : null, free);
        code.move(R2, UnwindScratch.MOST_FRAMES);
        unwind.call(code);
        copy(code, shared, target);
        record(code, shared.outputs(), target.event().number());
        code.at(free).store(Width.U64, R6, UnwindScratch.TAKEN, 0);
        // 0 would drop the event itself.
        code.at(out).exit(1);
        if (drops) {
            code.at(drop).exit(0);
        }
    }

    /** Goes on only where the perf event on this CPU has counted a hit since the last time. */
    private static void onlySampled(CodeBuilder code, BpfMap counters, Label out) {
        code.step("has the hit a sample")
                .map(R1, counters.fd())
                .move(R2, CURRENT_CPU)
                .call(HelperFunctionId.PERF_EVENT_READ)
                .load(Width.U64, R1, R6, UnwindScratch.HITS)
                .branch(JumpCondition.EQUAL, R0, R1, out)
                .store(Width.U64, R6, UnwindScratch.HITS, R0);
    }

    /** Lets the program ask the perf events of its hits. */
    void count(Map<Integer, List<Integer>> fds) throws IOException {
        if (counters != null) {
            for (Map.Entry<Integer, List<Integer>> cpu : fds.entrySet()) {
                counters.put(cpu.getKey(), cpu.getValue().getFirst());
            }
        }
    }

    /** R8 = the context, also afterwards: a copy of the stack where a table was missing. */
    private static void copy(CodeBuilder code, Surroundings shared, Target target) {
        Label whole = new Label("no copy");
        code.store(Width.U64, R10, CONTEXT, R8)
                .load(Width.U64, R1, R6, UnwindScratch.END)
                .branch(JumpCondition.NOT_EQUAL, R1, UserStackEnd.NO_TABLE.ordinal(), whole);
        // Copies must not fill the ring while a slow machine makes tables.
        Label sameSecond = new Label("same second");
        code.step("count copies")
                .call(HelperFunctionId.KTIME_GET_NS)
                .load(Width.U64, R1, R6, UnwindScratch.COPY_SECOND)
                .move(R2, R0)
                .compute(AluOperation.SUBTRACT, R2, R1)
                .branch(JumpCondition.LESS_OR_EQUAL, R2, SECOND, sameSecond)
                .store(Width.U64, R6, UnwindScratch.COPY_SECOND, R0)
                .store(Width.U64, R6, UnwindScratch.COPIES, 0)
                .at(sameSecond)
                .load(Width.U64, R1, R6, UnwindScratch.COPIES)
                .branch(JumpCondition.GREATER_OR_EQUAL, R1, COPIED_A_SECOND, whole)
                .call(HelperFunctionId.GET_SMP_PROCESSOR_ID)
                .store(Width.U32, R10, KEY, R0)
                .map(R1, target.copies().fd())
                .move(R2, R10)
                .add(R2, KEY)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifZero(R0, whole)
                .move(R9, R0);
        UnwindCode.copyStack(code, shared.fields(), target.event().number());
        code.load(Width.U64, R1, R6, UnwindScratch.COPIES)
                .add(R1, R8)
                .store(Width.U64, R6, UnwindScratch.COPIES, R1);
        code.move(R5, R8).load(Width.U64, R1, R10, CONTEXT).move(R4, R9);
        output(code, shared.outputs());
        code.at(whole).load(Width.U64, R8, R10, CONTEXT);
    }

    /** R8 = the context. */
    private static void record(CodeBuilder code, BpfMap outputs, int event) {
        int head = UnwindScratch.HEAD;
        code.step("write the record")
                .store(Width.U32, R6, head + UserStackRecord.MAGIC, UserStackRecord.MAGIC_WORD)
                .store(Width.U32, R6, head + UserStackRecord.EVENT, event)
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .store(Width.U32, R6, head + UserStackRecord.TID, R0)
                .shiftRight(R0, 32)
                .store(Width.U32, R6, head + UserStackRecord.PID, R0)
                .load(Width.U64, R1, R6, UnwindScratch.END)
                .store(Width.U64, R6, head + UserStackRecord.END, R1)
                .load(Width.U64, R1, R6, UnwindScratch.GUESSED)
                .store(Width.U64, R6, head + UserStackRecord.GUESSED, R1)
                .load(Width.U64, R5, R6, UnwindScratch.COUNT)
                .store(Width.U64, R6, head + UserStackRecord.COUNT, R5)
                .and(R5, UnwindScratch.MOST_FRAMES)
                .shiftLeft(R5, 3)
                .add(R5, UnwindScratch.HEAD_BYTES)
                .move(R1, R8)
                .move(R4, R6)
                .add(R4, head);
        output(code, outputs);
    }

    /** R1 = the context, R4 = what is written, R5 = bytes of it. */
    private static void output(CodeBuilder code, BpfMap outputs) {
        code.map(R2, outputs.fd()).move(R3, CURRENT_CPU).call(HelperFunctionId.PERF_EVENT_OUTPUT);
    }

    EventKind event() {
        return event;
    }

    Program program() {
        return program;
    }

    @Override
    public void close() {
        LinkCloser.all(parts);
    }
}
