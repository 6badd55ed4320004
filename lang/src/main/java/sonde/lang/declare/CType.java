package sonde.lang.declare;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.type.Struct;
import sonde.lang.type.Type;

/** A type of C while it is being declared: what it refers to may be declared later. */
sealed interface CType {
    /**
     * A type that is complete.
     *
     * @param align as C aligns it: up to 16
     */
    record Plain(Type type, int align) implements CType {
        static Plain of(Type type) {
            return new Plain(type, Math.max(1, type.align()));
        }
    }

    /** An address. */
    record Pointer(CType to) implements CType {}

    /** Elements behind each other; 0 for a flexible array. */
    record Array(CType element, int count) implements CType {}

    /** {@code struct name}, wherever its definition stands. */
    record Tagged(TypeSyntax.Kind kind, String name) implements CType {}

    /** A structure or union defined in place. */
    record Defined(CRecord record) implements CType {}

    /** What can be called: has no size. */
    record Function() implements CType {}

    /** A typedef with an alignment of its own. */
    record Aligned(CType type, int align) implements CType {}

    /** A structure or union. */
    final class CRecord {
        final String name;
        final boolean union;
        List<Member> members = List.of();
        long sizeBytes = -1;
        int align = 1;
        @Nullable Struct struct;

        CRecord(String name, boolean union) {
            this.name = name;
            this.union = union;
        }
    }

    /**
     * A member in its place.
     *
     * @param bits of a bitfield, 0 for a member that is none
     */
    record Member(String name, CType type, long bitOffset, int bits) {}
}
