package sonde.lang.ir;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.ir.BasicBlock.BlockStep;
import sonde.lang.ir.IrOperation.IrGoto;
import sonde.lang.source.SourceSpan;

/**
 * A program, a function that it calls, or one that a helper calls back. Operations are added at the
 * end of the current block; {@link #start} moves on to another.
 */
public final class IrFunction {
    private final String name;
    private final List<VirtualRegister> parameters = new ArrayList<>();
    private final List<VirtualRegister> registers = new ArrayList<>();
    private final List<StackObject> objects = new ArrayList<>();
    private final List<BasicBlock> layout = new ArrayList<>();
    private int blocks;
    private BasicBlock current;
    private @Nullable SourceSpan span;

    /**
     * An empty function.
     *
     * @param name for the kernel's listings and {@code func_info}: a C identifier
     * @param parameters what R1 to R5 hold when it is entered
     */
    public IrFunction(String name, List<VirtualRegister.Kind> parameters) {
        this.name = name;
        for (VirtualRegister.Kind kind : parameters) {
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
    public List<VirtualRegister> parameters() {
        return parameters;
    }

    /** All virtual registers, by index. */
    public List<VirtualRegister> registers() {
        return registers;
    }

    /** All objects of its frame, by index. */
    public List<StackObject> objects() {
        return objects;
    }

    /** Its blocks in the order in which they are to lie; the first is its entry. */
    public List<BasicBlock> layout() {
        return layout;
    }

    /** The block that is being written. */
    public BasicBlock current() {
        return current;
    }

    /** A new virtual register. */
    public VirtualRegister register(VirtualRegister.Kind kind, String variable) {
        VirtualRegister register = new VirtualRegister(registers.size(), kind, variable);
        registers.add(register);
        return register;
    }

    /** A new register for a number. */
    public VirtualRegister scalar() {
        return register(VirtualRegister.Kind.SCALAR, "");
    }

    /** A new register for an address that the verifier knows. */
    public VirtualRegister pointer() {
        return register(VirtualRegister.Kind.POINTER, "");
    }

    /** New memory in the frame. */
    public StackObject object(int sizeBytes, int align) {
        StackObject object = new StackObject(objects.size(), sizeBytes, align);
        objects.add(object);
        return object;
    }

    /** A new block, not yet in the layout. */
    public BasicBlock block() {
        return new BasicBlock(blocks++);
    }

    /** Goes on writing in a block, behind all others; the current one goes there if it is open. */
    public void start(BasicBlock block) {
        if (!current.isClosed()) {
            add(new IrGoto(block));
        }
        layout.add(block);
        current = block;
    }

    /** What follows comes from there. */
    public void from(@Nullable SourceSpan place) {
        span = place;
    }

    /** Where what is written comes from. */
    public @Nullable SourceSpan place() {
        return span;
    }

    /** Adds a step; one behind the end of a block can never run and is dropped. */
    public void add(IrOperation operation) {
        if (!current.isClosed()) {
            current.steps().add(new BlockStep(operation, span));
        }
    }

    /** As text: registers v (numbers) and p (addresses), objects s, blocks b. */
    @Override
    public String toString() {
        return IrText.of(this);
    }
}
