package sonde.probe.dynamic;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.format.MalformedInputException;
import sonde.format.btf.Btf;
import sonde.format.btf.BtfType;

/** Types of BTF; what is malformed is a type of which nothing is known. */
final class BtfSourceTypes implements TypeNames {
    private static final int MOST_DEPTH = 32;

    private final Btf btf;
    private final int addressBytes;

    BtfSourceTypes(Btf btf, int addressBytes) {
        this.btf = btf;
        this.addressBytes = addressBytes;
    }

    /** Of an id; 0 is void. */
    SourceType type(int id) {
        return type(id, 0);
    }

    private SourceType type(int id, int depth) {
        try {
            return depth > MOST_DEPTH ? new SourceType.Opaque("?") : make(id, depth);
        } catch (MalformedInputException e) {
            return new SourceType.Opaque("?");
        }
    }

    private SourceType make(int id, int depth) throws MalformedInputException {
        return switch (btf.type(id)) {
            case BtfType.Int number -> number(number);
            case BtfType.Ptr pointer -> pointer(pointer.type(), depth);
            case BtfType.Array array -> array(array, depth);
            case BtfType.Struct struct -> structure(struct);
            case BtfType.Enum value ->
                    new SourceType.Enumeration(
                            "enum " + shown(value.name()), value.sizeBytes(), value.signed());
            case BtfType.Fwd forward ->
                    new SourceType.Structure(
                            (forward.isUnion() ? "union " : "struct ") + forward.name(),
                            0,
                            List::of);
            case BtfType.Typedef typedef -> type(typedef.type(), depth + 1).spelled(typedef.name());
            case BtfType.Modifier modifier -> modified(modifier, depth);
            case BtfType.Float number ->
                    new SourceType.Number(
                            number.name(), number.sizeBytes(), SourceType.Kind.FLOATING, true);
            case BtfType.FuncProto _, BtfType.Func _ -> new SourceType.Opaque("function");
            case BtfType.Var variable -> type(variable.type(), depth + 1);
            case BtfType.Void _ -> new SourceType.Opaque("void");
            case BtfType.Datasec _, BtfType.DeclTag _ -> new SourceType.Opaque("?");
        };
    }

    private static String shown(String name) {
        return name.isEmpty() ? "{…}" : name;
    }

    private static SourceType number(BtfType.Int number) {
        boolean signed = number.encoding() == BtfType.Int.Encoding.SIGNED;
        SourceType.Kind kind =
                switch (number.encoding()) {
                    case SIGNED -> SourceType.Kind.SIGNED;
                    case UNSIGNED -> SourceType.Kind.UNSIGNED;
                    case CHAR -> SourceType.Kind.CHARACTER;
                    case BOOL -> SourceType.Kind.BOOLEAN;
                };
        // pahole leaves the mark of characters away
        boolean character = number.sizeBytes() == 1 && number.name().contains("char");
        return new SourceType.Number(
                number.name(),
                number.sizeBytes(),
                character ? SourceType.Kind.CHARACTER : kind,
                signed || number.name().equals("char"));
    }

    private SourceType pointer(int target, int depth) throws MalformedInputException {
        boolean user = false;
        int at = target;
        for (int hops = 0; hops < 4 && btf.type(at) instanceof BtfType.Modifier m; hops++) {
            user |= m.kind() == BtfType.Modifier.Kind.TYPE_TAG && m.name().equals("user");
            at = m.type();
        }
        String inner = spelling(target, depth);
        return new SourceType.Pointer(
                inner + (inner.endsWith("*") ? "*" : " *"),
                addressBytes,
                SourceType.once(() -> type(target)),
                false,
                user);
    }

    private String spelling(int id, int depth) throws MalformedInputException {
        return switch (btf.type(id)) {
            case BtfType.Struct struct -> structure(struct).spelling();
            default -> type(id, depth + 1).spelling();
        };
    }

    private SourceType array(BtfType.Array array, int depth) {
        SourceType inner = type(array.type(), depth + 1);
        String count = array.count() == 0 ? "" : Integer.toString(array.count());
        String spelling = inner.spelling();
        int bracket = spelling.indexOf('[');
        String base = bracket < 0 ? spelling : spelling.substring(0, bracket);
        String rest = bracket < 0 ? "" : spelling.substring(bracket);
        return new SourceType.Array(
                base + "[" + count + "]" + rest, () -> inner, Math.max(0, array.count()));
    }

    private SourceType structure(BtfType.Struct struct) {
        return new SourceType.Structure(
                (struct.isUnion() ? "union " : "struct ") + shown(struct.name()),
                struct.sizeBytes(),
                SourceType.once(() -> members(struct)));
    }

    private List<SourceType.Member> members(BtfType.Struct struct) {
        List<SourceType.Member> members = new ArrayList<>();
        for (BtfType.Member member : struct.members()) {
            members.add(
                    new SourceType.Member(
                            member.name(),
                            SourceType.once(() -> type(member.type())),
                            member.bitOffset(),
                            member.bits()));
        }
        return members;
    }

    private SourceType modified(BtfType.Modifier modifier, int depth) {
        SourceType inner = type(modifier.type(), depth + 1);
        String word =
                switch (modifier.kind()) {
                    case CONST -> "const";
                    case VOLATILE -> "volatile";
                    case RESTRICT, TYPE_TAG -> "";
                };
        if (word.isEmpty()) {
            return inner;
        }
        return inner instanceof SourceType.Pointer
                ? inner.spelled(inner.spelling() + " " + word)
                : inner.spelled(word + " " + inner.spelling());
    }

    @Override
    public Optional<SourceType> find(Space space, String name) {
        try {
            int id =
                    btf.find(
                            name,
                            type ->
                                    switch (space) {
                                        case STRUCT ->
                                                type instanceof BtfType.Struct s && !s.isUnion();
                                        case UNION ->
                                                type instanceof BtfType.Struct s && s.isUnion();
                                        case ENUM -> type instanceof BtfType.Enum;
                                        case PLAIN ->
                                                type instanceof BtfType.Int
                                                        || type instanceof BtfType.Typedef
                                                        || type instanceof BtfType.Float;
                                    });
            return id == 0 ? Optional.empty() : Optional.of(type(id));
        } catch (MalformedInputException e) {
            return Optional.empty();
        }
    }
}
