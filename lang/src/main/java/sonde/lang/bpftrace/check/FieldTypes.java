package sonde.lang.bpftrace.check;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.Nearest;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.type.Composite;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;
import sonde.lang.type.Type.Space;

/** What members and elements are. */
final class FieldTypes {
    private final Typer typer;

    FieldTypes(Typer typer) {
        this.typer = typer;
    }

    /** What is read where a type lies: characters become text, pointers are of the same space. */
    static Type read(Type type, Space space) {
        if (type instanceof Type.Array a
                && a.count() > 0
                && a.element() instanceof Int i
                && i.sizeBytes() == 1
                && (i.isChar() || i.signed())) {
            return new Type.Text(a.count() + 1);
        }
        if (type instanceof Type.Pointer p && p.space() == Space.KERNEL && space == Space.USER) {
            return new Type.Pointer(p.to(), Space.USER);
        }
        return type;
    }

    /** Through any number of pointers: whose memory it lies in. */
    private static Space space(Type type, Space otherwise) {
        return type instanceof Type.Pointer p ? p.space() : otherwise;
    }

    @Nullable Type field(Expression.Field e) {
        if (e.of() instanceof Expression.TypeDescription d) {
            Type type = typer.reader().type(d.type());
            typer.clause().value(e, typer.comptimes().value(e));
            return type == null ? null : described(type, e.name());
        }
        if (e.of() instanceof Expression.Name n && n.name().equals("config")) {
            return setting(e);
        }
        Type of = typer.type(e.of());
        if (of == null) {
            return null;
        }
        Type inner = of;
        Space space = typer.site().space();
        while (inner instanceof Type.Pointer p) {
            space = p.space();
            inner = p.to();
        }
        if (!(inner instanceof Composite composite)
                || inner instanceof Tuple t && !t.named() && !isArguments(inner)) {
            return typer.globals()
                    .error(
                            e.span(),
                            "Can not access field '"
                                    + e.name()
                                    + "' on expression of type '"
                                    + of
                                    + "'");
        }
        Field field = typer.site().field(composite, e.name());
        String unread = typer.site().elsewhere().unread().get(e.name());
        if (field == null && unread != null && isArguments(composite)) {
            return typer.globals().error(e.span(), "args." + e.name() + " " + unread);
        }
        if (field == null) {
            List<String> names = composite.fields().stream().map(Field::name).toList();
            return typer.globals()
                    .error(e.span(), missing(composite, e), Nearest.question(e.name(), names));
        }
        if (field.place() == Field.Place.CLOSED) {
            return typer.globals()
                    .error(e.span(), "BPF does not support accessing common tracepoint fields");
        }
        if (field.place() != Field.Place.HERE
                && field.type() instanceof Type.Array a
                && a.element().sizeBytes() == 1) {
            return new Type.Text(typer.globals().environment().maxText());
        }
        if (isArguments(inner) && field.type() instanceof Type.Pointer) {
            return typer.site().isUser() ? read(field.type(), Space.USER) : field.type();
        }
        return read(field.type(), space);
    }

    private @Nullable Type setting(Expression.Field e) {
        Object value = typer.globals().environment().setting(e.name());
        typer.clause().value(e, value);
        return switch (value) {
            case Long n -> Promotion.literal(n, n < 0);
            case Boolean _ -> new Type.Bool();
            case String s -> new Type.Text(s.length() + 1);
            case null, default ->
                    typer.globals()
                            .error(
                                    e.span(),
                                    "Record does not contain a field named '" + e.name() + "'");
        };
    }

    private boolean isArguments(Type type) {
        return typer.site().isArguments(type);
    }

    private String missing(Composite composite, Expression.Field e) {
        if (isArguments(composite) && e.of() instanceof Expression.Name) {
            return typer.site().kind() == Kind.TRACEPOINT
                    ? "Struct/union of type 'struct _tracepoint_"
                            + typer.site().name().replaceFirst("^[^:]*:", "").replace(':', '_')
                            + "' does not contain a field named '"
                            + e.name()
                            + "'"
                    : "Can't find function parameter " + e.name();
        }
        return composite instanceof Struct
                ? "Struct/union of type '"
                        + composite
                        + "' does not contain a field named '"
                        + e.name()
                        + "'"
                : "Record does not contain a field named '" + e.name() + "'";
    }

    private static @Nullable Type described(Type type, String name) {
        return switch (name) {
            case "btf_id" -> Int.U64;
            case "base_type", "base_ty" -> new Type.Text(Comptimes.family(type).length() + 1);
            case "full_type", "full_ty" -> new Type.Text(type.toString().length() + 1);
            default -> null;
        };
    }

    /** {@code (btf_id=0, base_type="int", full_type="uint64")}. */
    static Type description(Type type) {
        return Tuple.ofRecord(
                List.of("btf_id", "base_type", "full_type"),
                List.of(
                        Int.U64,
                        new Type.Text(Comptimes.family(type).length() + 1),
                        new Type.Text(type.toString().length() + 1)));
    }

    @Nullable Type element(Expression.TupleElement e) {
        Type of = typer.type(e.of());
        if (of == null) {
            return null;
        }
        if (!(of instanceof Tuple tuple) || tuple.named()) {
            return typer.globals()
                    .error(
                            e.span(),
                            "Can not access index '"
                                    + e.index()
                                    + "' on expression of type '"
                                    + of
                                    + "'");
        }
        if (e.index() >= tuple.fields().size()) {
            return outOfTuple(e, e.index(), tuple);
        }
        return tuple.fields().get(e.index()).type();
    }

