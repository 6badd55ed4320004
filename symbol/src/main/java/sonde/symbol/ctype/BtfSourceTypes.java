package sonde.symbol.ctype;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.symbol.ctype.SourceType.Keyword;
import sonde.symbol.ctype.SourceType.Kind;
import sonde.symbol.ctype.SourceType.Member;
import sonde.symbol.ctype.SourceType.NumberType;
import sonde.symbol.ctype.SourceType.PointerSign;
import sonde.symbol.ctype.SourceType.Qualifier;
import sonde.symbol.ctype.SourceType.SourceTypedef;

/**
 * Types of BTF; a malformed type is {@link SourceType.Opaque#UNKNOWN}: the kernel's own BTF has
 * none, a module's may.
 */
public final class BtfSourceTypes implements NamedTypes {
    private static final int MOST_DEPTH = 32;

    private final Btf btf;
    private final int addressBytes;
    private final Map<Integer, SourceType> made = new HashMap<>();

    /** Reads the types of the kernel, a module or an object. */
    public BtfSourceTypes(Btf btf, int addressBytes) {
        this.btf = btf;
        this.addressBytes = addressBytes;
    }

    /** The ids and names. */
    public Btf btf() {
        return btf;
    }

    /** The type of an id; 0 is void. */
    public SourceType type(int id) {
        return type(id, 0);
    }

    private SourceType type(int id, int depth) {
        SourceType known = made.get(id);
        if (known == null) {
            try {
                known = depth > MOST_DEPTH ? SourceType.Opaque.UNKNOWN : make(id, depth);
            } catch (MalformedInputException e) {
                known = SourceType.Opaque.UNKNOWN;
            }
            made.put(id, known);
        }
        return known;
    }

    private Supplier<SourceType> later(int id) {
        return SourceType.once(() -> type(id));
    }

    private SourceType make(int id, int depth) throws MalformedInputException {
        return switch (btf.type(id)) {
            case BtfType.Int number -> number(number);
            case BtfType.Float number ->
                    new NumberType(number.name(), number.sizeBytes(), Kind.FLOATING, true);
            case BtfType.Ptr pointer -> pointer(pointer.type());
            case BtfType.Array array ->
                    new SourceType.Array(
                            type(array.type(), depth + 1), array.count() & 0xffff_ffffL);
            case BtfType.Struct struct -> structure(struct);
            case BtfType.Enum one ->
                    new SourceType.Enumeration(
                            one.name(),
                            one.sizeBytes(),
                            one.signed(),
                            SourceType.once(() -> constants(one)));
            case BtfType.Fwd forward -> forward(forward);
            case BtfType.Typedef typedef ->
                    new SourceTypedef(typedef.name(), type(typedef.type(), depth + 1));
            case BtfType.Modifier modifier -> modified(modifier, depth);
            case BtfType.FuncProto proto -> prototype(proto);
            case BtfType.Func function -> type(function.type(), depth + 1);
            case BtfType.Var variable -> type(variable.type(), depth + 1);
            case BtfType.Void _ -> SourceType.Opaque.VOID;
            case BtfType.Datasec _, BtfType.DeclTag _ -> SourceType.Opaque.UNKNOWN;
        };
    }

    private static SourceType number(BtfType.Int number) {
        Kind kind =
                switch (number.encoding()) {
                    case SIGNED -> Kind.SIGNED;
                    case UNSIGNED -> Kind.UNSIGNED;
                    case CHAR -> Kind.CHARACTER;
                    case BOOL -> Kind.BOOLEAN;
                };
        // pahole marks no characters
        boolean character = number.sizeBytes() == 1 && number.name().contains("char");
        boolean isSigned = kind == Kind.SIGNED || kind == Kind.CHARACTER;
        return new NumberType(
                number.name(), number.sizeBytes(), character ? Kind.CHARACTER : kind, isSigned);
    }

    private SourceType pointer(int target) throws MalformedInputException {
        // "__user" is a tag of what is pointed to.
        boolean user = false;
        int at = target;
        for (int i = 0; i < MOST_DEPTH && btf.type(at) instanceof BtfType.Modifier tag; i++) {
            boolean isTag = tag.kind() == BtfType.Modifier.Kind.TYPE_TAG;
            user |= isTag && tag.name().equals("user");
            at = tag.type();
        }
        return new SourceType.Pointer(later(target), addressBytes, PointerSign.POINTER, user);
    }

