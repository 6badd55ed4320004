package sonde.lang.declare;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.Kind;
import sonde.lang.declare.CDeclaredType.AlignedType;
import sonde.lang.declare.CDeclaredType.CRecordType;
import sonde.lang.declare.CDeclaredType.CompleteType;
import sonde.lang.declare.CDeclaredType.DefinedRecord;
import sonde.lang.declare.CDeclaredType.PlacedMember;
import sonde.lang.declare.CDeclaredType.TaggedType;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.lang.type.TypeField.FieldPlace;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.VoidType;

/** What C has declared, and what the kernel has besides. */
final class CScope {
    private static final int MOST_DEPTH = 64;

    /** Larger things are taken for mistakes. */
    static final long MOST_BYTES = 1 << 30;

    private final TypeSource kernel;
    private final Map<String, CDeclaredType> tags = new HashMap<>();
    private final Map<String, CDeclaredType> typedefs = new HashMap<>();
    private final Map<String, Long> enumerators = new LinkedHashMap<>();
    private final Map<String, EnumType> enumOf = new HashMap<>();
    private final Set<String> ownTags = new HashSet<>();

    CScope(TypeSource kernel) {
        this.kernel = kernel;
    }

    private static String key(Kind kind, String name) {
        // struct, union and enum share one name space (C17, 6.2.3).
        return switch (kind) {
            case STRUCT, UNION, ENUM -> name;
            case PLAIN -> throw new IllegalArgumentException(name);
        };
    }

    /** A tag that is defined here; null for none. */
    @Nullable CDeclaredType tag(Kind kind, String name) {
        CDeclaredType type = tags.get(key(kind, name));
        return type != null && kind(type) == kind ? type : null;
    }

    private static Kind kind(CDeclaredType type) {
        return type instanceof DefinedRecord defined
                ? defined.record().union ? Kind.UNION : Kind.STRUCT
                : Kind.ENUM;
    }

    /**
     * Defines a tag.
     *
     * @param own whether the script itself does, not a header
     */
    void defineTag(Kind kind, String name, CDeclaredType type, boolean own) {
        tags.put(key(kind, name), type);
        if (own) {
            ownTags.add(kind + " " + name);
        }
    }

    /** Whether the script itself defined that tag. */
    boolean isOwn(Kind kind, String name) {
        return ownTags.contains(kind + " " + name);
    }

    void defineTypedef(String name, CDeclaredType type) {
        typedefs.put(name, type);
    }

    /** A typedef, of the kernel too; null for none. */
    @Nullable CDeclaredType typedef(String name) {
        CDeclaredType own = typedefs.get(name);
        if (own != null) {
            return own;
        }
        ValueType type = LinuxBasicTypes.fixed(name);
        if (type == null) {
            type = kernel.type(Kind.PLAIN, name);
        }
        if (type == null) {
            type = LinuxBasicTypes.usual(name);
        }
        return type == null ? null : CompleteType.of(type);
    }

    /** A typedef made here; null for none. */
    @Nullable CDeclaredType ownTypedef(String name) {
        return typedefs.get(name);
    }

    void defineEnumerator(String name, long value) {
        enumerators.put(name, value);
    }

    void enumeratorOf(String name, EnumType type) {
        enumOf.put(name, type);
    }

    @Nullable Long enumerator(String name) {
        return enumerators.get(name);
    }

    ValueType.@Nullable EnumType enumOf(String name) {
        return enumOf.get(name);
    }

    Set<String> enumerators() {
        return enumerators.keySet();
    }

    /** A constant, of the kernel too. */
    @Nullable Long constant(String name) {
        Long own = enumerators.get(name);
        if (own == null) {
            own = LinuxConstants.value(name);
        }
        return own != null ? own : kernel.constant(name);
    }

