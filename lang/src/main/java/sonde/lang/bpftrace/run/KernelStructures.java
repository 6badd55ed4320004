package sonde.lang.bpftrace.run;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.lower.Reference;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.declare.Declarations;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.type.Struct;

/** Which structures are the kernel's, and not the script's own. */
record KernelStructures(@Nullable Declarations declarations, KernelTypeSource kernel) {
    private static TypeSyntax.Kind kind(boolean union) {
        return union ? TypeSyntax.Kind.UNION : TypeSyntax.Kind.STRUCT;
    }

    /** Whether the kernel has it so; of a size below 0 any size will do. */
    boolean isKernels(Struct struct) {
        TypeSyntax.Kind kind = kind(struct.isUnion());
        if (declarations != null && declarations.type(kind, struct.name()) != null) {
            return false;
        }
        return kernel.type(kind, struct.name()) instanceof Struct known
                && (struct.sizeBytes() < 0 || known.equals(struct));
    }

    /** The kernel's structure of a name; null for none. */
    @Nullable Struct structure(Reference.Size size) {
        return kernel.type(kind(size.union()), size.structure()) instanceof Struct struct
                ? struct
                : null;
    }
}
