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
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Space;

/** What C has declared, and what the kernel has besides. */
final class CScope {
    private static final int MOST_DEPTH = 64;

    /** Larger things are taken for mistakes. */
    static final long MOST_BYTES = 1 << 30;

    private final TypeSource kernel;
    private final Map<String, CType> tags = new HashMap<>();
    private final Map<String, CType> typedefs = new HashMap<>();
    private final Map<String, Long> enumerators = new LinkedHashMap<>();
    private final Map<String, Type.Enum> enumOf = new HashMap<>();
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
    @Nullable CType tag(Kind kind, String name) {
        CType type = tags.get(key(kind, name));
        return type != null && kind(type) == kind ? type : null;
    }

    private static Kind kind(CType type) {
        return type instanceof CType.Defined defined
                ? defined.record().union ? Kind.UNION : Kind.STRUCT
                : Kind.ENUM;
    }

    /**
     * Defines a tag.
     *
     * @param own whether the script itself does, not a header
     */
    void defineTag(Kind kind, String name, CType type, boolean own) {
        tags.put(key(kind, name), type);
        if (own) {
            ownTags.add(kind + " " + name);
        }
    }

    /** Whether the script itself defined that tag. */
    boolean isOwn(Kind kind, String name) {
        return ownTags.contains(kind + " " + name);
    }

    void defineTypedef(String name, CType type) {
        typedefs.put(name, type);
    }

    /** A typedef, of the kernel too; null for none. */
    @Nullable CType typedef(String name) {
        CType own = typedefs.get(name);
        if (own != null) {
            return own;
        }
        Type type = BasicTypes.fixed(name);
        if (type == null) {
            type = kernel.type(Kind.PLAIN, name);
        }
        if (type == null) {
            type = BasicTypes.usual(name);
        }
        return type == null ? null : CType.Plain.of(type);
    }

    /** A typedef made here; null for none. */
    @Nullable CType ownTypedef(String name) {
        return typedefs.get(name);
    }

    void defineEnumerator(String name, long value) {
        enumerators.put(name, value);
    }

    void enumeratorOf(String name, Type.Enum type) {
        enumOf.put(name, type);
    }

    @Nullable Long enumerator(String name) {
        return enumerators.get(name);
    }

    Type.@Nullable Enum enumOf(String name) {
        return enumOf.get(name);
    }

    Set<String> enumerators() {
        return enumerators.keySet();
    }

    /** A constant, of the kernel too. */
    @Nullable Long constant(String name) {
        Long own = enumerators.get(name);
        if (own == null) {
            own = Constants.value(name);
        }
        return own != null ? own : kernel.constant(name);
    }

    private @Nullable Type fromKernel(CType.Tagged tagged) {
        Type type = kernel.type(tagged.kind(), tagged.name());
        if (type == null) {
            return null;
        }
        boolean declaredOnly =
                type.sizeBytes() == 0 && type instanceof Struct struct && struct.fields().isEmpty();
        return declaredOnly ? null : type;
    }

    /** Bytes of a type, -1 when it is not complete. */
    long sizeBytes(CType type) {
        return switch (type) {
            case CType.Plain plain -> plain.type().sizeBytes();
            case CType.Pointer _ -> 8;
            case CType.Array array -> {
                long element = sizeBytes(array.element());
                yield element < 0 || element * array.count() > MOST_BYTES
                        ? -1
                        : element * array.count();
            }
            case CType.Tagged tagged -> {
                CType own = tag(tagged.kind(), tagged.name());
                Type other = own == null ? fromKernel(tagged) : null;
                yield own != null ? sizeBytes(own) : other != null ? other.sizeBytes() : -1;
            }
            case CType.Defined defined -> defined.record().sizeBytes;
            case CType.Function _ -> -1;
            case CType.Aligned aligned -> sizeBytes(aligned.type());
        };
    }

    int align(CType type) {
        return switch (type) {
            case CType.Plain plain -> plain.align();
            case CType.Pointer _ -> 8;
            case CType.Array array -> align(array.element());
            case CType.Tagged tagged -> {
                CType own = tag(tagged.kind(), tagged.name());
                Type other = own == null ? fromKernel(tagged) : null;
                yield own != null ? align(own) : other != null ? Math.max(1, other.align()) : 1;
            }
            case CType.Defined defined -> defined.record().align;
            case CType.Function _ -> 1;
            case CType.Aligned aligned -> aligned.align();
        };
    }

    /** The type as the languages have it. Pointers are the kernel's until somebody knows better. */
    Type type(CType type) {
        return type(type, 0);
    }

    private Type type(CType type, int depth) {
        if (depth > MOST_DEPTH) {
            return new Type.Void();
        }
        return switch (type) {
            case CType.Plain plain -> plain.type();
            case CType.Pointer pointer ->
                    new Type.Pointer(type(pointer.to(), depth + 1), Space.KERNEL);
            case CType.Array array ->
                    new Type.Array(type(array.element(), depth + 1), array.count());
            case CType.Tagged tagged -> tagged(tagged, depth);
            case CType.Defined defined -> struct(defined.record());
            case CType.Function _ -> new Type.Void();
            case CType.Aligned aligned -> type(aligned.type(), depth + 1);
        };
    }

    private Type tagged(CType.Tagged tagged, int depth) {
        CType own = tag(tagged.kind(), tagged.name());
        if (own != null) {
            return type(own, depth + 1);
        }
        Type other = kernel.type(tagged.kind(), tagged.name());
        if (other != null) {
            return other;
        }
        return tagged.kind() == TypeSyntax.Kind.ENUM
                ? new Type.Enum(tagged.name(), 4, false, Map.of())
                : new Struct(tagged.name(), tagged.kind() == Kind.UNION, 0, 1, List::of);
    }

    private Struct struct(CType.CRecord record) {
        Struct made = record.struct;
        if (made == null) {
            int size = (int) Math.max(0, record.sizeBytes);
            // What values lie in is aligned to 8 at most.
            int align = Math.min(8, record.align);
            made = new Struct(record.name, record.union, size, align, () -> fields(record));
            record.struct = made;
        }
        return made;
    }

    private List<Field> fields(CType.CRecord record) {
        List<Field> fields = new ArrayList<>();
        for (CType.Member member : record.members) {
            Type type = type(member.type());
            fields.add(
                    new Field(
                            member.name(),
                            type,
                            member.bitOffset(),
                            member.bits(),
                            Field.Place.HERE));
        }
        return fields;
    }
}
