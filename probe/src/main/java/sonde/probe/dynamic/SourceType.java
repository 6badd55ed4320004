package sonde.probe.dynamic;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A type of the source as DWARF or BTF tells it; names of typedefs and qualifiers are left in the
 * spelling only.
 */
public sealed interface SourceType {
    /** As it is written in C. */
    String spelling();

    /** Size in bytes, 0 where it is not known. */
    long sizeBytes();

    /** The same under another name. */
    SourceType spelled(String name);

    /** What the bits of a number mean. */
    enum Kind {
        SIGNED,
        UNSIGNED,
        CHARACTER,
        BOOLEAN,
        FLOATING,
    }

    /** A number. */
    record Number(String spelling, long sizeBytes, Kind kind, boolean isSigned)
            implements SourceType {
        @Override
        public SourceType spelled(String name) {
            return new Number(name, sizeBytes, kind, isSigned);
        }
    }

    /** An enumeration. */
    record Enumeration(String spelling, long sizeBytes, boolean isSigned) implements SourceType {
        @Override
        public SourceType spelled(String name) {
            return new Enumeration(name, sizeBytes, isSigned);
        }
    }

    /**
     * A pointer or reference.
     *
     * @param isUser whether it points into the process while the kernel holds it
     */
    record Pointer(
            String spelling,
            long sizeBytes,
            Supplier<SourceType> target,
            boolean isReference,
            boolean isUser)
            implements SourceType {
        @Override
        public SourceType spelled(String name) {
            return new Pointer(name, sizeBytes, target, isReference, isUser);
        }
    }

    /**
     * An array.
     *
     * @param count 0 where it is not known
     */
    record Array(String spelling, Supplier<SourceType> element, long count) implements SourceType {
        @Override
        public long sizeBytes() {
            return Math.max(0, count) * element.get().sizeBytes();
        }

        @Override
        public SourceType spelled(String name) {
            return new Array(name, element, count);
        }
    }

    /** A structure, class or union. */
    record Structure(String spelling, long sizeBytes, Supplier<List<Member>> members)
            implements SourceType {
        @Override
        public SourceType spelled(String name) {
            return new Structure(name, sizeBytes, members);
        }
    }

    /** Void, a function, and what is not known. */
    record Opaque(String spelling) implements SourceType {
        @Override
        public long sizeBytes() {
            return 0;
        }

        @Override
        public SourceType spelled(String name) {
            return new Opaque(name);
        }
    }

    /**
     * A part of a structure.
     *
     * @param name empty for an unnamed structure, and for what a class inherits
     * @param bitOffset from the start of the structure
     * @param bits of a bit-field, 0 for a member that is none
     */
    record Member(String name, Supplier<SourceType> type, long bitOffset, int bits) {}

    /** A supplier that asks once. */
    static <T> Supplier<T> once(Supplier<T> made) {
        return new Supplier<>() {
            private final List<T> known = new ArrayList<>(1);

            @Override
            public T get() {
                if (known.isEmpty()) {
                    known.add(made.get());
                }
                return known.getFirst();
            }
        };
    }
}
