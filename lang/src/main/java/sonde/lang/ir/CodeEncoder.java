package sonde.lang.ir;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.Instruction.ConstantMeaning;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.ProgramCode;
import sonde.lang.ir.Assembly.AssemblySymbols;
import sonde.lang.ir.Assembly.LoadTimeSlot;
import sonde.lang.ir.CodeItem.BlockJump;
import sonde.lang.ir.CodeItem.LoadTimeItem;
import sonde.lang.ir.CodeItem.PlainItem;
import sonde.lang.ir.InstructionSelection.SelectedInstruction;
import sonde.lang.source.SourceSpan;

/** Lays functions out one behind the other and makes words of them. */
final class CodeEncoder {
    /** Where an instruction begins. */
    private record EncodedInstruction(
            CompiledFunction function, SelectedInstruction selected, int slot, boolean far) {}

    private final List<EncodedInstruction> pieces = new ArrayList<>();
    private final Map<IrFunction, Integer> starts = new HashMap<>();
    private final int slots;

    /**
     * Measures the program.
     *
     * @throws CompilationException when a jump is too far for the target
     */
    CodeEncoder(List<CompiledFunction> functions, boolean farJumps) throws CompilationException {
        int slot = 0;
        for (CompiledFunction function : functions) {
            starts.put(function.source(), slot);
            slot = measure(function, slot, farJumps);
        }
        slots = slot;
    }

    /** Far jumps take a slot more; which are far is decided as if all were. */
    private int measure(CompiledFunction function, int first, boolean farJumps)
            throws CompilationException {
        List<SelectedInstruction> selected = InstructionSelection.of(function);
        Map<BasicBlock, Integer> places = new HashMap<>();
        int[] most = new int[selected.size()];
        int at = 0;
        int extra = selected.stream().mapToInt(one -> one.item().slots()).sum() < 0x7fff ? 0 : 1;
        for (int i = 0; i < most.length; i++) {
            CodeItem item = selected.get(i).item();
            most[i] = at;
            for (BasicBlock block : selected.get(i).starts()) {
                places.put(block, at);
            }
            at += item.slots() + (isBranch(item) ? extra : 0);
        }
        int slot = first;
        for (int i = 0; i < most.length; i++) {
            SelectedInstruction one = selected.get(i);
            boolean far = false;
            if (one.item() instanceof BlockJump jump) {
                int distance = places.getOrDefault(jump.target(), 0) - most[i];
                far = Math.abs(distance) > 0x7ff0;
                if (far && !farJumps) {
                    throw new CompilationException(
                            function.steps().get(one.step()).span(),
                            "this part of the program is too long to be jumped over: "
                                    + Math.abs(distance)
                                    + " instructions, where this kernel takes 32767 (Linux 6.6"
                                    + " takes more)");
                }
            }
            pieces.add(new EncodedInstruction(function, one, slot, far));
            slot += one.item().slots() + (far && isBranch(one.item()) ? 1 : 0);
        }
        return slot;
    }

    private static boolean isBranch(CodeItem item) {
        return item instanceof BlockJump jump && jump.instruction() instanceof Instruction.Branch;
    }

    /** Slots of the program. */
    int slots() {
        return slots;
    }

    /** The slot at which a function begins. */
    int start(IrFunction function) {
        return starts.getOrDefault(function, 0);
    }

