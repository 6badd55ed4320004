package sonde.lang.bpftrace.check;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.event.NearestNames;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.Expression.IndexAccess;
import sonde.lang.bpftrace.syntax.Expression.MemberAccess;
import sonde.lang.bpftrace.syntax.Expression.TypeCast;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.type.CompositeType;
import sonde.lang.type.StructType;
import sonde.lang.type.TupleType;
import sonde.lang.type.TypeField;
import sonde.lang.type.TypeField.FieldPlace;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.SpecialValue;
import sonde.lang.type.ValueType.TextType;

/** What members and elements are. */
final class FieldTypes {
    private final ClauseTyper typer;

    FieldTypes(ClauseTyper typer) {
        this.typer = typer;
    }

    /** What is read where a type lies: characters become text, pointers are of the same space. */
    static ValueType read(ValueType type, PointerSpace space) {
        if (type instanceof ArrayType a
                && a.count() > 0
                && a.element() instanceof IntType i
                && i.sizeBytes() == 1
                && (i.isChar() || i.signed())) {
            return new TextType(a.count() + 1);
        }
        if (type instanceof PointerType p
                && p.space() == PointerSpace.KERNEL
                && space == PointerSpace.USER) {
            return new PointerType(p.to(), PointerSpace.USER);
        }
        return type;
    }

    /** Through any number of pointers: whose memory it lies in. */
    private static PointerSpace space(ValueType type, PointerSpace otherwise) {
        return type instanceof PointerType p ? p.space() : otherwise;
    }

    @Nullable ValueType field(MemberAccess e) {
        if (e.of() instanceof Expression.TypeDescription d) {
            ValueType type = typer.reader().type(d.type());
            typer.clause().value(e, typer.comptimes().value(e));
            return type == null ? null : described(type, e.name());
        }
        if (e.of() instanceof BareName n && n.name().equals("config")) {
            return setting(e);
        }
        ValueType of = typer.type(e.of());
        if (of == null) {
            return null;
        }
        ValueType inner = of;
        PointerSpace space = typer.site().space();
        while (inner instanceof PointerType p) {
            space = p.space();
            inner = p.to();
        }
        if (!(inner instanceof CompositeType composite)
                || inner instanceof TupleType t && !t.named() && !isArguments(inner)) {
            return typer.globals()
                    .error(
                            e.span(),
                            "Can not access field '"
                                    + e.name()
                                    + "' on expression of type '"
                                    + of
                                    + "'");
        }
        TypeField field = typer.site().field(composite, e.name());
        String unread = typer.site().elsewhere().unread().get(e.name());
        if (field == null && unread != null && isArguments(composite)) {
            return typer.globals().error(e.span(), "args." + e.name() + " " + unread);
        }
        if (field == null) {
            List<String> names = composite.fields().stream().map(TypeField::name).toList();
            return typer.globals()
                    .error(e.span(), missing(composite, e), NearestNames.question(e.name(), names));
        }
        if (field.place() == FieldPlace.CLOSED) {
            return typer.globals()
                    .error(e.span(), "BPF does not support accessing common tracepoint fields");
        }
        if (field.place() != FieldPlace.HERE
                && field.type() instanceof ArrayType a
                && a.element().sizeBytes() == 1) {
            return new TextType(typer.globals().environment().maxText());
        }
        if (isArguments(inner) && field.type() instanceof PointerType) {
            return typer.site().isUser() ? read(field.type(), PointerSpace.USER) : field.type();
        }
        return read(field.type(), space);
    }

    private @Nullable ValueType setting(MemberAccess e) {
        Object value = typer.globals().environment().setting(e.name());
        typer.clause().value(e, value);
        return switch (value) {
            case Long n -> TypePromotion.literal(n, n < 0);
            case Boolean _ -> new BoolType();
            case String s -> new TextType(s.length() + 1);
            case null, default ->
                    typer.globals()
                            .error(
                                    e.span(),
                                    "Record does not contain a field named '" + e.name() + "'");
        };
    }

    private boolean isArguments(ValueType type) {
        return typer.site().isArguments(type);
    }

    private String missing(CompositeType composite, MemberAccess e) {
        if (isArguments(composite) && e.of() instanceof BareName) {
            return typer.site().kind() == Kind.TRACEPOINT
                    ? "Struct/union of type 'struct _tracepoint_"
                            + typer.site().name().replaceFirst("^[^:]*:", "").replace(':', '_')
                            + "' does not contain a field named '"
                            + e.name()
                            + "'"
                    : "Can't find function parameter " + e.name();
        }
        return composite instanceof StructType
                ? "Struct/union of type '"
                        + composite
                        + "' does not contain a field named '"
                        + e.name()
                        + "'"
                : "Record does not contain a field named '" + e.name() + "'";
    }

    private static @Nullable ValueType described(ValueType type, String name) {
        return switch (name) {
            case "btf_id" -> IntType.U64;
            case "base_type", "base_ty" -> new TextType(ComptimeValues.family(type).length() + 1);
            case "full_type", "full_ty" -> new TextType(type.toString().length() + 1);
            default -> null;
        };
    }