    private SourceType prototype(BtfType.FuncProto proto) {
        List<BtfType.Param> params = proto.params();
        int stated = params.size() - (proto.isVariadic() ? 1 : 0);
        return new SourceType.Prototype(
                later(proto.returnType()),
                () -> params.subList(0, stated).stream().map(one -> type(one.type())).toList(),
                proto.isVariadic());
    }

    private static List<SourceType.Constant> constants(BtfType.Enum one) {
        return one.values().stream()
                .map(value -> new SourceType.Constant(value.name(), value.value()))
                .toList();
    }

    private SourceType structure(BtfType.Struct struct) {
        return new SourceType.Structure(
                struct.isUnion() ? Keyword.UNION : Keyword.STRUCT,
                struct.name(),
                Math.max(0, struct.sizeBytes()),
                SourceType.once(() -> members(struct)));
    }

    /** A module may define what vmlinux only declares. */
    private SourceType forward(BtfType.Fwd forward) throws MalformedInputException {
        int id =
                btf.find(
                        forward.name(),
                        fits(forward.isUnion() ? NameSpace.UNION : NameSpace.STRUCT));
        Keyword keyword = forward.isUnion() ? Keyword.UNION : Keyword.STRUCT;
        return id == 0 ? new SourceType.Structure(keyword, forward.name(), 0, List::of) : type(id);
    }

    private List<Member> members(BtfType.Struct struct) {
        List<Member> members = new ArrayList<>();
        try {
            for (BtfType.Member member : struct.members()) {
                members.add(member(member));
            }
        } catch (MalformedInputException e) {
            // The members before the malformed one stay.
            return members;
        }
        return members;
    }

    private Member member(BtfType.Member member) throws MalformedInputException {
        long offset = member.bitOffset() & 0xffff_ffffL;
        int bits = member.bits();
        // Before kind_flag the type itself says how wide a bit-field is (btf.rst, 2.2.1).
        if (bits == 0
                && btf.type(btf.skipModifiers(member.type())) instanceof BtfType.Int one
                && (one.bits() != 8 * one.sizeBytes() || one.bitOffset() != 0)
                && one.bits() > 0) {
            offset += one.bitOffset();
            bits = one.bits();
        }
        return new Member(member.name(), later(member.type()), offset, bits);
    }

    private SourceType modified(BtfType.Modifier modifier, int depth) {
        SourceType inner = type(modifier.type(), depth + 1);
        return switch (modifier.kind()) {
            case CONST -> new SourceType.Qualified(Qualifier.CONST, inner);
            case VOLATILE -> new SourceType.Qualified(Qualifier.VOLATILE, inner);
            case RESTRICT -> new SourceType.Qualified(Qualifier.RESTRICT, inner);
            case TYPE_TAG -> inner;
        };
    }

    @Override
    public Optional<SourceType> find(NameSpace space, String name) {
        try {
            int id = btf.find(name, fits(space));
            if (id != 0) {
                return Optional.of(type(id));
            }
            for (int flavour : btf.findEach(name)) {
                if (fits(space).test(btf.type(flavour))) {
                    return Optional.of(type(flavour));
                }
            }
            return Optional.empty();
        } catch (MalformedInputException e) {
            return Optional.empty();
        }
    }

    /** What a name of a name space can stand for. */
    public static Predicate<BtfType> fits(NameSpace space) {
        return type ->
                switch (type) {
                    case BtfType.Struct s ->
                            space == NameSpace.ANY
                                    || space == (s.isUnion() ? NameSpace.UNION : NameSpace.STRUCT);
                    case BtfType.Enum _ -> space == NameSpace.ENUM || space == NameSpace.ANY;
                    case BtfType.Typedef _, BtfType.Int _, BtfType.Float _ ->
                            space == NameSpace.PLAIN || space == NameSpace.ANY;
                    case BtfType _ -> false;
                };
    }
}
