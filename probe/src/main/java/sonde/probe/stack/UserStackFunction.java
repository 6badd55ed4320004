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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.BpfMap;
import sonde.bpf.LinkCloser;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.insn.Width;
import sonde.bpf.link.KernelTypes;
import sonde.bpf.map.ByteMap;
import sonde.event.result.Frame;

/**
 * A function that programs of scripts call: {@code long ustack(u64 *frames, u64 bytes, void
 * *scratch, void *context)} writes the addresses of the current user stack, innermost first, and
 * zeros behind them. Its result is 0, or below 0 for a task without user memory. It is put behind
 * the instructions of each program that calls it.
 */
public final class UserStackFunction implements AutoCloseable {
    /** Bytes of zeroed memory that each run of a program has for itself and keeps. */
    public static final int SCRATCH_BYTES = UnwindScratch.SCRATCH_BYTES;

    private static final int USER_STACK = 256; // BPF_F_USER_STACK
    private static final int EFAULT = 14;
    private static final int CONTEXT = -8;
    private static final int MOST_ENDS = 16;
    private static final byte[] FIRST = new byte[4];

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final ProgramCode code;
    private final Map<String, Integer> starts;
    private final @Nullable UnwindFiles files;
    private final @Nullable RuntimeNames names;
    private final @Nullable ByteMap ends;
    private final String reason;

    private UserStackFunction() throws IOException {
        try (KernelTypes types = KernelTypes.open()) {
            UnwindTables tables = UnwindTables.open();
            parts.push(tables);
            BpfMap counts =
                    BpfMap.create(new MapSpec("sonde_uw_ends", MapType.ARRAY, 4, 8 * MOST_ENDS, 1));
            parts.push(counts);
            ends = new ByteMap(counts);
            UnwindFiles made = new UnwindFiles(tables);
            files = made;
            RuntimeNames known = RuntimeNames.of(tables);
            names = known;
            UnwindCode unwind = new UnwindCode(KernelFields.of(types.btf()), tables);
            CodeBuilder builder = new CodeBuilder();
            write(builder, unwind, counts);
            unwind.subprograms(builder);
            code = builder.build();
            starts = unwind.starts();
            reason = "";
            parts.push(TableMaker.start(tables, made, known, List.of(), Set.of()));
            parts.push(RuntimeReader.start(tables.jvms(), known));
        } catch (IOException | RuntimeException e) {
            LinkCloser.all(parts);
            throw e;
        }
    }

    private UserStackFunction(String reason) {
        code =
                new CodeBuilder()
                        .step("user stack by frame pointers")
                        .move(R5, R1)
                        .move(R1, R4)
                        .move(R3, R2)
                        .move(R2, R5)
                        .move(R4, USER_STACK)
                        .call(HelperFunctionId.GET_STACK)
                        .exit()
                        .build();
        starts = Map.of();
        files = null;
        names = null;
        ends = null;
        this.reason = reason;
    }

    /**
     * One that unwinds by tables of {@code .eh_frame}, with empty tables.
     *
     * @throws IOException when the kernel lacks something for it
     */
    public static UserStackFunction unwinder() throws IOException {
        return new UserStackFunction();
    }

    /**
     * One that lets the kernel follow frame pointers.
     *
     * @param reason why the unwinder cannot be used
     */
    public static UserStackFunction framePointers(String reason) {
        return new UserStackFunction(reason);
    }

    /** R1 = frames, R2 = bytes, R3 = scratch memory. */
    private static void write(CodeBuilder code, UnwindCode unwind, BpfMap ends) {
        Label none = new Label("no user memory");
        Label fits = new Label("fits");
        Label few = new Label("few");
        Label counted = new Label("counted");
        Label ours = new Label("ours");
        Label done = new Label("done");
        code.step("zeros")
                .move(R6, R3)
                .move(R8, R2)
                .move(R9, R1)
                .store(Width.U64, R10, CONTEXT, R4)
                // A read that fails fills with zeros.
                .move(R3, 0)
                .call(HelperFunctionId.PROBE_READ_KERNEL);
        unwind.fromRegisters(code, null, none);
        code.move(R2, R8)
                .shiftRight(R2, 3)
                .branch(JumpCondition.LESS_OR_EQUAL, R2, UnwindScratch.MOST_FRAMES, few)
                .move(R2, UnwindScratch.MOST_FRAMES)
                .at(few);
        unwind.call(code);
        // How many frames there may be was the script's choice.
        code.step("count the end")
                .load(Width.U64, R1, R6, UnwindScratch.END)
                .branch(JumpCondition.EQUAL, R1, UserStackEnd.LIMIT.ordinal(), counted)
                .and(R1, MOST_ENDS - 1)
                .shiftLeft(R1, 3)
                .mapValue(R2, ends.fd(), 0)
                .add(R2, R1)
                .move(R1, 1)
                .atomicAdd(Width.U64, R2, 0, R1)
                .at(counted);
        framePointers(code, ours, done);
        code.at(ours)
                .step("the frames")
                .load(Width.U64, R2, R6, UnwindScratch.COUNT)
                .and(R2, UnwindScratch.MOST_FRAMES)
                .shiftLeft(R2, 3)
                .branch(JumpCondition.LESS_OR_EQUAL, R2, R8, fits)
                .move(R2, R8)
                .at(fits)
                .move(R1, R9)
                .move(R3, R6)
                .add(R3, UnwindScratch.FRAMES)
                .call(HelperFunctionId.PROBE_READ_KERNEL)
                .at(done)
                .exit(0)
                .at(none)
                .move(R0, -EFAULT)
                .exit();
    }

