package sonde.lang.declare;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;
import sonde.lang.type.Type.Space;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.SourceType.Member;
import sonde.symbol.ctype.SourceType.Structure;

/** Types of a program or of the kernel as the languages have them; what has no value is void. */
final class ScriptTypes {
    private static final int MOST_DEPTH = 32;
    private static final long MOST_BYTES = 1 << 30;
    private static final Type VOID = new Type.Void();

    private final Space space;
    private final Map<SourceType, Type> made = new IdentityHashMap<>();
    private final Map<Structure, Integer> aligns = new IdentityHashMap<>();

    /**
     * Of one file.
     *
     * @param space of its pointers that say nothing else
     */
    ScriptTypes(Space space) {
        this.space = space;
    }

    Type type(SourceType stated) {
        return type(stated, 0);
    }

    private Type type(SourceType stated, int depth) {
        SourceType plain = stated.plain();
        Type known = made.get(plain);
        if (known == null) {
            known = depth > MOST_DEPTH ? VOID : make(plain, depth);
            made.put(plain, known);
        }
        return known;
    }

    private Type make(SourceType plain, int depth) {
        return switch (plain) {
            case SourceType.Number number -> number(number);
            case SourceType.Pointer pointer -> {
                Space own = pointer.isUser() ? Space.USER : space;
                yield new Type.Pointer(type(pointer.target().get(), depth + 1), own);
            }
            case SourceType.Array array -> {
                Type element = type(array.element(), depth + 1);
                long each = Math.max(1, element.sizeBytes());
                boolean fits = array.count() >= 0 && array.count() <= MOST_BYTES / each;
                yield new Type.Array(element, fits ? (int) array.count() : 0);
            }
            case Structure structure -> struct(structure);
            case SourceType.Enumeration one -> enumeration(one);
            case SourceType.MemberPointer _,
                    SourceType.Prototype _,
                    SourceType.Typedef _,
                    SourceType.Qualified _,
                    SourceType.Opaque _ ->
                    VOID;
        };
    }

    private static Type number(SourceType.Number number) {
        int size = Math.clamp(number.sizeBytes(), 1, 32);
        return switch (number.kind()) {
            case BOOLEAN -> size == 1 ? new Type.Bool() : new Int(size, false);
            case FLOATING -> new Type.Float(size);
            case SIGNED, UNSIGNED -> new Int(size, number.isSigned());
            case CHARACTER -> new Int(size, number.isSigned(), number.name().equals("char"));
        };
    }

    /** What the kernel's BTF has without a name is a number. */
    private Type enumeration(SourceType.Enumeration one) {
        int size = Math.clamp(one.sizeBytes(), 1, 8);
        boolean isNamed = space == Space.USER || !one.name().isEmpty();
        return isNamed && Integer.bitCount(size) == 1
                ? enumerationType(one)
                : new Int(size, one.isSigned());
    }

    static Type.Enum enumerationType(SourceType.Enumeration one) {
        Map<Long, String> names = new HashMap<>();
        for (SourceType.Constant constant : one.constants().get()) {
            names.putIfAbsent(constant.value(), constant.name());
        }
        int size = Math.clamp(one.sizeBytes(), 1, 8);
        return new Type.Enum(one.name(), size, one.isSigned(), Map.copyOf(names));
    }

    private Struct struct(Structure one) {
        long size = one.sizeBytes();
        return new Struct(
                one.name(),
                one.isUnion(),
                size > MOST_BYTES ? 0 : (int) size,
                align(one, 0),
                () -> fields(one));
    }

    /** What a class inherits from is as a structure without a name. */
    private List<Field> fields(Structure structure) {
        List<Field> fields = new ArrayList<>();
        for (Member member : structure.members().get()) {
            if (member.bitOffset() != Member.NOWHERE) {
                Type type = type(member.type().get());
                fields.add(
                        new Field(
                                member.name(),
                                type,
                                member.bitOffset(),
                                member.bits(),
                                Field.Place.HERE));
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
            case SourceType.Number one -> power(one.sizeBytes());
            case SourceType.Enumeration one -> power(one.sizeBytes());
            case SourceType.Pointer one -> power(one.sizeBytes());
            case SourceType.Array array -> align(array.element(), depth + 1);
            case Structure structure -> align(structure, depth + 1);
            case SourceType.MemberPointer _,
                    SourceType.Prototype _,
                    SourceType.Typedef _,
                    SourceType.Qualified _,
                    SourceType.Opaque _ ->
                    1;
        };
    }

    private static int power(long sizeBytes) {
        return (int) Math.clamp(Long.highestOneBit(Math.max(1, sizeBytes)), 1, 8);
    }

    /** The same with pointers of another space; what they point to stays. */
    static Type in(@Nullable Space space, Type type) {
        boolean kernel = type instanceof Type.Pointer p && p.space() == Space.KERNEL;
        return space != null && kernel && type instanceof Type.Pointer pointer
                ? new Type.Pointer(pointer.to(), space)
                : type;
    }

    /** As listings have it: {@code "struct Foo*"}, {@code "const char*"}. */
    static String spelling(SourceType type) {
        return switch (type) {
            case SourceType.Number number -> number.name();
            case SourceType.Typedef typedef -> typedef.name();
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
