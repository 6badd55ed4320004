package sonde.bpf.object;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * The global variables of a section: {@code .data}, {@code .bss}, {@code .rodata} and those with a
 * name behind ({@code .data.shared}), which the kernel gets as an array with one entry; and those
 * in an arena ({@code .addr_space.1}).
 */
public final class GlobalSection {
    /** Variables that lie at the begin of the object's arena. */
    static final String IN_ARENA = ".addr_space.1";

    private final String section;
    private final boolean constant;
    private final byte[] initial;
    private final int typeId;
    private final List<GlobalVariable> variables;

    /**
     * A variable.
     *
     * @param type BTF id of its type in the object
     * @param isStatic whether it is not seen outside its source file
     */
    public record GlobalVariable(
            String name, int offset, int sizeBytes, int type, boolean isStatic) {}

    GlobalSection(
            String section,
            boolean constant,
            byte[] initial,
            int typeId,
            List<GlobalVariable> variables) {
        this.section = section;
        this.constant = constant;
        this.initial = initial;
        this.typeId = typeId;
        this.variables = List.copyOf(variables);
    }

    /** The section's name, with its dot. */
    public String section() {
        return section;
    }

    /** Whether the kernel lets nobody change it once it is loaded. */
    public boolean isConstant() {
        return constant;
    }

    /** Bytes of all variables and the gaps between them. */
    public int sizeBytes() {
        return initial.length;
    }

    /** Its DATASEC in the object's types, 0 for none ({@code .rodata.str1.1}). */
    int typeId() {
        return typeId;
    }

    /** By offset. */
    public List<GlobalVariable> variables() {
        return variables;
    }

    /** A variable by its name. */
    public Optional<GlobalVariable> variable(String name) {
        return variables.stream().filter(one -> one.name().equals(name)).findFirst();
    }

    /**
     * What the variables are when programs begin; may be changed before the object is loaded, also
     * constants.
     */
    public MemorySegment initial() {
        return MemorySegment.ofArray(initial);
    }

    /** {@link #initial()} of one variable. */
    public MemorySegment initial(GlobalVariable variable) {
        return initial().asSlice(variable.offset(), variable.sizeBytes());
    }
}