    /** {@code (btf_id=0, base_type="int", full_type="uint64")}. */
    static ValueType description(ValueType type) {
        return TupleType.ofRecord(
                List.of("btf_id", "base_type", "full_type"),
                List.of(
                        IntType.U64,
                        new TextType(ComptimeValues.family(type).length() + 1),
                        new TextType(type.toString().length() + 1)));
    }

    @Nullable ValueType element(Expression.TupleElement e) {
        ValueType of = typer.type(e.of());
        if (of == null) {
            return null;
        }
        if (!(of instanceof TupleType tuple) || tuple.named()) {
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

    private @Nullable ValueType outOfTuple(Expression e, long index, TupleType tuple) {
        return typer.globals()
                .error(
                        e.span(),
                        "Invalid tuple index: "
                                + index
                                + ". Found "
                                + tuple.fields().size()
                                + " elements in tuple.");
    }

    @Nullable ValueType index(IndexAccess e) {
        ValueType of = typer.type(e.of());
        ValueType index = typer.type(e.index());
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
            case ArrayType a -> {
                bound(e, constant, a.count());
                yield read(a.element(), space(of, typer.site().space()));
            }
            case TextType t -> {
                bound(e, constant, t.sizeBytes());
                yield IntType.I8;
            }
            case PointerType p -> {
                if (p.to().sizeBytes() == 0) {
                    typer.globals()
                            .error(
                                    e.span(),
                                    "The array index operator [] cannot be used on a pointer to an"
                                            + " unsized type (void *).");
                }
                yield read(p.to(), p.space());
            }
            case TupleType t when constant != null && !t.named() ->
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

    private static boolean isIndex(ValueType type) {
        return type instanceof IntType i && (!i.signed() || i.either());
    }

    private void bound(IndexAccess e, @Nullable Long index, int count) {
        if (index != null && count > 0 && index >= count) {
            typer.globals()
                    .error(
                            e.span(),
                            "the index " + index + " is out of bounds for array of size " + count);
        }
    }

    @Nullable ValueType cast(TypeCast e) {
        ValueType from = typer.type(e.operand());
        ValueType to = typer.reader().type(e.type());
        if (from == null || to == null) {
            return null;
        }
        if (to instanceof PointerType p) {
            PointerSpace space =
                    from instanceof PointerType f
                            ? f.space() == PointerSpace.TYPED ? PointerSpace.KERNEL : f.space()
                            : from instanceof TextType
                                    ? around(e.operand())
                                    : typer.spaceOf(e.operand());
            to = new PointerType(p.to(), space);
        }
        if (to instanceof ArrayType a && a.count() == 0 && a.element().sizeBytes() > 0) {
            if (from.sizeBytes() % a.element().sizeBytes() != 0) {
                return typer.globals()
                        .error(
                                e.span(),
                                "Cannot determine array size: the element size is incompatible"
                                        + " with the cast integer size");
            }
            to = new ArrayType(a.element(), from.sizeBytes() / a.element().sizeBytes());
        }
        if (to instanceof TextType t && t.sizeBytes() == 0 && from instanceof TextType) {
            return from;
        }
        return isCastable(from, to)
                ? to
                : typer.globals()
                        .error(
                                e.span(),
                                from instanceof StructType
                                        ? "Cannot cast from C type \"" + from + "\""
                                        : "Cannot cast from \"" + from + "\" to \"" + to + "\"");
    }

    /** The memory that holds the characters of a text: the kernel can read a program's own, too. */
    private PointerSpace around(Expression text) {
        Expression e = text;
        while (e instanceof MemberAccess f) {
            if (typer.clause().type(f.of()) instanceof PointerType p
                    && p.space() == PointerSpace.USER) {
                return PointerSpace.USER;
            }
            e = f.of();
        }
        return PointerSpace.KERNEL;
    }

    private static boolean isCastable(ValueType from, ValueType to) {
        if (from.equals(to)) {
            return true;
        }
        return switch (to) {
            case IntType _, EnumType _ ->
                    OperatorTypes.isNumber(from)
                            || from instanceof PointerType
                            || from instanceof SpecialType
                            || from instanceof ArrayType a && a.sizeBytes() <= 8
                            || from instanceof TextType t && t.sizeBytes() <= 8;
            case BoolType _ ->
                    OperatorTypes.isNumber(from)
                            || from instanceof PointerType
                            || from instanceof TextType;
            case PointerType _ ->
                    OperatorTypes.isNumber(from)
                            || from instanceof PointerType
                            || from instanceof TextType;
            case ArrayType a ->
                    a.element() instanceof IntType || a.element() instanceof BoolType
                            ? from instanceof IntType i
                                            && a.sizeBytes() <= (i.either() ? 8 : i.sizeBytes())
                                    || from instanceof ArrayType
                                    || from instanceof TextType
                            : false;
            case TextType t -> from instanceof TextType f && f.sizeBytes() <= t.sizeBytes();
            case SpecialType n -> n.kind() == SpecialValue.USERNAME && from instanceof IntType;
            default -> false;
        };
    }
}