    ProgramCode code(AssemblySymbols symbols) {
        CodeBuilder code = new CodeBuilder();
        Map<BasicBlock, Label> blocks = new HashMap<>();
        Map<IrFunction, Label> functions = new HashMap<>();
        for (EncodedInstruction piece : pieces) {
            IrFunction function = piece.function.source();
            if (start(function) == piece.slot) {
                code.at(functions.computeIfAbsent(function, f -> new Label(f.name())));
            }
            for (BasicBlock block : piece.selected.starts()) {
                code.at(blocks.computeIfAbsent(block, b -> new Label(b.toString())));
            }
            switch (piece.selected.item()) {
                case PlainItem(Instruction instruction) -> code.add(instruction);
                case BlockJump jump ->
                        jump(
                                code,
                                jump.instruction(),
                                piece.far,
                                blocks.computeIfAbsent(
                                        jump.target(), b -> new Label(b.toString())));
                case CodeItem.MapUse use -> {
                    long map = symbols.map(use.map()) & 0xffffffffL;
                    long offset =
                            use.meaning() == ConstantMeaning.MAP ? 0 : (long) use.offset() << 32;
                    code.add(new Instruction.LoadWide(use.meaning(), use.to(), offset | map));
                }
                case CodeItem.LocalCall(IrFunction target) ->
                        code.call(functions.computeIfAbsent(target, f -> new Label(f.name())));
                case CodeItem.LocalAddress address ->
                        code.function(
                                address.to(),
                                functions.computeIfAbsent(
                                        address.target(), f -> new Label(f.name())));
                case LoadTimeItem later ->
                        code.add(new Instruction.LoadWide(ConstantMeaning.NUMBER, later.to(), 0));
                case CodeItem.ImportedCall _ -> code.add(new Instruction.CallLocal(0));
                case CodeItem.KernelCall(String name) -> code.callKernel(symbols.function(name));
            }
        }
        return code.build();
    }

    private static void jump(
            CodeBuilder code, Instruction.Flow instruction, boolean far, Label target) {
        if (!far) {
            code.add(instruction, target);
        } else if (instruction instanceof Instruction.Branch b) {
            Label over = new Label("over");
            Label go = new Label("go");
            if (ConstantArithmetic.hasOpposite(b.condition())) {
                code.add(
                        new Instruction.Branch(
                                ConstantArithmetic.opposite(b.condition()),
                                b.wide(),
                                b.left(),
                                b.right(),
                                (short) 0),
                        over);
            } else {
                code.add(b, go).jump(over).at(go);
            }
            code.jumpFar(target).at(over);
        } else {
            code.jumpFar(target);
        }
    }

    private @Nullable EncodedInstruction at(int slot) {
        int low = 0;
        int high = pieces.size() - 1;
        while (low < high) {
            int middle = low + high + 1 >>> 1;
            if (pieces.get(middle).slot <= slot) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return slot < 0 || slot >= slots ? null : pieces.get(low);
    }

    @Nullable SourceSpan spanAt(int slot) {
        EncodedInstruction piece = at(slot);
        return piece == null ? null : piece.function.steps().get(piece.selected.step()).span();
    }

    @Nullable String variableAt(int slot, int register) {
        EncodedInstruction piece = at(slot);
        return piece == null ? null : piece.function.variable(piece.selected.step(), register);
    }

    /** The numbers that are missing, by slot. */
    List<LoadTimeSlot> missing() {
        List<LoadTimeSlot> missing = new ArrayList<>();
        for (EncodedInstruction piece : pieces) {
            if (piece.selected.item() instanceof LoadTimeItem later) {
                SourceSpan span = piece.function.steps().get(piece.selected.step()).span();
                missing.add(new LoadTimeSlot(piece.slot, later.wanted(), span));
            }
        }
        return missing;
    }

    /** The calls of functions that were compiled elsewhere, by slot. */
    SortedMap<Integer, String> imported() {
        SortedMap<Integer, String> calls = new TreeMap<>();
        for (EncodedInstruction piece : pieces) {
            if (piece.selected.item() instanceof CodeItem.ImportedCall call) {
                calls.put(piece.slot, call.target());
            }
        }
        return calls;
    }

    /** Tells the slot and the place in the program of each instruction. */
    void places(InstructionPlaces places) {
        for (EncodedInstruction piece : pieces) {
            places.at(
                    piece.slot,
                    piece.function.source(),
                    piece.function.steps().get(piece.selected.step()).span());
        }
    }

    /** Takes the places of instructions. */
    interface InstructionPlaces {
        void at(int slot, IrFunction function, @Nullable SourceSpan span);
    }
}
