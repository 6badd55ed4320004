package sonde.lang.ir;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.Code;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.Instruction.Meaning;
import sonde.bpf.insn.Label;
import sonde.lang.ir.Selection.Selected;
import sonde.lang.source.Span;

/** Lays functions out one behind the other and makes words of them. */
final class Encoder {
    /** Where an instruction begins. */
    private record Piece(Compiled function, Selected selected, int slot, boolean far) {}

    private final List<Piece> pieces = new ArrayList<>();
    private final Map<Function, Integer> starts = new HashMap<>();
    private final int slots;

    /**
     * Measures the program.
     *
     * @throws CompilationException when a jump is too far for the target
     */
    Encoder(List<Compiled> functions, boolean farJumps) throws CompilationException {
        int slot = 0;
        for (Compiled function : functions) {
            starts.put(function.source(), slot);
            slot = measure(function, slot, farJumps);
        }
        slots = slot;
    }

    /** Far jumps take a slot more; which are far is decided as if all were. */
    private int measure(Compiled function, int first, boolean farJumps)
            throws CompilationException {
        List<Selected> selected = Selection.of(function);
        Map<Block, Integer> places = new HashMap<>();
        int[] most = new int[selected.size()];
        int at = 0;
        int extra = selected.stream().mapToInt(one -> one.item().slots()).sum() < 0x7fff ? 0 : 1;
        for (int i = 0; i < most.length; i++) {
            Item item = selected.get(i).item();
            most[i] = at;
            for (Block block : selected.get(i).starts()) {
                places.put(block, at);
            }
            at += item.slots() + (isBranch(item) ? extra : 0);
        }
        int slot = first;
        for (int i = 0; i < most.length; i++) {
            Selected one = selected.get(i);
            boolean far = false;
            if (one.item() instanceof Item.Jump jump) {
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
            pieces.add(new Piece(function, one, slot, far));
            slot += one.item().slots() + (far && isBranch(one.item()) ? 1 : 0);
        }
        return slot;
    }

    private static boolean isBranch(Item item) {
        return item instanceof Item.Jump jump && jump.instruction() instanceof Instruction.Branch;
    }

    /** Slots of the program. */
    int slots() {
        return slots;
    }

    /** The slot at which a function begins. */
    int start(Function function) {
        return starts.getOrDefault(function, 0);
    }

    Code code(Assembly.Symbols symbols) {
        CodeBuilder code = new CodeBuilder();
        Map<Block, Label> blocks = new HashMap<>();
        Map<Function, Label> functions = new HashMap<>();
        for (Piece piece : pieces) {
            Function function = piece.function.source();
            if (start(function) == piece.slot) {
                code.at(functions.computeIfAbsent(function, f -> new Label(f.name())));
            }
            for (Block block : piece.selected.starts()) {
                code.at(blocks.computeIfAbsent(block, b -> new Label(b.toString())));
            }
            switch (piece.selected.item()) {
                case Item.Plain(Instruction instruction) -> code.add(instruction);
                case Item.Jump jump ->
                        jump(
                                code,
                                jump.instruction(),
                                piece.far,
                                blocks.computeIfAbsent(
                                        jump.target(), b -> new Label(b.toString())));
                case Item.MapUse use -> {
                    long map = symbols.map(use.map()) & 0xffffffffL;
                    long offset = use.meaning() == Meaning.MAP ? 0 : (long) use.offset() << 32;
                    code.add(new Instruction.LoadWide(use.meaning(), use.to(), offset | map));
                }
                case Item.LocalCall(Function target) ->
                        code.call(functions.computeIfAbsent(target, f -> new Label(f.name())));
                case Item.LocalAddress address ->
                        code.function(
                                address.to(),
                                functions.computeIfAbsent(
                                        address.target(), f -> new Label(f.name())));
                case Item.Later later ->
                        code.add(new Instruction.LoadWide(Meaning.NUMBER, later.to(), 0));
                case Item.ImportedCall _ -> code.add(new Instruction.CallLocal(0));
                case Item.KernelCall(String name) -> code.callKernel(symbols.function(name));
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
            if (Arithmetic.hasOpposite(b.condition())) {
                code.add(
                        new Instruction.Branch(
                                Arithmetic.opposite(b.condition()),
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

    private @Nullable Piece at(int slot) {
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

    @Nullable Span spanAt(int slot) {
        Piece piece = at(slot);
        return piece == null ? null : piece.function.steps().get(piece.selected.step()).span();
    }

    @Nullable String variableAt(int slot, int register) {
        Piece piece = at(slot);
        return piece == null ? null : piece.function.variable(piece.selected.step(), register);
    }

    /** The numbers that are missing, by slot. */
    List<Assembly.Missing> missing() {
        List<Assembly.Missing> missing = new ArrayList<>();
        for (Piece piece : pieces) {
            if (piece.selected.item() instanceof Item.Later later) {
                Span span = piece.function.steps().get(piece.selected.step()).span();
                missing.add(new Assembly.Missing(piece.slot, later.wanted(), span));
            }
        }
        return missing;
    }

    /** The calls of functions that were compiled elsewhere, by slot. */
    SortedMap<Integer, String> imported() {
        SortedMap<Integer, String> calls = new TreeMap<>();
        for (Piece piece : pieces) {
            if (piece.selected.item() instanceof Item.ImportedCall call) {
                calls.put(piece.slot, call.target());
            }
        }
        return calls;
    }

    /** Tells the slot and the place in the program of each instruction. */
    void places(Places places) {
        for (Piece piece : pieces) {
            places.at(
                    piece.slot,
                    piece.function.source(),
                    piece.function.steps().get(piece.selected.step()).span());
        }
    }

    /** Takes the places of instructions. */
    interface Places {
        void at(int slot, Function function, @Nullable Span span);
    }
}
