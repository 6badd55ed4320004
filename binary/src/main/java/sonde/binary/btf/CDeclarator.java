package sonde.binary.btf;

import java.util.Locale;
import java.util.function.IntFunction;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.BtfType.Modifier;

/**
 * Spells types as C declares them: what is declared stands inside, so a type is wrapped around it
 * step by step ({@code int (*handlers[4])(void *)}).
 */
final class CDeclarator {
    private static final int MOST_STEPS = 64;

    /** Most parts of one declaration with all bodies in place: vmlinux stays below 5,000. */
    private static final int MOST_PARTS = 100_000;

    private final Btf btf;
    private final IntFunction<String> names;
    private final Bodies bodies;
    private int parts;

    /** Spells what has no name: a structure or enumeration in place. */
    interface Bodies {
        /** The definition of an unnamed type. */
        String of(int id, int depth) throws MalformedInputException;
    }

    /**
     * @param names of structures, enumerations, declared and defined types by id, made unique
     */
    CDeclarator(Btf btf, IntFunction<String> names, Bodies bodies) {
        this.btf = btf;
        this.names = names;
        this.bodies = bodies;
    }

    /**
     * A declaration.
     *
     * @param inner what is declared, empty for a type by itself
     * @param depth of indentation, for bodies in place
     */
    String declare(int id, String inner, int depth) throws MalformedInputException {
        return declare(id, inner, depth, 0);
    }

    /** Begins a declaration that stands by itself. */
    void begin() {
        parts = 0;
    }

    private String declare(int id, String inner, int depth, int steps)
            throws MalformedInputException {
        if (steps > MOST_STEPS || ++parts > MOST_PARTS) {
            throw new MalformedInputException("BTF", "type " + id, -1, "leads back to itself");
        }
        return switch (btf.type(id)) {
            case BtfType.Void _ -> spaced("void", inner);
            case BtfType.Int one -> spaced(one.name(), inner);
            case BtfType.Float one -> spaced(one.name(), inner);
            case BtfType.Typedef _ -> spaced(names.apply(id), inner);
            case BtfType.Struct one ->
                    spaced(tagged(one.isUnion() ? "union" : "struct", one, id, depth), inner);
            case BtfType.Enum one -> spaced(tagged("enum", one, id, depth), inner);
            case BtfType.Fwd one ->
                    spaced((one.isUnion() ? "union " : "struct ") + names.apply(id), inner);
            case BtfType.Ptr pointer -> pointer(pointer, inner, depth, steps);
            case BtfType.Array array -> {
                // [0] and not []: C allows the latter only at the end of a structure.
                String count = "[" + Integer.toUnsignedString(array.count()) + "]";
                yield declare(array.type(), inner + count, depth, steps + 1);
            }
            case Modifier modifier -> modifier(modifier, inner, depth, steps);
            case BtfType.FuncProto proto ->
                    declare(
                            proto.returnType(),
                            inner + "(" + params(proto, depth, steps) + ")",
                            depth,
                            steps + 1);
            case BtfType.Func func -> declare(func.type(), inner, depth, steps + 1);
            case BtfType.Var variable -> declare(variable.type(), inner, depth, steps + 1);
            case BtfType.DeclTag tag -> declare(tag.type(), inner, depth, steps + 1);
            case BtfType.Datasec _ -> spaced("void", inner);
        };
    }

    private String tagged(String keyword, BtfType type, int id, int depth)
            throws MalformedInputException {
        return type.name().isEmpty() ? bodies.of(id, depth) : keyword + " " + names.apply(id);
    }

    private String pointer(BtfType.Ptr pointer, String inner, int depth, int steps)
            throws MalformedInputException {
        boolean binds =
                switch (btf.type(pointer.type())) {
                    case BtfType.Array _, BtfType.FuncProto _ -> true;
                    case BtfType _ -> false;
                };
        String star = binds ? "(*" + inner + ")" : "*" + inner;
        return declare(pointer.type(), star, depth, steps + 1);
    }

    /** A qualifier of a pointer stands behind its star, any other one before the type. */
    private String modifier(Modifier modifier, String inner, int depth, int steps)
            throws MalformedInputException {
        if (modifier.kind() == Modifier.Kind.TYPE_TAG) {
            return declare(modifier.type(), inner, depth, steps + 1);
        }
        String word = modifier.kind().name().toLowerCase(Locale.ROOT);
        int at = modifier.type();
        for (int step = 0; step < MOST_STEPS && btf.type(at) instanceof Modifier next; step++) {
            at = next.type();
        }
        if (btf.type(at) instanceof BtfType.Ptr) {
            return declare(modifier.type(), spaced(word, inner), depth, steps + 1);
        }
        if (btf.type(at) instanceof BtfType.Array array
                && isQualified(array.type(), modifier.kind())) {
            // An array is what its elements are, and C takes each word once.
            return declare(modifier.type(), inner, depth, steps + 1);
        }
        return word + " " + declare(modifier.type(), inner, depth, steps + 1);
    }

    /** Whether the type, or that of its elements, has a qualifier. */
    private boolean isQualified(int type, Modifier.Kind kind) throws MalformedInputException {
        int at = type;
        for (int step = 0; step < MOST_STEPS; step++) {
            switch (btf.type(at)) {
                case Modifier one -> {
                    if (one.kind() == kind) {
                        return true;
                    }
                    at = one.type();
                }
                case BtfType.Array array -> at = array.type();
                case BtfType _ -> {
                    return false;
                }
            }
        }
        return false;
    }

    /** The head of a function with the names of its parameters. */
    String head(BtfType.FuncProto proto, String name) throws MalformedInputException {
        StringBuilder out = new StringBuilder();
        int last = proto.params().size() - 1;
        for (int i = 0; i <= last; i++) {
            BtfType.Param param = proto.params().get(i);
            boolean rest = i == last && proto.isVariadic();
            out.append(i == 0 ? "" : ", ");
            out.append(rest ? "..." : declare(param.type(), param.name(), 0));
        }
        String params = last < 0 ? "void" : out.toString();
        return declare(proto.returnType(), name + "(" + params + ")", 0);
    }

    private String params(BtfType.FuncProto proto, int depth, int steps)
            throws MalformedInputException {
        if (proto.params().isEmpty()) {
            return "void";
        }
        StringBuilder out = new StringBuilder();
        int last = proto.params().size() - 1;
        for (int i = 0; i <= last; i++) {
            BtfType.Param param = proto.params().get(i);
            out.append(i == 0 ? "" : ", ");
            boolean rest = i == last && proto.isVariadic();
            // Names of parameters are left out: they may be those of macros.
            out.append(rest ? "..." : declare(param.type(), "", depth, steps + 1));
        }
        return out.toString();
    }

    private static String spaced(String type, String inner) {
        return inner.isEmpty() ? type : type + " " + inner;
    }
}
