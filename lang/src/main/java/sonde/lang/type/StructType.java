package sonde.lang.type;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A structure or union. Its members are made when asked for: those of the kernel refer to half of
 * all others. Two are equal when they are the same, or bear the same name and size.
 */
public final class StructType implements CompositeType {
    private final String name;
    private final boolean union;
    private final int sizeBytes;
    private final int align;
    private @Nullable Supplier<List<TypeField>> source;
    private List<TypeField> fields = List.of();

    /**
     * A structure whose members are found later.
     *
     * @param name without "struct", empty for none
     * @param align as the compiler aligns it
     */
    public StructType(
            String name,
            boolean union,
            int sizeBytes,
            int align,
            Supplier<List<TypeField>> source) {
        this.name = name;
        this.union = union;
        this.sizeBytes = sizeBytes;
        this.align = align;
        this.source = source;
    }

    /** Without "struct" or "union"; empty for none. */
    public String name() {
        return name;
    }

    /** Whether its members lie over each other. */
    public boolean isUnion() {
        return union;
    }

    @Override
    public int sizeBytes() {
        return sizeBytes;
    }

    @Override
    public int align() {
        return align;
    }

    @Override
    public List<TypeField> fields() {
        Supplier<List<TypeField>> left = source;
        if (left != null) {
            source = null;
            fields = List.copyOf(left.get());
        }
        return fields;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || other instanceof StructType that
                        && !name.isEmpty()
                        && name.equals(that.name)
                        && union == that.union
                        && sizeBytes == that.sizeBytes;
    }

    @Override
    public int hashCode() {
        return name.hashCode() * 31 + sizeBytes;
    }

    @Override
    public String toString() {
        return (union ? "union " : "struct ") + name;
    }
}