    /** Until the table of a file is made, frame pointers may lead farther than the tables. */
    private static void framePointers(CodeBuilder code, Label ours, Label done) {
        code.step("follow frame pointers")
                .load(Width.U64, R1, R6, UnwindScratch.END)
                .branch(JumpCondition.NOT_EQUAL, R1, UserStackEnd.NO_TABLE.ordinal(), ours)
                .load(Width.U64, R1, R10, CONTEXT)
                .move(R2, R9)
                .move(R3, R8)
                .move(R4, USER_STACK)
                .call(HelperFunctionId.GET_STACK)
                .load(Width.U64, R1, R6, UnwindScratch.COUNT)
                .shiftLeft(R1, 3)
                .branch(JumpCondition.SIGNED_LESS_OR_EQUAL, R0, R1, ours)
                .jump(done);
    }

    /**
     * A program with the function behind it.
     *
     * @param functions an array of struct bpf_func_info of what was added
     * @param lines an array of struct bpf_line_info of what was added
     */
    public record CallingProgram(ProgramCode code, byte[] functions, byte[] lines) {}

    /**
     * Puts the function behind a program.
     *
     * @param calls slots of the calls
     * @param types where the types of the function are added
     */
    public CallingProgram join(ProgramCode program, Collection<Integer> calls, BtfWriter types) {
        long[] before = program.words();
        long[] own = code.words();
        long[] all = Arrays.copyOf(before, before.length + own.length);
        System.arraycopy(own, 0, all, before.length, own.length);
        for (int slot : calls) {
            all[slot] = all[slot] & 0xffffffffL | (long) (before.length - slot - 1) << 32;
        }
        byte[] functions = FunctionTypes.add(types, "ustack", starts, before.length);
        ByteBuffer from = ByteBuffer.wrap(functions).order(ByteOrder.nativeOrder());
        ByteBuffer lines = ByteBuffer.allocate(2 * functions.length).order(ByteOrder.nativeOrder());
        for (int at = 0; at < functions.length; at += 8) {
            lines.putInt(from.getInt(at)).putInt(0).putInt(0).putInt(0);
        }
        return new CallingProgram(ProgramCode.of(all), functions, lines.array());
    }

    /** Makes the tables of the programs that words name, and of their libraries, now. */
    public void command(List<String> words) {
        if (files != null) {
            files.command(words);
        }
    }

    /** Makes the tables of what a process has mapped now. */
    public void process(int pid) {
        if (files != null) {
            files.process(pid);
        }
    }

    /**
     * The frames of a word of a stack that stands for a function of a run time, innermost first;
     * empty for an address, or when the function's memory could not be read.
     */
    public List<Frame> frames(int pid, long word) {
        return names == null || !RuntimeWord.is(word) ? List.of() : names.frames(pid, word);
    }

    /** What is to be said of the stacks so far, one sentence each. */
    public List<String> notes() throws IOException {
        List<String> notes = new ArrayList<>();
        if (!reason.isEmpty()) {
            notes.add("user stacks follow frame pointers: " + reason);
        }
        byte[] counts = ends == null ? null : ends.get(FIRST);
        if (files != null && counts != null) {
            notes.addAll(files.notes());
            long[] numbers = new long[UserStackEnd.values().length];
            ByteBuffer.wrap(counts).order(ByteOrder.nativeOrder()).asLongBuffer().get(numbers);
            UserStackCounts.sentence(numbers).ifPresent(notes::add);
        }
        return notes;
    }

    @Override
    public void close() {
        LinkCloser.all(parts);
    }
}
