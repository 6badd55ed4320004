package sonde.lang.ir;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.ir.Block.Step;
import sonde.lang.source.Span;

/**
 * A program, a function that it calls, or one that a helper calls back. Operations are added at the
 * end of the current block; {@link #start} moves on to another.
 */
public final class Function {
    private final String name;
    private final List<Vreg> parameters = new ArrayList<>();
    private final List<Vreg> registers = new ArrayList<>();
    private final List<StackObject> objects = new ArrayList<>();
    private final List<Block> layout = new ArrayList<>();
    private int blocks;
    private Block current;
    private @Nullable Span span;

    /**
     * An empty function.
     *
     * @param name for the kernel's listings and {@code func_info}: a C identifier
     * @param parameters what R1 to R5 hold when it is entered
     */
    public Function(String name, List<Vreg.Kind> parameters) {
        this.name = name;
        for (Vreg.Kind kind : parameters) {
            this.parameters.add(register(kind, ""));
        }
        current = block();
        layout.add(current);
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /** What it is called with. */
    public List<Vreg> parameters() {
        return parameters;
    }

    /** All virtual registers, by index. */
    public List<Vreg> registers() {
        return registers;
    }

    /** All objects of its frame, by index. */
    public List<StackObject> objects() {
        return objects;
    }

    /** Its blocks in the order in which they are to lie; the first is its entry. */
    public List<Block> layout() {
        return layout;
    }

    /** The block that is being written. */
    public Block current() {
        return current;
    }

    /** A new virtual register. */
    public Vreg register(Vreg.Kind kind, String variable) {
        Vreg register = new Vreg(registers.size(), kind, variable);
        registers.add(register);
        return register;
    }

    /** A new register for a number. */
    public Vreg scalar() {
        return register(Vreg.Kind.SCALAR, "");
    }

    /** A new register for an address that the verifier knows. */
    public Vreg pointer() {
        return register(Vreg.Kind.POINTER, "");
    }

    /** New memory in the frame. */
    public StackObject object(int sizeBytes, int align) {
        StackObject object = new StackObject(objects.size(), sizeBytes, align);
        objects.add(object);
        return object;
    }

    /** A new block, not yet in the layout. */
    public Block block() {
        return new Block(blocks++);
    }

    /** How many blocks were made. */
    public int blockCount() {
        return blocks;
    }

    /** Goes on writing in a block, behind all others; the current one goes there if it is open. */
    public void start(Block block) {
        if (!current.isClosed()) {
            add(new Operation.Goto(block));
        }
        layout.add(block);
        current = block;
    }

    /** What follows comes from there. */
    public void from(@Nullable Span place) {
        span = place;
    }

    /** Where what is written comes from. */
    public @Nullable Span place() {
        return span;
    }

    /** Adds a step; one behind the end of a block can never run and is dropped. */
    public void add(Operation operation) {
        if (!current.isClosed()) {
            current.steps().add(new Step(operation, span));
        }
    }

    /** As text: registers v (numbers) and p (addresses), objects s, blocks b. */
    @Override
    public String toString() {
        return IrText.of(this);
    }
}
