package sonde.bpf.core;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfType.Int.IntEncoding;
import sonde.binary.btf.NameFlavour;
import sonde.binary.btf.TypesById;

/**
 * When a type of an object and one of the target are taken for the same: three grades, as the
 * kernel's copy of the rules has them (tools/lib/bpf/relo_core.c, Linux 6.18).
 */
public final class TypeCompatibility {
    private static final int MOST_DEPTH = 32;

    /** Pairs looked at by one question; types that fan out at each level end there. */
    private static final int MOST_STEPS = 100_000;

    private final TypesById local;
    private final TypesById target;
    private int steps;

    /**
     * @param local of the object
     * @param target of the kernel
     */
    public TypeCompatibility(TypesById local, TypesById target) {
        this.local = local;
        this.target = target;
    }

    private void step() throws MalformedInputException {
        if (++steps > MOST_STEPS) {
            throw new MalformedInputException("BTF", "types", -1, "too deep to be compared");
        }
    }

    /** Names alike, flavours aside; a missing one fits any. */
    static boolean namesFit(String one, String other) {
        return one.isEmpty()
                || other.isEmpty()
                || NameFlavour.without(one).equals(NameFlavour.without(other));
    }

    /**
     * Whether a member may stand for another: of the same kind; where both have names enumerations
     * must have the same; sizes do not matter.
     */
    public boolean fields(int localId, int targetId) throws MalformedInputException {
        int a = localId;
        int b = targetId;
        for (int depth = 0; depth < MOST_DEPTH; depth++) {
            BtfType one = local.type(local.skipModifiers(a));
            BtfType other = target.type(target.skipModifiers(b));
            if (one instanceof BtfType.Array x && other instanceof BtfType.Array y) {
                a = x.type();
                b = y.type();
                continue;
            }
            return switch (one) {
                case BtfType.Struct _ -> other instanceof BtfType.Struct;
                case BtfType.Ptr _ -> other instanceof BtfType.Ptr;
                case BtfType.Float _ -> other instanceof BtfType.Float;
                case BtfType.Fwd x ->
                        other instanceof BtfType.Fwd y && namesFit(x.name(), y.name());
                case BtfType.Enum x ->
                        other instanceof BtfType.Enum y && namesFit(x.name(), y.name());
                case BtfType.Int x ->
                        other instanceof BtfType.Int y && x.bitOffset() == 0 && y.bitOffset() == 0;
                case BtfType _ -> false;
            };
        }
        return false;
    }

    /** Whether a type may stand for another: of the same kinds all the way through pointers. */
    public boolean types(int localId, int targetId) throws MalformedInputException {
        steps = 0;
        return types(localId, targetId, MOST_DEPTH);
    }

    private boolean types(int localId, int targetId, int depth) throws MalformedInputException {
        step();
        if (depth == 0) {
            return false;
        }
        BtfType one = local.type(local.skipModifiers(localId));
        BtfType other = target.type(target.skipModifiers(targetId));
        return switch (one) {
            case BtfType.Void _ -> other instanceof BtfType.Void;
            case BtfType.Struct x ->
                    other instanceof BtfType.Struct y && x.isUnion() == y.isUnion();
            case BtfType.Enum _ -> other instanceof BtfType.Enum;
            case BtfType.Fwd _ -> other instanceof BtfType.Fwd;
            case BtfType.Int x ->
                    other instanceof BtfType.Int y && x.bitOffset() == 0 && y.bitOffset() == 0;
            case BtfType.Ptr x ->
                    other instanceof BtfType.Ptr y && types(x.type(), y.type(), depth - 1);
            case BtfType.Array x ->
                    other instanceof BtfType.Array y && types(x.type(), y.type(), depth - 1);
            case BtfType.FuncProto x ->
                    other instanceof BtfType.FuncProto y && prototypes(x, y, depth - 1);
            case BtfType _ -> false;
        };
    }

    private boolean prototypes(BtfType.FuncProto one, BtfType.FuncProto other, int depth)
            throws MalformedInputException {
        if (one.params().size() != other.params().size()) {
            return false;
        }
        for (int i = 0; i < one.params().size(); i++) {
            if (!types(one.params().get(i).type(), other.params().get(i).type(), depth)) {
                return false;
            }
        }
        return types(one.returnType(), other.returnType(), depth);
    }

