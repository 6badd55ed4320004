package sonde.lang.ir;

/**
 * A virtual register: 64 bits that may be written more than once. Registers and slots of the stack
 * are shared by those of one kind only, since the verifier forgets what a slot holds where paths
 * with a pointer and a number in it meet.
 */
public final class VirtualRegister implements IrOperand, AccessAnchor {
    /** What it holds, as the verifier sees it. */
    public enum Kind {
        SCALAR,
        POINTER
    }

    private final int index;
    private final Kind kind;
    private final String name;
    private final int fixed;

    VirtualRegister(int index, Kind kind, String name) {
        this(index, kind, name, -1);
    }

    private VirtualRegister(int index, Kind kind, String name, int fixed) {
        this.index = index;
        this.kind = kind;
        this.name = name;
        this.fixed = fixed;
    }

    /** One that stands for a register of the machine, R0 to R5. */
    static VirtualRegister fixed(int index, int register) {
        return new VirtualRegister(index, Kind.SCALAR, "", register);
    }

    /** The register of the machine that it stands for; -1 for one still to be given. */
    int fixed() {
        return fixed;
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
        if (fixed >= 0) {
            return "r" + fixed;
        }
        return (kind == Kind.POINTER ? "p" : "v") + index;
    }
}
