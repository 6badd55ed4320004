package sonde.bpf.core;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.NameFlavour;
import sonde.binary.btf.TypesById;
import sonde.bpf.core.AccessPath.AccessStep;
import sonde.bpf.core.TargetTypes.TypeCandidate;

/** Answers what instructions want to know of the target's types. */
public final class CoreRelocator {
    private final TypesById local;
    private final @Nullable TargetTypes target;
    private final Map<Integer, List<TypeCandidate>> candidates = new HashMap<>();

    /**
     * The answer to a question.
     *
     * @param text of the way: {@code "task_struct.real_parent.tgid"}
     * @param before what the compiler wrote into the instruction
     * @param isChecked whether the instruction surely holds that
     * @param after what it is to hold
     * @param widthBefore bytes that the instruction loads or stores, 0 when they do not matter
     * @param widthAfter bytes it is to load or store
     * @param isAdjustable whether an instruction of the other width does
     * @param problem why there is no answer; empty when there is
     */
    public record RelocatedValue(
            String text,
            long before,
            boolean isChecked,
            long after,
            int widthBefore,
            int widthAfter,
            boolean isAdjustable,
            String problem) {
        /** Whether the instruction must not be reached. */
        public boolean isMissing() {
            return !problem.isEmpty();
        }
    }

    /** A number that a type gives, and what to know of it. */
    private record TypeFact(long number, boolean isChecked, int width, BtfType type) {}

    /**
     * @param local types of the object
     * @param target types of the kernel; null when there are none
     */
    public CoreRelocator(TypesById local, @Nullable TargetTypes target) {
        this.local = local;
        this.target = target;
    }

    /**
     * Answers.
     *
     * @param root BTF id in the object
     * @param access indexes through it
     * @throws MalformedInputException when the question makes no sense
     */
    public RelocatedValue resolve(int root, String access, CoreKind kind) throws IOException {
        BtfType type = local.type(root);
        String text = kind + " of " + title(type);
        if (kind == CoreKind.TYPE_ID_LOCAL) {
            return new RelocatedValue(text, root, false, root, 0, 0, true, "");
        }
        if (!kind.isField() && !kind.isEnum() && !access.equals("0")) {
            throw new MalformedInputException("CO-RE", "access", -1, access + " for a type");
        }
        AccessPath path = null;
        String enumerator = "";
        if (kind.isField()) {
            path = AccessPath.parse(local, root, access);
            text = kind + " of " + keyword(local.type(local.skipModifiers(root))) + path.text();
        } else if (kind.isEnum()) {
            enumerator = enumerator(root, access);
            text = kind + " of " + title(type) + "::" + enumerator;
        }
        TypeFact before = local(root, kind, path, enumerator);
        TypeFact after = null;
        TypeCandidate from = null;
        for (TypeCandidate candidate : candidates(root, type)) {
            TypeFact value = target(candidate, root, kind, path, enumerator);
            if (value == null) {
                continue;
            }
            if (after != null && after.number() != value.number()) {
                return new RelocatedValue(
                        text,
                        before.number(),
                        before.isChecked(),
                        0,
                        0,
                        0,
                        true,
                        "several types of that name answer differently: id %d %d, id %d %d"
                                .formatted(
                                        from == null ? 0 : from.id(),
                                        after.number(),
                                        candidate.id(),
                                        value.number()));
            }
            if (after == null) {
                after = value;
                from = candidate;
            }
        }
        return outcome(text, kind, before, after);
    }

    private RelocatedValue outcome(
            String text, CoreKind kind, TypeFact before, @Nullable TypeFact after) {
        if (after == null) {
            boolean zero = kind.mayBeMissing();
            return new RelocatedValue(
                    text,
                    before.number(),
                    before.isChecked(),
                    0,
                    0,
                    0,
                    true,
                    zero ? "" : target == null ? "no types of the kernel" : "the kernel has none");
        }
        return new RelocatedValue(
                text,
                before.number(),
                before.isChecked(),
                after.number(),
                before.width(),
                after.width(),
                isAdjustable(before.type(), after.type()),
                "");
    }

    /** Loads zero-extend: right for pointers and unsigned numbers only. */
    private static boolean isAdjustable(BtfType one, BtfType other) {
        return one instanceof BtfType.Ptr && other instanceof BtfType.Ptr
                || one instanceof BtfType.Int a
                        && other instanceof BtfType.Int b
                        && !TypeCompatibility.isSigned(a)
                        && !TypeCompatibility.isSigned(b);
    }

    private static String keyword(BtfType type) {
        return switch (type) {
            case BtfType.Struct s -> s.isUnion() ? "union " : "struct ";
            case BtfType.Enum _ -> "enum ";
            case BtfType _ -> "";
        };
    }

    private static String title(BtfType type) {
        return keyword(type) + type.name();
    }

    private List<TypeCandidate> candidates(int root, BtfType type) throws IOException {
        List<TypeCandidate> known = candidates.get(root);
        if (known == null) {
            String name = NameFlavour.without(type.name());
            known = target == null || name.isEmpty() ? List.of() : target.candidates(name, type);
            candidates.put(root, known);
        }
        return known;
    }

    private String enumerator(int root, String access) throws MalformedInputException {
        int index;
        try {
            index = Integer.parseInt(access);
        } catch (NumberFormatException e) {
            index = -1;
        }
        if (!(local.type(local.skipModifiers(root)) instanceof BtfType.Enum e)
                || index < 0
                || index >= e.values().size()) {
            throw new MalformedInputException("CO-RE", "access", -1, access + " of no enumerator");
        }
        return e.values().get(index).name();
    }

