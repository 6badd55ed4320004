package sonde.lang.ir;

/**
 * A virtual register: 64 bits that may be written more than once. Registers and slots of the stack
 * are shared by those of one kind only, since the verifier forgets what a slot holds where paths
 * with a pointer and a number in it meet.
 */
public final class Vreg implements Operand, Anchor {
    /** What it holds, as the verifier sees it. */
    public enum Kind {
        SCALAR,
        POINTER
    }

    private final int index;
    private final Kind kind;
    private final String name;

    Vreg(int index, Kind kind, String name) {
        this.index = index;
        this.kind = kind;
        this.name = name;
    }

    /** Its number within its function, from 0. */
    public int index() {
        return index;
    }

    /** What it holds. */
    public Kind kind() {
        return kind;
    }

    /** The variable of the program that it is; empty for a value without a name. */
    public String name() {
        return name;
    }

    @Override
    public String toString() {
        return (kind == Kind.POINTER ? "p" : "v") + index;
    }
}
