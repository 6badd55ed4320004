package sonde.binary.btf;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.BtfType.Enumerator;
import sonde.binary.btf.BtfType.Member;
import sonde.binary.btf.BtfType.Struct;
import sonde.binary.btf.StructPlacement.MemberPlacement;

/**
 * Writes types as a C header that compilers lay out as the kernel did: definitions after what they
 * contain, forward declarations for what is only pointed to, padding and packing where a compiler
 * would choose otherwise. A second type of a name gets {@code ___2}, as CO-RE ignores what follows
 * three underscores.
 */
public final class CHeader {
    private static final int MOST_DEPTH = 512;

    /** Unnamed structures in one another. */
    private static final int MOST_BODIES = 32;

    private final Btf btf;
    private final Appendable out;
    private final CDeclarator declarator;
    private final Map<Integer, String> names = new HashMap<>();
    private final Set<String> taken = new HashSet<>();
    private final Set<Integer> defined = new HashSet<>();
    private final Set<Integer> declared = new HashSet<>();
    private final Set<Integer> needed = new HashSet<>();
    private final Set<Integer> mentioned = new HashSet<>();
    private final Set<Integer> inProgress = new HashSet<>();
    private final StructPlacement layout;

    private CHeader(Btf btf, Appendable out) {
        this.btf = btf;
        this.out = out;
        this.layout = new StructPlacement(btf);
        this.declarator = new CDeclarator(btf, this::nameOf, this::body);
    }

    /** Writes all types of a blob; of a split one what its base has too, where it is needed. */
    public static void write(Btf btf, Appendable out) throws MalformedInputException, IOException {
        CHeader header = new CHeader(btf, out);
        for (int id = btf.firstId(); id < btf.end(); id++) {
            header.define(id, 0);
        }
    }

    /** Writes one type and what it needs. */
    public static void write(Btf btf, int id, Appendable out)
            throws MalformedInputException, IOException {
        new CHeader(btf, out).define(id, 0);
    }

    /** Writes some types and what they need, each once. */
    public static void write(Btf btf, List<Integer> ids, Appendable out)
            throws MalformedInputException, IOException {
        CHeader header = new CHeader(btf, out);
        for (int id : ids) {
            header.define(id, 0);
        }
    }

    /**
     * Writes a whole file to be included, {@code vmlinux.h}: what reads its structures is to fit
     * other kernels too.
     *
     * @param ids of the types that are wanted; empty for all
     */
    public static void writeFile(Btf btf, List<Integer> ids, Appendable out)
            throws MalformedInputException, IOException {
        out.append("#ifndef __VMLINUX_H__\n#define __VMLINUX_H__\n\n");
        out.append("#ifndef BPF_NO_PRESERVE_ACCESS_INDEX\n");
        out.append("#pragma clang attribute push (__attribute__((preserve_access_index)),");
        out.append(" apply_to = record)\n#endif\n\n");
        if (ids.isEmpty()) {
            write(btf, out);
        } else {
            write(btf, ids, out);
        }
        out.append("#ifndef BPF_NO_PRESERVE_ACCESS_INDEX\n");
        out.append("#pragma clang attribute pop\n#endif\n\n#endif\n");
    }

    /** One declaration by itself: {@code "struct list_head *next"}. */
    public static String declaration(Btf btf, int id, String name) throws MalformedInputException {
        CHeader header = new CHeader(btf, new StringBuilder());
        return header.declarator.declare(id, name, 0);
    }

    /**
     * The head of a function with the names of its parameters: {@code "int count(void *ctx)"}.
     *
     * @param id of the function or of its prototype
     */
    public static String head(Btf btf, int id, String name) throws MalformedInputException {
        CHeader header = new CHeader(btf, new StringBuilder());
        BtfType type = btf.type(id);
        BtfType proto = type instanceof BtfType.Func function ? btf.type(function.type()) : type;
        return proto instanceof BtfType.FuncProto one
                ? header.declarator.head(one, name)
                : header.declarator.declare(id, name, 0);
    }

    /** The definition of a structure, union or enumeration by itself, with its semicolon. */
    public static String definition(Btf btf, int id) throws MalformedInputException {
        return new CHeader(btf, new StringBuilder()).body(id, 0) + ";";
    }

