package sonde.binary.btf;

import java.util.List;

/**
 * A type of BTF. References are type ids; 0 is void. The nested records bear the names of the
 * format's kinds (BTF_KIND_*); numbers behind them are those of include/uapi/linux/btf.h.
 */
public sealed interface BtfType {
    /** The name, empty for none. */
    String name();

    /** Kind 1: an integer in memory. */
    record Int(String name, int sizeBytes, IntEncoding encoding, int bitOffset, int bits)
            implements BtfType {
        /** What the bits mean: btf_int_encoding. */
        public enum IntEncoding {
            UNSIGNED,
            SIGNED,
            CHAR,
            BOOL,
        }
    }

    /** Kind 2. */
    record Ptr(int type) implements BtfType {
        @Override
        public String name() {
            return "";
        }
    }

    /** Kind 3; {@code count} 0 for a flexible array. */
    record Array(int type, int indexType, int count) implements BtfType {
        @Override
        public String name() {
            return "";
        }
    }

    /** Kinds 4 and 5. */
    record Struct(String name, boolean isUnion, int sizeBytes, List<Member> members)
            implements BtfType {}

    /**
     * A member.
     *
     * @param bitOffset from the start of the structure
     * @param bits of a bitfield, 0 for a member that is none
     */
    record Member(String name, int type, int bitOffset, int bits) {}

    /** Kinds 6 and 19 (ENUM64). */
    record Enum(String name, int sizeBytes, boolean signed, List<Enumerator> values)
            implements BtfType {}

    /** A name of an enumeration; the value is sign- or zero-extended. */
    record Enumerator(String name, long value) {}

    /** Kind 7: declared, not defined. */
    record Fwd(String name, boolean isUnion) implements BtfType {}

    /** Kind 8. */
    record Typedef(String name, int type) implements BtfType {}

    /** Kinds 9 to 11 and 18 (TYPE_TAG, whose name is the tag). */
    record Modifier(Kind kind, String name, int type) implements BtfType {
        /** Which one. */
        public enum Kind {
            VOLATILE,
            CONST,
            RESTRICT,
            TYPE_TAG,
        }
    }

    /** Kind 12; {@code type} is its FUNC_PROTO. */
    record Func(String name, Linkage linkage, int type) implements BtfType {}

    /** Linkage of functions and variables: BTF_FUNC_STATIC, …. */
    enum Linkage {
        STATIC,
        GLOBAL,
        EXTERN,
    }

    /** Kind 13; a last parameter without name and type stands for "…". */
    record FuncProto(int returnType, List<Param> params) implements BtfType {
        @Override
        public String name() {
            return "";
        }

        /** Whether more arguments may follow. */
        public boolean isVariadic() {
            return !params.isEmpty() && params.getLast().type() == 0;
        }
    }

    /** A parameter. */
    record Param(String name, int type) {}

    /** Kind 14. */
    record Var(String name, Linkage linkage, int type) implements BtfType {}

    /** Kind 15: the variables of an ELF section. */
    record Datasec(String name, int sizeBytes, List<SectionVar> vars) implements BtfType {}

    /** Where a variable lies in its section. */
    record SectionVar(int type, int offset, int sizeBytes) {}

    /** Kind 16. */
    record Float(String name, int sizeBytes) implements BtfType {}

    /** Kind 17: a tag on a type, a member or a parameter ({@code component}, -1 for the whole). */
    record DeclTag(String name, int type, int component) implements BtfType {}

    /** Type 0. */
    record Void() implements BtfType {
        @Override
        public String name() {
            return "void";
        }
    }
}