    /**
     * Whether a type matches: names, sizes of numbers and members too; behind a pointer only kind
     * and name.
     */
    public boolean matches(int localId, int targetId) throws MalformedInputException {
        steps = 0;
        return matches(localId, targetId, false, MOST_DEPTH);
    }

    private boolean matches(int localId, int targetId, boolean pointed, int depth)
            throws MalformedInputException {
        step();
        if (depth == 0) {
            return false;
        }
        BtfType one = local.type(local.skipModifiers(localId));
        BtfType other = target.type(target.skipModifiers(targetId));
        if (!(one instanceof BtfType.Void)
                && !(other instanceof BtfType.Void)
                && !NameFlavour.without(one.name()).equals(NameFlavour.without(other.name()))) {
            return false;
        }
        return switch (one) {
            case BtfType.Void _ -> other instanceof BtfType.Void;
            case BtfType.Fwd x -> declared(x.isUnion(), other, pointed);
            case BtfType.Enum x -> other instanceof BtfType.Enum y && enums(x, y);
            case BtfType.Struct x when pointed -> declared(x.isUnion(), other, true);
            case BtfType.Struct x ->
                    other instanceof BtfType.Struct y
                            && x.isUnion() == y.isUnion()
                            && members(x, y, depth);
            case BtfType.Int x ->
                    other instanceof BtfType.Int y
                            && x.sizeBytes() == y.sizeBytes()
                            && isSigned(x) == isSigned(y);
            case BtfType.Ptr x ->
                    other instanceof BtfType.Ptr y && matches(x.type(), y.type(), true, depth - 1);
            case BtfType.Array x ->
                    other instanceof BtfType.Array y
                            && x.count() == y.count()
                            && matches(x.type(), y.type(), pointed, depth - 1);
            case BtfType.FuncProto x ->
                    other instanceof BtfType.FuncProto y
                            && matchingParameters(x, y, pointed, depth);
            case BtfType _ -> false;
        };
    }

    private static boolean declared(boolean union, BtfType other, boolean defined) {
        return switch (other) {
            case BtfType.Fwd fwd -> fwd.isUnion() == union;
            case BtfType.Struct struct -> defined && struct.isUnion() == union;
            case BtfType _ -> false;
        };
    }

    static boolean isSigned(BtfType.Int type) {
        return type.encoding() == IntEncoding.SIGNED;
    }

    private static boolean enums(BtfType.Enum one, BtfType.Enum other) {
        if (one.sizeBytes() != other.sizeBytes() || one.values().size() > other.values().size()) {
            return false;
        }
        Set<String> names = new HashSet<>();
        other.values().forEach(value -> names.add(NameFlavour.without(value.name())));
        return one.values().stream()
                .allMatch(value -> names.contains(NameFlavour.without(value.name())));
    }

    /** Each member of the object's is one of the target's, under its name and matching. */
    private boolean members(BtfType.Struct one, BtfType.Struct other, int depth)
            throws MalformedInputException {
        if (one.members().size() > other.members().size()) {
            return false;
        }
        for (BtfType.Member member : one.members()) {
            boolean found = false;
            for (BtfType.Member candidate : other.members()) {
                if (NameFlavour.without(member.name()).equals(NameFlavour.without(candidate.name()))
                        && matches(member.type(), candidate.type(), false, depth - 1)) {
                    found = true;
                    break;
                }
            }
            if (!found) {
                return false;
            }
        }
        return true;
    }

    private boolean matchingParameters(
            BtfType.FuncProto one, BtfType.FuncProto other, boolean pointed, int depth)
            throws MalformedInputException {
        List<BtfType.Param> params = one.params();
        if (params.size() != other.params().size()) {
            return false;
        }
        for (int i = 0; i < params.size(); i++) {
            int theirs = other.params().get(i).type();
            if (!matches(params.get(i).type(), theirs, pointed, depth - 1)) {
                return false;
            }
        }
        return matches(one.returnType(), other.returnType(), pointed, depth - 1);
    }
}
