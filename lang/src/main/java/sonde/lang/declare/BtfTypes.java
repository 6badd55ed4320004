package sonde.lang.declare;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.btf.Btf;
import sonde.format.btf.BtfType;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;
import sonde.lang.type.Type.Space;

/**
 * Types of one BTF as the languages have them, made when asked for. What is malformed becomes void:
 * the kernel's own BTF is not, a module's may be.
 */
final class BtfTypes {
    private static final int MOST_DEPTH = 32;
    private static final long MOST_BYTES = 1 << 30;
    private static final Type VOID = new Type.Void();

    private final Btf btf;
    private final Map<Integer, Type> made = new HashMap<>();
    private final Map<Integer, Integer> aligns = new HashMap<>();
    private final Set<Integer> alignsInProgress = new HashSet<>();

    BtfTypes(Btf btf) {
        this.btf = btf;
    }

    Btf btf() {
        return btf;
    }

    /** The type of an id; void where the BTF is malformed. */
    Type type(int id) {
        try {
            return type(id, 0);
        } catch (MalformedInputException e) {
            return VOID;
        }
    }

    private Type type(int id, int depth) throws MalformedInputException {
        if (depth > MOST_DEPTH) {
            throw new MalformedInputException("BTF", "type " + id, -1, "nested too deeply");
        }
        int plain = btf.skipModifiers(id);
        Type known = made.get(plain);
        if (known == null) {
            known = make(plain, depth);
            made.put(plain, known);
        }
        return known;
    }

    private Type make(int id, int depth) throws MalformedInputException {
        return switch (btf.type(id)) {
            case BtfType.Int one -> integer(one);
            case BtfType.Float one -> new Type.Float(one.sizeBytes());
            case BtfType.Ptr pointer -> pointer(pointer, depth);
            case BtfType.Array array -> array(array, depth);
            case BtfType.Struct struct -> struct(id, struct);
            case BtfType.Enum one -> enumeration(one);
            case BtfType.Fwd forward -> forward(forward, depth);
            case BtfType.Var variable -> type(variable.type(), depth + 1);
            case BtfType.Void _,
                    BtfType.FuncProto _,
                    BtfType.Func _,
                    BtfType.Datasec _,
                    BtfType.DeclTag _,
                    BtfType.Typedef _,
                    BtfType.Modifier _ ->
                    VOID;
        };
    }

    private static Type integer(BtfType.Int one) {
        return switch (one.encoding()) {
            case BOOL -> one.sizeBytes() == 1 ? new Type.Bool() : new Int(one.sizeBytes(), false);
            case CHAR -> new Int(one.sizeBytes(), true, one.sizeBytes() == 1);
            case SIGNED -> new Int(one.sizeBytes(), true, one.name().equals("char"));
            // A plain char has no sign on arm64, and there gcc says so.
            case UNSIGNED -> new Int(one.sizeBytes(), false, one.name().equals("char"));
        };
    }

    private Type pointer(BtfType.Ptr pointer, int depth) throws MalformedInputException {
        // "__user" is a tag of what is pointed to.
        Space space = Space.KERNEL;
        int at = pointer.type();
        for (int i = 0; i < MOST_DEPTH && btf.type(at) instanceof BtfType.Modifier tag; i++) {
            boolean user =
                    tag.kind() == BtfType.Modifier.Kind.TYPE_TAG && tag.name().equals("user");
            space = user ? Space.USER : space;
            at = tag.type();
        }
        return new Type.Pointer(type(pointer.type(), depth + 1), space);
    }

    private Type array(BtfType.Array array, int depth) throws MalformedInputException {
        Type element = type(array.type(), depth + 1);
        long count = array.count() & 0xffff_ffffL;
        boolean fits = count * Math.max(1, element.sizeBytes()) <= MOST_BYTES;
        return new Type.Array(element, fits ? (int) count : 0);
    }

    private static Type enumeration(BtfType.Enum one) {
        int size = one.sizeBytes();
        if (one.name().isEmpty() || Integer.bitCount(size) != 1 || size > 8) {
            return new Int(Math.clamp(size, 1, 8), one.signed());
        }
        return enumerationType(one);
    }

