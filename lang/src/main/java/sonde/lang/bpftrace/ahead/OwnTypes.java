package sonde.lang.bpftrace.ahead;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfType.Int.IntEncoding;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.core.CoreKind;
import sonde.lang.bpftrace.ahead.AotFile.TypeQuestion;
import sonde.lang.bpftrace.lower.PortableReference;
import sonde.lang.bpftrace.lower.PortableReference.ArgumentReference;
import sonde.lang.bpftrace.lower.PortableReference.MemberAspect;
import sonde.lang.bpftrace.lower.PortableReference.MemberReference;
import sonde.lang.bpftrace.lower.PortableReference.OptionReference;
import sonde.lang.bpftrace.lower.PortableReference.RunReference;
import sonde.lang.bpftrace.lower.PortableReference.SizeReference;
import sonde.lang.bpftrace.lower.PortableReference.SymbolReference;
import sonde.lang.bpftrace.lower.PortableReference.VariableReference;
import sonde.lang.type.CompositeType;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.FloatType;
import sonde.lang.type.ValueType.IntType;

/**
 * BTF of the structures that programs refer to, with those members only that they read: enough for
 * the kernel's own to be compared with. First all references are {@link #add added}, then {@link
 * #question} knows where they are.
 */
public final class OwnTypes {
    private static final int MOST_STEPS = 16;

    /** A member, and what is read of it. */
    private static final class MemberNode {
        final ValueType type;
        final Map<String, MemberNode> members = new LinkedHashMap<>();
        final long bitOffset;
        final int bits;

        MemberNode(ValueType type, long bitOffset, int bits) {
            this.type = type;
            this.bitOffset = bitOffset;
            this.bits = bits;
        }
    }

    private final Function<SizeReference, @Nullable StructType> kernel;
    private final Map<String, MemberNode> roots = new LinkedHashMap<>();
    private final Map<String, Integer> ids = new HashMap<>();
    private final BtfWriter writer = new BtfWriter();

    /** None yet; structures are looked up by name. */
    public OwnTypes(Function<SizeReference, @Nullable StructType> kernel) {
        this.kernel = kernel;
    }

    private static String key(String name, boolean union) {
        return (union ? "union " : "struct ") + name;
    }

    private MemberNode root(String name, boolean union) {
        return roots.computeIfAbsent(
                key(name, union),
                key -> {
                    StructType struct = kernel.apply(new SizeReference(name, union));
                    if (struct == null) {
                        throw new IllegalStateException("no " + key);
                    }
                    return new MemberNode(struct, 0, 0);
                });
    }

    /** Takes what a reference is about. */
    public void add(PortableReference reference) {
        switch (reference) {
            case SizeReference size -> root(size.structure(), size.union());
            case MemberReference member -> {
                MemberNode at = root(member.structure(), member.union());
                for (String name : member.path()) {
                    at = member(at, name);
                }
            }
            case OptionReference _,
                    PortableReference.EventField _,
                    ArgumentReference _,
                    PortableReference.EventArgument _,
                    SymbolReference _,
                    VariableReference _,
                    PortableReference.ControlGroup _,
                    RunReference _ -> {}
        }
    }

    private static MemberNode member(MemberNode of, String name) {
        return of.members.computeIfAbsent(
                name,
                _ -> {
                    if (!(of.type instanceof CompositeType composite)
                            || !(composite.field(name) instanceof TypeField field)) {
                        throw new IllegalStateException(of.type + " has no " + name);
                    }
                    return new MemberNode(field.type(), field.bitOffset(), field.bits());
                });
    }

    /** The BTF; nothing can be added any more. */
    public byte[] bytes() {
        roots.forEach((key, node) -> ids.put(key, structure((StructType) node.type, true, node)));
        return writer.bytes();
    }

    private int structure(StructType struct, boolean named, MemberNode node) {
        List<BtfType.Member> members = new ArrayList<>();
        node.members.forEach((name, member) ->
                members.add(
                        new BtfType.Member(
                                name, type(member, 0), (int) member.bitOffset, member.bits)));
        return writer.add(
                new BtfType.Struct(
                        named ? struct.name() : "", struct.isUnion(), struct.sizeBytes(), members));
    }

    private int type(MemberNode node, int depth) {
        return node.type instanceof StructType struct
                ? structure(struct, !struct.name().isEmpty() && node.members.isEmpty(), node)
                : type(node.type, depth);
    }

    private int type(ValueType type, int depth) {
        return switch (type) {
            case IntType i -> writer.add(integer(i.sizeBytes(), i.signed()));
            case BoolType _ -> writer.add(integer(1, false));
            case EnumType e ->
                    writer.add(new BtfType.Enum("", e.sizeBytes(), e.signed(), List.of()));
            case FloatType f -> writer.add(new BtfType.Float("float", f.sizeBytes()));
            case ArrayType a when depth < MOST_STEPS -> {
                int element = type(a.element(), depth + 1);
                int index = writer.add(integer(4, false));
                yield writer.add(new BtfType.Array(element, index, a.count()));
            }
            case StructType s -> structure(s, true, new MemberNode(s, 0, 0));
            default -> writer.add(new BtfType.Ptr(0));
        };
    }

    private static BtfType.Int integer(int sizeBytes, boolean signed) {
        return new BtfType.Int(
                (signed ? "s" : "u") + sizeBytes * 8,
                sizeBytes,
                signed ? IntEncoding.SIGNED : IntEncoding.UNSIGNED,
                0,
                8 * sizeBytes);
    }

    /** The question that a reference to the kernel's types is; null for other references. */
    public @Nullable TypeQuestion question(PortableReference reference) {
        return switch (reference) {
            case SizeReference size ->
                    new TypeQuestion(
                            id(size.structure(), size.union()), "0", CoreKind.TYPE_SIZE, 0);
            case MemberReference member -> {
                StringBuilder access = new StringBuilder("0");
                MemberNode at = root(member.structure(), member.union());
                for (String name : member.path()) {
                    access.append(':').append(List.copyOf(at.members.keySet()).indexOf(name));
                    at = member(at, name);
                }
                yield new TypeQuestion(
                        id(member.structure(), member.union()),
                        access.toString(),
                        kind(member.aspect()),
                        member.leastBytes());
            }
            case OptionReference _,
                    PortableReference.EventField _,
                    ArgumentReference _,
                    PortableReference.EventArgument _,
                    SymbolReference _,
                    VariableReference _,
                    PortableReference.ControlGroup _,
                    RunReference _ ->
                    null;
        };
    }

    private int id(String name, boolean union) {
        Integer id = ids.get(key(name, union));
        if (id == null) {
            throw new IllegalStateException("no " + key(name, union));
        }
        return id;
    }

    private static CoreKind kind(MemberAspect aspect) {
        return switch (aspect) {
            case OFFSET -> CoreKind.FIELD_BYTE_OFFSET;
            case SIZE -> CoreKind.FIELD_BYTE_SIZE;
            case LEFT -> CoreKind.FIELD_LSHIFT_U64;
            case RIGHT -> CoreKind.FIELD_RSHIFT_U64;
        };
    }
}