    private @Nullable Type outOfTuple(Expression e, long index, Tuple tuple) {
        return typer.globals()
                .error(
                        e.span(),
                        "Invalid tuple index: "
                                + index
                                + ". Found "
                                + tuple.fields().size()
                                + " elements in tuple.");
    }

    @Nullable Type index(Expression.Index e) {
        Type of = typer.type(e.of());
        Type index = typer.type(e.index());
        if (of == null) {
            return null;
        }
        Long constant = e.index() instanceof Expression.IntegerLiteral n ? (Long) n.value() : null;
        if (constant == null && index != null && !isIndex(index)) {
            typer.globals()
                    .error(
                            e.span(),
                            "The array index operator [] only accepts non-negative integer"
                                    + " indices. Got: "
                                    + index);
        }
        return switch (of) {
            case Type.Array a -> {
                bound(e, constant, a.count());
                yield read(a.element(), space(of, typer.site().space()));
            }
            case Type.Text t -> {
                bound(e, constant, t.sizeBytes());
                yield Int.I8;
            }
            case Type.Pointer p -> {
                if (p.to().sizeBytes() == 0) {
                    typer.globals()
                            .error(
                                    e.span(),
                                    "The array index operator [] cannot be used on a pointer to an"
                                            + " unsized type (void *).");
                }
                yield read(p.to(), p.space());
            }
            case Tuple t when constant != null && !t.named() ->
                    constant < t.fields().size()
                            ? t.fields().get(constant.intValue()).type()
                            : outOfTuple(e, constant, t);
            default ->
                    typer.globals()
                            .error(
                                    e.span(),
                                    "The array index operator [] can only be used on arrays,"
                                            + " pointers, and tuples, found "
                                            + of
                                            + ".");
        };
    }

    private static boolean isIndex(Type type) {
        return type instanceof Int i && (!i.signed() || i.either());
    }

    private void bound(Expression.Index e, @Nullable Long index, int count) {
        if (index != null && count > 0 && index >= count) {
            typer.globals()
                    .error(
                            e.span(),
                            "the index " + index + " is out of bounds for array of size " + count);
        }
    }

    @Nullable Type cast(Expression.Cast e) {
        Type from = typer.type(e.operand());
        Type to = typer.reader().type(e.type());
        if (from == null || to == null) {
            return null;
        }
        if (to instanceof Type.Pointer p) {
            Space space =
                    from instanceof Type.Pointer f
                            ? f.space() == Space.TYPED ? Space.KERNEL : f.space()
                            : from instanceof Type.Text
                                    ? around(e.operand())
                                    : typer.spaceOf(e.operand());
            to = new Type.Pointer(p.to(), space);
        }
        if (to instanceof Type.Array a && a.count() == 0 && a.element().sizeBytes() > 0) {
            if (from.sizeBytes() % a.element().sizeBytes() != 0) {
                return typer.globals()
                        .error(
                                e.span(),
                                "Cannot determine array size: the element size is incompatible"
                                        + " with the cast integer size");
            }
            to = new Type.Array(a.element(), from.sizeBytes() / a.element().sizeBytes());
        }
        if (to instanceof Type.Text t && t.sizeBytes() == 0 && from instanceof Type.Text) {
            return from;
        }
        return isCastable(from, to)
                ? to
                : typer.globals()
                        .error(
                                e.span(),
                                from instanceof Struct
                                        ? "Cannot cast from C type \"" + from + "\""
                                        : "Cannot cast from \"" + from + "\" to \"" + to + "\"");
    }

    /** Whose memory the characters of a text lie in: the kernel reads a program's own as well. */
    private Space around(Expression text) {
        Expression e = text;
        while (e instanceof Expression.Field f) {
            if (typer.clause().type(f.of()) instanceof Type.Pointer p && p.space() == Space.USER) {
                return Space.USER;
            }
            e = f.of();
        }
        return Space.KERNEL;
    }

    private static boolean isCastable(Type from, Type to) {
        if (from.equals(to)) {
            return true;
        }
        return switch (to) {
            case Int _, Type.Enum _ ->
                    OperatorTypes.isNumber(from)
                            || from instanceof Type.Pointer
                            || from instanceof Type.Named
                            || from instanceof Type.Array a && a.sizeBytes() <= 8
                            || from instanceof Type.Text t && t.sizeBytes() <= 8;
            case Type.Bool _ ->
                    OperatorTypes.isNumber(from)
                            || from instanceof Type.Pointer
                            || from instanceof Type.Text;
            case Type.Pointer _ ->
                    OperatorTypes.isNumber(from)
                            || from instanceof Type.Pointer
                            || from instanceof Type.Text;
            case Type.Array a ->
                    a.element() instanceof Int || a.element() instanceof Type.Bool
                            ? from instanceof Int i
                                            && a.sizeBytes() <= (i.either() ? 8 : i.sizeBytes())
                                    || from instanceof Type.Array
                                    || from instanceof Type.Text
                            : false;
            case Type.Text t -> from instanceof Type.Text f && f.sizeBytes() <= t.sizeBytes();
            case Type.Named n -> n.kind() == Type.Special.USERNAME && from instanceof Int;
            default -> false;
        };
    }
}