    static Type.Enum enumerationType(BtfType.Enum one) {
        Map<Long, String> names = new HashMap<>();
        for (BtfType.Enumerator value : one.values()) {
            names.putIfAbsent(value.value(), value.name());
        }
        return new Type.Enum(one.name(), one.sizeBytes(), one.signed(), Map.copyOf(names));
    }

    /** A module may define what vmlinux only declares. */
    private Type forward(BtfType.Fwd forward, int depth) throws MalformedInputException {
        int id =
                btf.find(
                        forward.name(),
                        type ->
                                type instanceof BtfType.Struct struct
                                        && struct.isUnion() == forward.isUnion());
        return id == 0
                ? new Struct(forward.name(), forward.isUnion(), 0, 1, List::of)
                : type(id, depth + 1);
    }

    private Struct struct(int id, BtfType.Struct struct) throws MalformedInputException {
        int size = Math.max(0, struct.sizeBytes());
        return new Struct(
                struct.name(), struct.isUnion(), size, align(id, struct, 0), () -> fields(id));
    }

    private List<Field> fields(int id) {
        List<Field> fields = new ArrayList<>();
        try {
            if (btf.type(id) instanceof BtfType.Struct struct) {
                for (BtfType.Member member : struct.members()) {
                    fields.add(field(member));
                }
            }
        } catch (MalformedInputException e) {
            // The members before the malformed one stay.
            return fields;
        }
        return fields;
    }

    private Field field(BtfType.Member member) throws MalformedInputException {
        long offset = member.bitOffset() & 0xffff_ffffL;
        int bits = member.bits();
        int plain = btf.skipModifiers(member.type());
        // Before kind_flag the type itself says how wide a bitfield is (btf.rst, 2.2.1).
        if (bits == 0
                && btf.type(plain) instanceof BtfType.Int one
                && (one.bits() != 8 * one.sizeBytes() || one.bitOffset() != 0)
                && one.bits() > 0) {
            offset += one.bitOffset();
            bits = one.bits();
        }
        return new Field(member.name(), type(member.type()), offset, bits, Field.Place.HERE);
    }

    /** As a compiler would align it: 1 when some member lies where alignment would not put it. */
    private int align(int id, BtfType.Struct struct, int depth) throws MalformedInputException {
        Integer known = aligns.get(id);
        if (known != null) {
            return known;
        }
        if (depth > MOST_DEPTH || !alignsInProgress.add(id)) {
            return 1;
        }
        int most = 1;
        boolean packed = false;
        for (BtfType.Member member : struct.members()) {
            int align = align(member.type(), depth + 1);
            long offset = member.bitOffset() & 0xffff_ffffL;
            packed |= member.bits() == 0 && offset % (8L * align) != 0;
            most = Math.max(most, align);
        }
        packed |= struct.sizeBytes() % most != 0;
        int align = packed ? 1 : Math.min(8, most);
        alignsInProgress.remove(id);
        aligns.put(id, align);
        return align;
    }

    private int align(int type, int depth) throws MalformedInputException {
        int id = btf.skipModifiers(type);
        return switch (btf.type(id)) {
            case BtfType.Int one -> power(one.sizeBytes());
            case BtfType.Float one -> power(one.sizeBytes());
            case BtfType.Enum one -> power(one.sizeBytes());
            case BtfType.Ptr _ -> 8;
            case BtfType.Array array -> depth > MOST_DEPTH ? 1 : align(array.type(), depth + 1);
            case BtfType.Struct struct -> align(id, struct, depth + 1);
            case BtfType _ -> 1;
        };
    }

    private static int power(int sizeBytes) {
        return Math.clamp(Integer.highestOneBit(Math.max(1, sizeBytes)), 1, 8);
    }

    /** The same with pointers of another space; what they point to stays. */
    static Type in(@Nullable Space space, Type type) {
        boolean kernel = type instanceof Type.Pointer p && p.space() == Space.KERNEL;
        return space != null && kernel && type instanceof Type.Pointer pointer
                ? new Type.Pointer(pointer.to(), space)
                : type;
    }
}