    private @Nullable ValueType fromKernel(TaggedType tagged) {
        ValueType type = kernel.type(tagged.kind(), tagged.name());
        if (type == null) {
            return null;
        }
        boolean declaredOnly =
                type.sizeBytes() == 0
                        && type instanceof StructType struct
                        && struct.fields().isEmpty();
        return declaredOnly ? null : type;
    }

    /** Bytes of a type, -1 when it is not complete. */
    long sizeBytes(CDeclaredType type) {
        return switch (type) {
            case CompleteType plain -> plain.type().sizeBytes();
            case CDeclaredType.Pointer _ -> 8;
            case CDeclaredType.Array array -> {
                long element = sizeBytes(array.element());
                yield element < 0 || element * array.count() > MOST_BYTES
                        ? -1
                        : element * array.count();
            }
            case TaggedType tagged -> {
                CDeclaredType own = tag(tagged.kind(), tagged.name());
                ValueType other = own == null ? fromKernel(tagged) : null;
                yield own != null ? sizeBytes(own) : other != null ? other.sizeBytes() : -1;
            }
            case DefinedRecord defined -> defined.record().sizeBytes;
            case CDeclaredType.Function _ -> -1;
            case AlignedType aligned -> sizeBytes(aligned.type());
        };
    }

    int align(CDeclaredType type) {
        return switch (type) {
            case CompleteType plain -> plain.align();
            case CDeclaredType.Pointer _ -> 8;
            case CDeclaredType.Array array -> align(array.element());
            case TaggedType tagged -> {
                CDeclaredType own = tag(tagged.kind(), tagged.name());
                ValueType other = own == null ? fromKernel(tagged) : null;
                yield own != null ? align(own) : other != null ? Math.max(1, other.align()) : 1;
            }
            case DefinedRecord defined -> defined.record().align;
            case CDeclaredType.Function _ -> 1;
            case AlignedType aligned -> aligned.align();
        };
    }

    /** The type as the languages have it. Pointers are the kernel's until somebody knows better. */
    ValueType type(CDeclaredType type) {
        return type(type, 0);
    }

    private ValueType type(CDeclaredType type, int depth) {
        if (depth > MOST_DEPTH) {
            return new VoidType();
        }
        return switch (type) {
            case CompleteType plain -> plain.type();
            case CDeclaredType.Pointer pointer ->
                    new PointerType(type(pointer.to(), depth + 1), PointerSpace.KERNEL);
            case CDeclaredType.Array array ->
                    new ArrayType(type(array.element(), depth + 1), array.count());
            case TaggedType tagged -> tagged(tagged, depth);
            case DefinedRecord defined -> struct(defined.record());
            case CDeclaredType.Function _ -> new VoidType();
            case AlignedType aligned -> type(aligned.type(), depth + 1);
        };
    }

    private ValueType tagged(TaggedType tagged, int depth) {
        CDeclaredType own = tag(tagged.kind(), tagged.name());
        if (own != null) {
            return type(own, depth + 1);
        }
        ValueType other = kernel.type(tagged.kind(), tagged.name());
        if (other != null) {
            return other;
        }
        return tagged.kind() == TypeSyntax.Kind.ENUM
                ? new EnumType(tagged.name(), 4, false, Map.of())
                : new StructType(tagged.name(), tagged.kind() == Kind.UNION, 0, 1, List::of);
    }

    private StructType struct(CRecordType record) {
        StructType made = record.struct;
        if (made == null) {
            int size = (int) Math.max(0, record.sizeBytes);
            // What values lie in is aligned to 8 at most.
            int align = Math.min(8, record.align);
            made = new StructType(record.name, record.union, size, align, () -> fields(record));
            record.struct = made;
        }
        return made;
    }

    private List<TypeField> fields(CRecordType record) {
        List<TypeField> fields = new ArrayList<>();
        for (PlacedMember member : record.members) {
            ValueType type = type(member.type());
            fields.add(
                    new TypeField(
                            member.name(),
                            type,
                            member.bitOffset(),
                            member.bits(),
                            FieldPlace.HERE));
        }
        return fields;
    }
}