    private String nameOf(int id) {
        String known = names.get(id);
        if (known != null) {
            return known;
        }
        try {
            BtfType type = btf.type(id);
            // struct, union and enum have one name space, typedefs another.
            String space = type instanceof BtfType.Typedef ? "" : "tag ";
            String name = type.name();
            if (!(type instanceof BtfType.Fwd)) {
                for (int i = 2; !taken.add(space + name); i++) {
                    name = type.name() + "___" + i;
                }
            }
            names.put(id, name);
            return name;
        } catch (MalformedInputException e) {
            throw new IllegalStateException("asked for a type that was decoded before", e);
        }
    }

    /** Defines a type that has a name, after all it contains. */
    private void define(int id, int depth) throws MalformedInputException, IOException {
        if (id == 0 || defined.contains(id)) {
            return;
        }
        if (depth > MOST_DEPTH) {
            throw new MalformedInputException("BTF", "type " + id, -1, "nested too deeply");
        }
        BtfType type = btf.type(id);
        if (!inProgress.add(id)) {
            if (type instanceof BtfType.Typedef) {
                throw new MalformedInputException("BTF", "type " + id, -1, "needs itself");
            }
            return; // only reached through a pointer or in a format that contains itself
        }
        switch (type) {
            case Struct struct -> {
                for (Member member : struct.members()) {
                    need(member.type(), depth + 1);
                }
                if (!struct.name().isEmpty()) {
                    out.append(body(id, 0)).append(";\n\n");
                }
            }
            case BtfType.Enum one -> {
                // Unnamed ones that nothing contains still have their constants.
                if (!one.name().isEmpty() || !isContained(id)) {
                    out.append(body(id, 0)).append(";\n\n");
                }
            }
            case BtfType.Typedef typedef -> {
                // Its structure may itself speak of the typedef: a forward declaration does.
                mention(typedef.type(), depth + 1);
                if (!isBuiltIn(typedef.name())) {
                    declarator.begin();
                    out.append("typedef ")
                            .append(declarator.declare(typedef.type(), nameOf(id), 0))
                            .append(";\n\n");
                }
            }
            case BtfType.Fwd _ -> forward(id);
            case BtfType _ -> need(id, depth + 1);
        }
        inProgress.remove(id);
        defined.add(id);
    }

    /** Makes sure that a type may be used by value: in a member, a typedef, an array. */
    private void need(int id, int depth) throws MalformedInputException, IOException {
        if (depth > MOST_DEPTH) {
            throw new MalformedInputException("BTF", "type " + id, -1, "nested too deeply");
        }
        if (!needed.add(id)) {
            return;
        }
        switch (btf.type(id)) {
            case BtfType.Ptr pointer -> mention(pointer.type(), depth + 1);
            case BtfType.Array array -> need(array.type(), depth + 1);
            case BtfType.Modifier modifier -> need(modifier.type(), depth + 1);
            case BtfType.FuncProto proto -> prototype(proto, depth + 1);
            case Struct struct -> {
                if (struct.name().isEmpty()) {
                    for (Member member : struct.members()) {
                        need(member.type(), depth + 1);
                    }
                } else {
                    define(id, depth + 1);
                }
            }
            case BtfType.Enum one -> {
                if (!one.name().isEmpty()) {
                    define(id, depth + 1);
                }
            }
            case BtfType.Typedef typedef -> {
                define(id, depth + 1);
                need(typedef.type(), depth + 1);
            }
            case BtfType.Fwd _ -> define(id, depth + 1);
            case BtfType _ -> {}
        }
    }

    /** Makes sure that a type may stand behind a pointer. */
    private void mention(int id, int depth) throws MalformedInputException, IOException {
        if (depth > MOST_DEPTH) {
            throw new MalformedInputException("BTF", "type " + id, -1, "nested too deeply");
        }
        if (!mentioned.add(id)) {
            return;
        }
        switch (btf.type(id)) {
            case BtfType.Ptr pointer -> mention(pointer.type(), depth + 1);
            case BtfType.Array array -> need(array.type(), depth + 1);
            case BtfType.Modifier modifier -> mention(modifier.type(), depth + 1);
            case BtfType.FuncProto proto -> prototype(proto, depth + 1);
            case Struct struct -> {
                if (struct.name().isEmpty()) {
                    need(id, depth + 1);
                } else {
                    forward(id);
                }
            }
            case BtfType.Enum one -> {
                if (!one.name().isEmpty()) {
                    define(id, depth + 1);
                }
            }
            case BtfType.Typedef _ -> define(id, depth + 1);
            case BtfType.Fwd _ -> forward(id);
            case BtfType _ -> {}
        }
    }

