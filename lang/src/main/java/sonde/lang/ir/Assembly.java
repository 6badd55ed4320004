package sonde.lang.ir;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.insn.ProgramCode;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperation.IrCallKernel;
import sonde.lang.source.SourceSpan;

/**
 * A program compiled for a kind of kernel: a function with all that it calls, optimised, in
 * registers. Numbers of maps and of functions of the kernel are put in last, by {@link #code}.
 *
 * <pre>{@code
 * Assembly assembly = Assembly.of(program, new Assembly.InstructionSet(true));
 * ProgramCode code = assembly.code(symbols);
 * }</pre>
 */
public final class Assembly {
    /** Slots of the longest program: BPF_COMPLEXITY_LIMIT_INSNS. */
    private static final int MOST_SLOTS = 1_000_000;

    /**
     * What the kernel takes.
     *
     * @param isa4 moves and loads with a sign, signed division and far jumps (Linux 6.6)
     */
    public record InstructionSet(boolean isa4) {}

    /** Names that get their numbers when a program is loaded. */
    public interface AssemblySymbols {
        /** The descriptor of a map. */
        int map(String name);

        /** The BTF id in vmlinux of a function of the kernel. */
        int function(String kernelFunction);
    }

    /**
     * A number that is put in when the program is loaded.
     *
     * @param slot of the load of 64 bits that gets it
     * @param span the part of the program that needs it; null for none
     */
    public record LoadTimeSlot(int slot, LoadTimeConstant wanted, @Nullable SourceSpan span) {}

    /** When to look at a program. */
    public enum Stage {
        /** As it was lowered. */
        IR,
        /** With what is known put in and what is not needed left out. */
        OPTIMISED,
        /** In the registers of the machine. */
        ALLOCATED
    }

    private final List<CompiledFunction> functions;
    private final CodeEncoder encoder;
    private final int frameBytes;
    private final Set<String> maps = new TreeSet<>();
    private final Set<String> kernelFunctions = new TreeSet<>();
    private final ProgramBtf types;

    private Assembly(List<CompiledFunction> functions, CodeEncoder encoder, int frameBytes) {
        this.functions = functions;
        this.encoder = encoder;
        this.frameBytes = frameBytes;
        this.types = new ProgramBtf(functions, encoder, new BtfWriter());
        for (CompiledFunction function : functions) {
            for (BlockStep step : function.steps()) {
                switch (step.operation()) {
                    case IrOperation.MapAddress o -> maps.add(o.map());
                    case IrOperation.MapValue o -> maps.add(o.map());
                    case IrCallKernel o -> kernelFunctions.add(o.function());
                    default -> {}
                }
            }
        }
    }

    /**
     * Compiles a program.
     *
     * @throws CompilationException when its frames take more than 512 bytes together, functions
     *     call themselves, or it is too long
     */
    public static Assembly of(IrFunction main, InstructionSet target) throws CompilationException {
        Map<IrFunction, CompiledFunction> compiled = new LinkedHashMap<>();
        Deque<IrFunction> open = new ArrayDeque<>();
        open.add(main);
        while (!open.isEmpty()) {
            IrFunction function = open.removeFirst();
            if (!compiled.containsKey(function)) {
                CompiledFunction one = CompiledFunction.of(function, target);
                compiled.put(function, one);
                open.addAll(one.callees());
            }
        }
        int frameBytes = new StackDepth(compiled).check(main);
        List<CompiledFunction> functions = new ArrayList<>(compiled.values());
        CodeEncoder encoder = new CodeEncoder(functions, target.isa4());
        if (encoder.slots() > MOST_SLOTS) {
            throw new CompilationException(
                    main.place(),
                    "the program has %d instructions; kernels take %d"
                            .formatted(encoder.slots(), MOST_SLOTS));
        }
        return new Assembly(functions, encoder, frameBytes);
    }

    /** The words, with numbers for its maps and functions of the kernel. */
    public ProgramCode code(AssemblySymbols symbols) {
        return encoder.code(symbols);
    }

    /** The maps that it names. */
    public Set<String> maps() {
        return Set.copyOf(maps);
    }

    /** What is missing in its words, in the order of slots. */
    public List<LoadTimeSlot> missing() {
        return encoder.missing();
    }

    /** The functions of the kernel that it calls by name. */
    public Set<String> kernelFunctions() {
        return Set.copyOf(kernelFunctions);
    }

    /**
     * Calls of functions that were compiled elsewhere, names by slot. They lead nowhere until such
     * functions are put behind the program.
     */
    public SortedMap<Integer, String> imported() {
        return encoder.imported();
    }

    /**
     * What the kernel is told of a program's source.
     *
     * @param functions as {@link #functionRecords}
     * @param lines as {@link #lineRecords}
     */
    public record ProgramRecords(byte[] functions, byte[] lines) {}

    /** Adds the program's types and texts to others; the records refer to them there. */
    public ProgramRecords records(BtfWriter others) {
        ProgramBtf all = new ProgramBtf(functions, encoder, others);
        return new ProgramRecords(all.functionRecords(), all.lineRecords());
    }

    /** Types of its functions and the text of its lines, for {@code LoadedBtf}. */
    public byte[] btf() {
        return types.btf();
    }

    /** An array of struct bpf_func_info, 8 bytes each. */
    public byte[] functionRecords() {
        return types.functionRecords();
    }

    /** An array of struct bpf_line_info, 16 bytes each. */
    public byte[] lineRecords() {
        return types.lineRecords();
    }

    /** Whether kernels must know its types: it has more than one function. */
    public boolean needsDebug() {
        return functions.size() > 1;
    }

    /** The part of the program that an instruction comes from; null for none. */
    public @Nullable SourceSpan spanAt(int slot) {
        return encoder.spanAt(slot);
    }

    /** The variable that a register holds when an instruction begins; null for none. */
    public @Nullable String variableAt(int slot, int register) {
        return encoder.variableAt(slot, register);
    }

    /** Bytes of stack along the deepest chain of calls, as kernels count them. */
    public int frameBytes() {
        return frameBytes;
    }

    /** Slots of 8 bytes that the program takes. */
    public int slots() {
        return encoder.slots();
    }

    /** Its functions as text. */
    public String dump(Stage stage) {
        StringBuilder out = new StringBuilder();
        for (CompiledFunction function : functions) {
            out.append(
                    switch (stage) {
                        case IR -> function.source().toString();
                        case OPTIMISED -> function.optimised();
                        case ALLOCATED -> function.allocated();
                    });
        }
        return out.toString();
    }
}
