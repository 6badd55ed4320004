package sonde.lang.bpftrace.ahead;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.core.CoreKind;
import sonde.lang.bpftrace.ahead.ScriptFile.Question;
import sonde.lang.bpftrace.lower.Reference;
import sonde.lang.type.Composite;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Type;

/**
 * BTF of the structures that programs refer to, with those members only that they read: enough for
 * the kernel's own to be compared with. First all references are {@link #add added}, then {@link
 * #question} knows where they are.
 */
public final class OwnTypes {
    private static final int MOST_STEPS = 16;

    /** A member, and what is read of it. */
    private static final class Node {
        final Type type;
        final Map<String, Node> members = new LinkedHashMap<>();
        final long bitOffset;
        final int bits;

        Node(Type type, long bitOffset, int bits) {
            this.type = type;
            this.bitOffset = bitOffset;
            this.bits = bits;
        }
    }

    private final Function<Reference.Size, @Nullable Struct> kernel;
    private final Map<String, Node> roots = new LinkedHashMap<>();
    private final Map<String, Integer> ids = new HashMap<>();
    private final BtfWriter writer = new BtfWriter();

    /** None yet; structures are looked up by name. */
    public OwnTypes(Function<Reference.Size, @Nullable Struct> kernel) {
        this.kernel = kernel;
    }

    private static String key(String name, boolean union) {
        return (union ? "union " : "struct ") + name;
    }

    private Node root(String name, boolean union) {
        return roots.computeIfAbsent(
                key(name, union),
                key -> {
                    Struct struct = kernel.apply(new Reference.Size(name, union));
                    if (struct == null) {
                        throw new IllegalStateException("no " + key);
                    }
                    return new Node(struct, 0, 0);
                });
    }

    /** Takes what a reference is about. */
    public void add(Reference reference) {
        switch (reference) {
            case Reference.Size size -> root(size.structure(), size.union());
            case Reference.Member member -> {
                Node at = root(member.structure(), member.union());
                for (String name : member.path()) {
                    at = member(at, name);
                }
            }
            case Reference.Option _,
                    Reference.EventField _,
                    Reference.Argument _,
                    Reference.EventArgument _,
                    Reference.Symbol _,
                    Reference.Variable _,
                    Reference.ControlGroup _,
                    Reference.Run _ -> {}
        }
    }

    private static Node member(Node of, String name) {
        return of.members.computeIfAbsent(
                name,
                _ -> {
                    if (!(of.type instanceof Composite composite)
                            || !(composite.field(name) instanceof Field field)) {
                        throw new IllegalStateException(of.type + " has no " + name);
                    }
                    return new Node(field.type(), field.bitOffset(), field.bits());
                });
    }

    /** The BTF; nothing can be added any more. */
    public byte[] bytes() {
        roots.forEach((key, node) -> ids.put(key, structure((Struct) node.type, true, node)));
        return writer.bytes();
    }

    private int structure(Struct struct, boolean named, Node node) {
        List<BtfType.Member> members = new ArrayList<>();
        node.members.forEach((name, member) ->
                members.add(
                        new BtfType.Member(
                                name, type(member, 0), (int) member.bitOffset, member.bits)));
        return writer.add(
                new BtfType.Struct(
                        named ? struct.name() : "", struct.isUnion(), struct.sizeBytes(), members));
    }

    private int type(Node node, int depth) {
        return node.type instanceof Struct struct
                ? structure(struct, !struct.name().isEmpty() && node.members.isEmpty(), node)
                : type(node.type, depth);
    }

    private int type(Type type, int depth) {
        return switch (type) {
            case Type.Int i -> writer.add(integer(i.sizeBytes(), i.signed()));
            case Type.Bool _ -> writer.add(integer(1, false));
            case Type.Enum e ->
                    writer.add(new BtfType.Enum("", e.sizeBytes(), e.signed(), List.of()));
            case Type.Float f -> writer.add(new BtfType.Float("float", f.sizeBytes()));
            case Type.Array a when depth < MOST_STEPS -> {
                int element = type(a.element(), depth + 1);
                int index = writer.add(integer(4, false));
                yield writer.add(new BtfType.Array(element, index, a.count()));
            }
            case Struct s -> structure(s, true, new Node(s, 0, 0));
            default -> writer.add(new BtfType.Ptr(0));
        };
    }

    private static BtfType.Int integer(int sizeBytes, boolean signed) {
        return new BtfType.Int(
                (signed ? "s" : "u") + sizeBytes * 8,
                sizeBytes,
                signed ? BtfType.Int.Encoding.SIGNED : BtfType.Int.Encoding.UNSIGNED,
                0,
                8 * sizeBytes);
    }

    /** The question that a reference to the kernel's types is; null for other references. */
    public @Nullable Question question(Reference reference) {
        return switch (reference) {
            case Reference.Size size ->
                    new Question(id(size.structure(), size.union()), "0", CoreKind.TYPE_SIZE, 0);
            case Reference.Member member -> {
                StringBuilder access = new StringBuilder("0");
                Node at = root(member.structure(), member.union());
                for (String name : member.path()) {
                    access.append(':').append(List.copyOf(at.members.keySet()).indexOf(name));
                    at = member(at, name);
                }
                yield new Question(
                        id(member.structure(), member.union()),
                        access.toString(),
                        kind(member.aspect()),
                        member.leastBytes());
            }
            case Reference.Option _,
                    Reference.EventField _,
                    Reference.Argument _,
                    Reference.EventArgument _,
                    Reference.Symbol _,
                    Reference.Variable _,
                    Reference.ControlGroup _,
                    Reference.Run _ ->
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

    private static CoreKind kind(Reference.Aspect aspect) {
        return switch (aspect) {
            case OFFSET -> CoreKind.FIELD_BYTE_OFFSET;
            case SIZE -> CoreKind.FIELD_BYTE_SIZE;
            case LEFT -> CoreKind.FIELD_LSHIFT_U64;
            case RIGHT -> CoreKind.FIELD_RSHIFT_U64;
        };
    }
}
