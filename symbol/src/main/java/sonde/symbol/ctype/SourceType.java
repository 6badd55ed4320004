package sonde.symbol.ctype;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * A type as DWARF or BTF states it, with its typedefs and qualifiers. What pointers point to,
 * members and parameters are read when they are asked for: types of the kernel refer to half of all
 * others. {@link #plain} is the type beneath names and qualifiers, which programs look into.
 */
public sealed interface SourceType {
    /** Size in bytes, 0 where it is not known. */
    long sizeBytes();

    /** The type without typedefs and qualifiers. */
    default SourceType plain() {
        return this;
    }

    /** As C writes it: {@code "const struct file *"}. */
    default String spelling() {
        return declaration("");
    }

    /** A declaration of C: {@code "int (*handlers[4])(void *)"} for the name {@code handlers}. */
    default String declaration(String name) {
        return TypeSpelling.declare(this, name, 0);
    }

    /** What the bits of a number mean. */
    enum Kind {
        SIGNED,
        UNSIGNED,
        CHARACTER,
        BOOLEAN,
        FLOATING,
    }

    /** A number. */
    record NumberType(String name, long sizeBytes, Kind kind, boolean isSigned)
            implements SourceType {}

    /**
     * An enumeration.
     *
     * @param name empty for none
     */
    record Enumeration(
            String name, long sizeBytes, boolean isSigned, Supplier<List<Constant>> constants)
            implements SourceType {}

    /** A name of an enumeration. */
    record Constant(String name, long value) {}

    /** How an address is declared. */
    enum PointerSign {
        POINTER("*"),
        REFERENCE("&"),
        RVALUE_REFERENCE("&&");

        private final String text;

        PointerSign(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }
    }

    /**
     * A pointer or reference.
     *
     * @param isUser whether it points into the process while the kernel holds it
     */
    record Pointer(Supplier<SourceType> target, long sizeBytes, PointerSign sign, boolean isUser)
            implements SourceType {
        /** A pointer that is no reference. */
        public static Pointer to(SourceType target, long sizeBytes, boolean isUser) {
            return new Pointer(() -> target, sizeBytes, PointerSign.POINTER, isUser);
        }

        /** Whether expressions mean what it refers to. */
        public boolean isReference() {
            return sign != PointerSign.POINTER;
        }
    }

    /**
     * C++'s pointer to a member.
     *
     * @param of the name of the class
     */
    record MemberPointer(String of, Supplier<SourceType> target, long sizeBytes)
            implements SourceType {}

    /**
     * An array.
     *
     * @param count how many elements; {@link #OPEN} where that is not said
     */
    record Array(SourceType element, long count) implements SourceType {
        /** A flexible array, and one of variable length. */
        public static final long OPEN = -1;

        private static final long MOST_BYTES = 1L << 40;

        @Override
        public long sizeBytes() {
            long each = element.sizeBytes();
            return each <= 0 || count <= 0 || count > MOST_BYTES / each ? 0 : count * each;
        }
    }

    /** The word before the name of a structure. */
    enum Keyword {
        STRUCT("struct"),
        CLASS("class"),
        UNION("union"),
        /** The variants of an enumeration of Rust (DWARF 5, 5.7.10), of which one is there. */
        VARIANTS("union /* variants */");

        private final String text;

        Keyword(String text) {
            this.text = text;
        }

        /** As C has it. */
        public String text() {
            return text;
        }
    }

    /**
     * A structure, class or union. The definition of one that is only declared here is looked for
     * when size or members are asked for; without one the size is 0.
     *
     * @param name empty for none
     */
    record Structure(
            Keyword keyword, String name, LongSupplier size, Supplier<List<Member>> members)
            implements SourceType {
        /** One of a known size. */
        public Structure(
                Keyword keyword, String name, long sizeBytes, Supplier<List<Member>> members) {
            this(keyword, name, () -> sizeBytes, members);
        }

        @Override
        public long sizeBytes() {
            return size.getAsLong();
        }

        /** Whether its members lie over each other. */
        public boolean isUnion() {
            return keyword == Keyword.UNION || keyword == Keyword.VARIANTS;
        }
    }

    /**
     * A part of a structure.
     *
     * @param name empty for an unnamed structure, and for what a class inherits
     * @param bitOffset from the start of the structure; {@link #NOWHERE} for a virtual base class,
     *     whose place an object tells at run time
     * @param bits of a bit-field, 0 for a member that is none
     * @param role what it is besides a member that was declared
     */
    record Member(
            String name, Supplier<SourceType> type, long bitOffset, int bits, MemberRole role) {
        /** The offset of a virtual base class, which is known at run time only. */
        public static final long NOWHERE = -1;

        /** A member that was declared. */
        public Member(String name, Supplier<SourceType> type, long bitOffset, int bits) {
            this(name, type, bitOffset, bits, MemberRole.DECLARED);
        }

        /** The same in what its structure lies in. */
        public Member within(Member outer) {
            boolean isKnown = bitOffset != NOWHERE && outer.bitOffset != NOWHERE;
            long offset = isKnown ? outer.bitOffset + bitOffset : NOWHERE;
            return new Member(name, type, offset, bits, role);
        }
    }

    /** What a member is. */
    sealed interface MemberRole {
        /** A member that was declared. */
        MemberRole DECLARED = new Declared();

        /** A member that was declared. */
        record Declared() implements MemberRole {}

        /** What a class inherits from. */
        record Inherited() implements MemberRole {}

        /**
         * A variant of Rust, there when the discriminant says so.
         *
         * @param when {@code "discriminant 3"}; empty where there is one variant only
         */
        record Variant(String when) implements MemberRole {}
    }

    /**
     * A function.
     *
     * @param isVariadic whether more arguments may follow
     */
    record Prototype(
            Supplier<SourceType> result, Supplier<List<SourceType>> parameters, boolean isVariadic)
            implements SourceType {
        @Override
        public long sizeBytes() {
            return 0;
        }
    }

    /** A name for another type. */
    record SourceTypedef(String name, SourceType target) implements SourceType {
        @Override
        public long sizeBytes() {
            return target.sizeBytes();
        }

        @Override
        public SourceType plain() {
            return target.plain();
        }
    }

    /** A word that says how a type may be used. */
    enum Qualifier {
        CONST("const"),
        VOLATILE("volatile"),
        RESTRICT("restrict"),
        ATOMIC("_Atomic");

        private final String text;

        Qualifier(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }
    }

    /** A type with a qualifier. */
    record Qualified(Qualifier qualifier, SourceType target) implements SourceType {
        @Override
        public long sizeBytes() {
            return target.sizeBytes();
        }

        @Override
        public SourceType plain() {
            return target.plain();
        }
    }

    /** Void, and what is not known. */
    record Opaque(String name, long sizeBytes) implements SourceType {
        /** No value. */
        public static final SourceType VOID = new Opaque("void", 0);

        /** Malformed, or of a kind that is not known. */
        public static final SourceType UNKNOWN = new Opaque("?", 0);
    }

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
