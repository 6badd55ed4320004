package sonde.lang.declare;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.type.StructType;
import sonde.lang.type.ValueType;

/** A type of C while it is being declared: what it refers to may be declared later. */
sealed interface CDeclaredType {
    /**
     * A type that is complete.
     *
     * @param align as C aligns it: up to 16
     */
    record CompleteType(ValueType type, int align) implements CDeclaredType {
        static CompleteType of(ValueType type) {
            return new CompleteType(type, Math.max(1, type.align()));
        }
    }

    /** An address. */
    record Pointer(CDeclaredType to) implements CDeclaredType {}

    /** Elements behind each other; 0 for a flexible array. */
    record Array(CDeclaredType element, int count) implements CDeclaredType {}

    /** {@code struct name}, wherever its definition stands. */
    record TaggedType(TypeSyntax.Kind kind, String name) implements CDeclaredType {}

    /** A structure or union defined in place. */
    record DefinedRecord(CRecordType record) implements CDeclaredType {}

    /** What can be called: has no size. */
    record Function() implements CDeclaredType {}

    /** A typedef with an alignment of its own. */
    record AlignedType(CDeclaredType type, int align) implements CDeclaredType {}

    /** A structure or union. */
    final class CRecordType {
        final String name;
        final boolean union;
        List<PlacedMember> members = List.of();
        long sizeBytes = -1;
        int align = 1;
        @Nullable StructType struct;

        CRecordType(String name, boolean union) {
            this.name = name;
            this.union = union;
        }
    }

    /**
     * A member in its place.
     *
     * @param bits of a bitfield, 0 for a member that is none
     */
    record PlacedMember(String name, CDeclaredType type, long bitOffset, int bits) {}
}
