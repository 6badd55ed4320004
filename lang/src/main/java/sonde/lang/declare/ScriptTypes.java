package sonde.lang.declare;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.lang.type.TypeField.FieldPlace;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.FloatType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.VoidType;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.SourceType.Member;
import sonde.symbol.ctype.SourceType.NumberType;
import sonde.symbol.ctype.SourceType.SourceTypedef;
import sonde.symbol.ctype.SourceType.Structure;

/** Types of a program or of the kernel as the languages have them; what has no value is void. */
final class ScriptTypes {
    private static final int MOST_DEPTH = 32;
    private static final long MOST_BYTES = 1 << 30;
    private static final ValueType VOID = new VoidType();

    private final PointerSpace space;
    private final Map<SourceType, ValueType> made = new IdentityHashMap<>();
    private final Map<Structure, Integer> aligns = new IdentityHashMap<>();

    /**
     * Makes the types of one file.
     *
     * @param space of its pointers that say nothing else
     */
    ScriptTypes(PointerSpace space) {
        this.space = space;
    }

    ValueType type(SourceType stated) {
        return type(stated, 0);
    }

    private ValueType type(SourceType stated, int depth) {
        SourceType plain = stated.plain();
        ValueType known = made.get(plain);
        if (known == null) {
            known = depth > MOST_DEPTH ? VOID : make(plain, depth);
            made.put(plain, known);
        }
        return known;
    }

    private ValueType make(SourceType plain, int depth) {
        return switch (plain) {
            case NumberType number -> number(number);
            case SourceType.Pointer pointer -> {
                PointerSpace own = pointer.isUser() ? PointerSpace.USER : space;
                yield new PointerType(type(pointer.target().get(), depth + 1), own);
            }
            case SourceType.Array array -> {
                ValueType element = type(array.element(), depth + 1);
                long each = Math.max(1, element.sizeBytes());
                boolean fits = array.count() >= 0 && array.count() <= MOST_BYTES / each;
                yield new ArrayType(element, fits ? (int) array.count() : 0);
            }
            case Structure structure -> struct(structure);
            case SourceType.Enumeration one -> enumeration(one);
            case SourceType.MemberPointer _,
                    SourceType.Prototype _,
                    SourceTypedef _,
                    SourceType.Qualified _,
                    SourceType.Opaque _ ->
                    VOID;
        };
    }

    private static ValueType number(NumberType number) {
        int size = Math.clamp(number.sizeBytes(), 1, 32);
        return switch (number.kind()) {
            case BOOLEAN -> size == 1 ? new BoolType() : new IntType(size, false);
            case FLOATING -> new FloatType(size);
            case SIGNED, UNSIGNED -> new IntType(size, number.isSigned());
            case CHARACTER -> new IntType(size, number.isSigned(), number.name().equals("char"));
        };
    }

    /** What the kernel's BTF has without a name is a number. */
    private ValueType enumeration(SourceType.Enumeration one) {
        int size = Math.clamp(one.sizeBytes(), 1, 8);
        boolean isNamed = space == PointerSpace.USER || !one.name().isEmpty();
        return isNamed && Integer.bitCount(size) == 1
                ? enumerationType(one)
                : new IntType(size, one.isSigned());
    }

    static EnumType enumerationType(SourceType.Enumeration one) {
        Map<Long, String> names = new HashMap<>();
        for (SourceType.Constant constant : one.constants().get()) {
            names.putIfAbsent(constant.value(), constant.name());
        }
        int size = Math.clamp(one.sizeBytes(), 1, 8);
        return new EnumType(one.name(), size, one.isSigned(), Map.copyOf(names));
    }

    private StructType struct(Structure one) {
        long size = one.sizeBytes();
        return new StructType(
                one.name(),
                one.isUnion(),
                size > MOST_BYTES ? 0 : (int) size,
                align(one, 0),
                () -> fields(one));
    }

    /** What a class inherits from is as a structure without a name. */
    private List<TypeField> fields(Structure structure) {
        List<TypeField> fields = new ArrayList<>();
        for (Member member : structure.members().get()) {
            if (member.bitOffset() != Member.NOWHERE) {
                ValueType type = type(member.type().get());
                fields.add(
                        new TypeField(
                                member.name(),
                                type,
                                member.bitOffset(),
                                member.bits(),
                                FieldPlace.HERE));
            }
        }
        return fields;
    }

    /** As a compiler would align it: 1 when some member lies where alignment would not put it. */
    private int align(Structure structure, int depth) {
        Integer known = aligns.get(structure);
        if (known != null) {
            return known;
        }
        aligns.put(structure, 1); // for one that contains itself
        int most = 1;
        boolean packed = depth > MOST_DEPTH;
        for (Member member : packed ? List.<Member>of() : structure.members().get()) {
            int align = align(member.type().get(), depth + 1);
            packed |= member.bits() == 0 && member.bitOffset() % (8L * align) > 0;
            most = Math.max(most, align);
        }
        packed |= structure.sizeBytes() % most != 0;
        int align = packed ? 1 : Math.min(8, most);
        aligns.put(structure, align);
        return align;
    }

    private int align(SourceType stated, int depth) {
        return switch (stated.plain()) {
            case NumberType one -> power(one.sizeBytes());
            case SourceType.Enumeration one -> power(one.sizeBytes());
            case SourceType.Pointer one -> power(one.sizeBytes());
            case SourceType.Array array -> align(array.element(), depth + 1);
            case Structure structure -> align(structure, depth + 1);
            case SourceType.MemberPointer _,
                    SourceType.Prototype _,
                    SourceTypedef _,
                    SourceType.Qualified _,
                    SourceType.Opaque _ ->
                    1;
        };
    }

    private static int power(long sizeBytes) {
        return Math.clamp(Long.highestOneBit(Math.max(1, sizeBytes)), 1, 8);
    }

    /** The same with pointers of another space; what they point to stays. */
    static ValueType in(@Nullable PointerSpace space, ValueType type) {
        boolean kernel = type instanceof PointerType p && p.space() == PointerSpace.KERNEL;
        return space != null && kernel && type instanceof PointerType pointer
                ? new PointerType(pointer.to(), space)
                : type;
    }

    /** As listings have it: {@code "struct Foo*"}, {@code "const char*"}. */
    static String spelling(SourceType type) {
        return switch (type) {
            case NumberType number -> number.name();
            case SourceTypedef typedef -> typedef.name();
            case SourceType.Pointer pointer ->
                    spelling(pointer.target().get()) + (pointer.isReference() ? "&" : "*");
            case Structure structure ->
                    (structure.isUnion() ? "union " : "struct ") + shown(structure.name());
            case SourceType.Enumeration one -> "enum " + shown(one.name());
            case SourceType.Qualified q when q.qualifier() == SourceType.Qualifier.CONST ->
                    q.target() instanceof SourceType.Pointer
                            ? spelling(q.target()) + " const"
                            : "const " + spelling(q.target());
            case SourceType.Qualified q -> spelling(q.target());
            case SourceType.Opaque opaque when opaque.name().equals("void") -> "void";
            case SourceType.Array _,
                    SourceType.MemberPointer _,
                    SourceType.Prototype _,
                    SourceType.Opaque _ ->
                    "<unknown type>";
        };
    }

    private static String shown(String name) {
        return name.isEmpty() ? "<anonymous>" : name;
    }
}