    private void prototype(BtfType.FuncProto proto, int depth)
            throws MalformedInputException, IOException {
        mention(proto.returnType(), depth);
        for (BtfType.Param param : proto.params()) {
            if (param.type() != 0) {
                mention(param.type(), depth);
            }
        }
    }

    private void forward(int id) throws MalformedInputException, IOException {
        if (!defined.contains(id) && declared.add(id)) {
            out.append(declarator.declare(id, "", 0)).append(";\n\n");
        }
    }

    private @Nullable Set<Integer> contained;

    private boolean isContained(int id) throws MalformedInputException {
        Set<Integer> all = contained;
        if (all == null) {
            all = new HashSet<>();
            for (int i = btf.firstId(); i < btf.end(); i++) {
                switch (btf.type(i)) {
                    case Struct struct -> {
                        for (Member member : struct.members()) {
                            all.add(member.type());
                        }
                    }
                    case BtfType.Typedef typedef -> all.add(typedef.type());
                    case BtfType.Array array -> all.add(array.type());
                    case BtfType.Modifier modifier -> all.add(modifier.type());
                    case BtfType.Ptr pointer -> all.add(pointer.type());
                    case BtfType _ -> {}
                }
            }
            contained = all;
        }
        return all.contains(id);
    }

    /** Names that compilers bring along. */
    private static boolean isBuiltIn(String name) {
        return name.equals("__builtin_va_list") || name.startsWith("_Float");
    }

    private String body(int id, int depth) throws MalformedInputException {
        if (depth == 0) {
            declarator.begin();
        }
        if (depth > MOST_BODIES) {
            throw new MalformedInputException("BTF", "type " + id, -1, "nested too deeply");
        }
        return switch (btf.type(id)) {
            case Struct struct -> struct(id, struct, depth);
            case BtfType.Enum one -> enumeration(id, one, depth);
            case BtfType other -> throw new IllegalStateException(other + " has no body");
        };
    }

    private String struct(int id, Struct struct, int depth) throws MalformedInputException {
        String indent = "\t".repeat(depth + 1);
        StringBuilder text = new StringBuilder(struct.isUnion() ? "union" : "struct");
        if (!struct.name().isEmpty()) {
            text.append(' ').append(nameOf(id));
        }
        text.append(" {\n");
        boolean packed = layout.isPacked(struct);
        long end = 0;
        for (Member member : struct.members()) {
            if (!struct.isUnion()) {
                MemberPlacement place = layout.place(member, packed);
                for (String gap : layout.gap(end, place, member)) {
                    text.append(indent).append(gap).append(";\n");
                }
                end = place.endBit();
            }
            text.append(indent).append(declarator.declare(member.type(), member.name(), depth + 1));
            text.append(member.bits() > 0 ? ": " + member.bits() : "").append(";\n");
        }
        for (String gap : layout.tail(struct, end, packed)) {
            text.append(indent).append(gap).append(";\n");
        }
        text.append("\t".repeat(depth)).append('}');
        return text.append(packed ? " __attribute__((packed))" : "").toString();
    }

    private String enumeration(int id, BtfType.Enum one, int depth) {
        String indent = "\t".repeat(depth + 1);
        StringBuilder text = new StringBuilder("enum");
        if (!one.name().isEmpty()) {
            text.append(' ').append(nameOf(id));
        }
        if (one.values().isEmpty()) {
            return text.toString();
        }
        text.append(" {\n");
        List<String> lines = new ArrayList<>();
        for (Enumerator value : one.values()) {
            String name = value.name();
            for (int i = 2; !taken.add("constant " + name); i++) {
                name = value.name() + "___" + i;
            }
            String number =
                    one.signed()
                            ? Long.toString(value.value())
                            : Long.toUnsignedString(value.value());
            boolean wide = one.sizeBytes() == 8;
            lines.add(indent + name + " = " + number + (wide ? one.signed() ? "LL" : "ULL" : ""));
        }
        text.append(String.join(",\n", lines)).append(",\n").append("\t".repeat(depth)).append('}');
        boolean small = one.sizeBytes() < 4;
        return text.append(small ? " __attribute__((mode(" + mode(one.sizeBytes()) + ")))" : "")
                .toString();
    }

    private static String mode(int sizeBytes) {
        return sizeBytes == 1 ? "byte" : "word";
    }
}
