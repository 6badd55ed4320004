package sonde.lang.bpftrace.run;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.lower.PortableReference.SizeReference;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.declare.CDeclarations;
import sonde.lang.declare.KernelTypeSource;
import sonde.lang.type.StructType;

/** Which structures are the kernel's, and not the script's own. */
record KernelStructures(@Nullable CDeclarations declarations, KernelTypeSource kernel) {
    private static TypeSyntax.Kind kind(boolean union) {
        return union ? TypeSyntax.Kind.UNION : TypeSyntax.Kind.STRUCT;
    }

    /** Whether the kernel has it so; of a size below 0 any size will do. */
    boolean isKernels(StructType struct) {
        TypeSyntax.Kind kind = kind(struct.isUnion());
        if (declarations != null && declarations.type(kind, struct.name()) != null) {
            return false;
        }
        return kernel.type(kind, struct.name()) instanceof StructType known
                && (struct.sizeBytes() < 0 || known.equals(struct));
    }

    /** The kernel's structure of a name; null for none. */
    @Nullable StructType structure(SizeReference size) {
        return kernel.type(kind(size.union()), size.structure()) instanceof StructType struct
                ? struct
                : null;
    }
}