    private TypeFact local(int root, CoreKind kind, @Nullable AccessPath path, String enumerator)
            throws MalformedInputException {
        if (path != null) {
            return field(local, path, kind);
        }
        return kind.isEnum() ? enumeration(local, root, kind, enumerator) : type(local, root, kind);
    }

    private @Nullable TypeFact target(
            TypeCandidate candidate,
            int root,
            CoreKind kind,
            @Nullable AccessPath path,
            String enumerator)
            throws MalformedInputException {
        Btf btf = candidate.btf();
        TypesById types = btf;
        if (path != null) {
            AccessPath there = path.in(local, types, candidate.id());
            return there == null ? null : field(types, there, kind);
        }
        if (kind.isEnum()) {
            BtfType found = btf.type(btf.skipModifiers(candidate.id()));
            boolean has =
                    found instanceof BtfType.Enum e
                            && e.values().stream().anyMatch(v -> isNamed(v, enumerator));
            return has ? enumeration(types, candidate.id(), kind, enumerator) : null;
        }
        TypeCompatibility compatibility = new TypeCompatibility(local, types);
        boolean fits =
                kind == CoreKind.TYPE_MATCHES
                        ? compatibility.matches(root, candidate.id())
                        : compatibility.types(root, candidate.id());
        return fits ? type(types, candidate.id(), kind) : null;
    }

    private static boolean isNamed(BtfType.Enumerator value, String name) {
        return NameFlavour.without(value.name()).equals(NameFlavour.without(name));
    }

    private static TypeFact enumeration(TypesById types, int root, CoreKind kind, String enumerator)
            throws MalformedInputException {
        BtfType type = types.type(types.skipModifiers(root));
        long number = 1;
        if (kind == CoreKind.ENUM_VALUE && type instanceof BtfType.Enum e) {
            for (BtfType.Enumerator value : e.values()) {
                if (isNamed(value, enumerator)) {
                    number = value.value();
                    break;
                }
            }
        }
        return new TypeFact(number, true, 0, type);
    }

    private static TypeFact type(TypesById types, int id, CoreKind kind)
            throws MalformedInputException {
        BtfType type = types.type(id);
        return switch (kind) {
            // No value to check: the compiler cannot know an id of the target.
            case TYPE_ID_TARGET -> new TypeFact(id, false, 0, type);
            case TYPE_SIZE -> {
                long size =
                        types.sizeBytes(id)
                                .orElseThrow(() ->
                                        new MalformedInputException(
                                                "CO-RE", "size", -1, "a type without one"));
                yield new TypeFact(size, true, 0, type);
            }
            default -> new TypeFact(1, true, 0, type);
        };
    }

    private static TypeFact field(TypesById types, AccessPath path, CoreKind kind)
            throws MalformedInputException {
        AccessStep last = path.last();
        if (kind == CoreKind.FIELD_EXISTS) {
            return new TypeFact(1, true, 0, types.type(last.container()));
        }
        BtfType.Member member = last.member();
        if (member == null) {
            BtfType type = types.type(last.container());
            long size = types.sizeBytes(last.container()).orElse(0);
            return switch (kind) {
                case FIELD_BYTE_OFFSET ->
                        new TypeFact(path.bitOffset() / 8, true, (int) size, type);
                case FIELD_BYTE_SIZE -> new TypeFact(size, true, 0, type);
                default ->
                        throw new MalformedInputException(
                                "CO-RE", kind.name(), -1, "of an element of an array");
            };
        }
        BtfType type = types.type(types.skipModifiers(member.type()));
        long size = types.sizeBytes(member.type()).orElse(0);
        long bits = member.bits() == 0 ? 8 * size : member.bits();
        long bytes = path.bitOffset() / 8;
        if (member.bits() != 0) {
            if (size <= 0) {
                throw new MalformedInputException("CO-RE", "bitfield", -1, "of no number");
            }
            bytes = bytes / size * size;
            while (path.bitOffset() + bits - 8 * bytes > 8 * size) {
                if (size >= 8) {
                    throw new MalformedInputException("CO-RE", "bitfield", -1, "too wide");
                }
                size *= 2;
                bytes = path.bitOffset() / 8 / size * size;
            }
        }
        boolean whole = member.bits() == 0;
        return switch (kind) {
            case FIELD_BYTE_OFFSET -> new TypeFact(bytes, whole, whole ? (int) size : 0, type);
            case FIELD_BYTE_SIZE -> new TypeFact(size, whole, 0, type);
            case FIELD_SIGNED -> new TypeFact(isSigned(type) ? 1 : 0, false, 0, type);
            case FIELD_LSHIFT_U64 ->
                    new TypeFact(leftShift(path.bitOffset(), bits, bytes, size), false, 0, type);
            default -> new TypeFact(64 - bits, true, 0, type);
        };
    }

    private static long leftShift(long bitOffset, long bits, long bytes, long size) {
        return java.nio.ByteOrder.nativeOrder() == java.nio.ByteOrder.LITTLE_ENDIAN
                ? 64 - (bitOffset + bits - 8 * bytes)
                : 8 * (8 - size) + bitOffset - 8 * bytes;
    }

    private static boolean isSigned(BtfType type) {
        return switch (type) {
            case BtfType.Enum e -> e.signed();
            case BtfType.Int i -> TypeCompatibility.isSigned(i);
            case BtfType _ -> false;
        };
    }
}
