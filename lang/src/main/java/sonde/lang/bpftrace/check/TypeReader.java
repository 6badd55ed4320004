package sonde.lang.bpftrace.check;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.ArraySyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.NamedSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.PointerSyntax;
import sonde.lang.bpftrace.syntax.TypeSyntax.TypeofSyntax;
import sonde.lang.source.SourceSpan;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.BytesType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.SpecialValue;
import sonde.lang.type.ValueType.TextType;

/** Types as they are written. */
final class TypeReader {
    private final ClauseTyper typer;

    TypeReader(ClauseTyper typer) {
        this.typer = typer;
    }

    /** Null when it is not known, or not yet. */
    @Nullable ValueType type(TypeSyntax syntax) {
        return switch (syntax) {
            case NamedSyntax n -> named(n.kind(), n.name(), n.span());
            case PointerSyntax p -> {
                ValueType to = type(p.element());
                yield to == null ? null : new PointerType(to, typer.site().space());
            }
            case ArraySyntax a -> array(a);
            case TypeofSyntax o -> of(o.expression());
        };
    }

    private @Nullable ValueType array(ArraySyntax a) {
        if (a.element() instanceof NamedSyntax n && n.kind() == TypeSyntax.Kind.PLAIN) {
            int count = (int) Math.min(Integer.MAX_VALUE / 4, a.count());
            if (n.name().equals("string")) {
                return new TextType(count);
            }
            if (n.name().equals("buffer")) {
                return new BytesType(count);
            }
            if (n.name().equals("inet")) {
                return new SpecialType(SpecialValue.INET);
            }
        }
        ValueType element = type(a.element());
        return element == null ? null : new ArrayType(element, (int) a.count());
    }

    private @Nullable ValueType of(Expression expression) {
        if (expression instanceof Expression.MapName m) {
            MapSymbol map = typer.globals().map(m.name());
            return map.isScalar() ? IntType.I64 : map.key;
        }
        if (expression instanceof BareName n && !BuiltinTypes.isBuiltin(n.name())) {
            ValueType type = known(TypeSyntax.Kind.PLAIN, n.name());
            if (type != null) {
                return type;
            }
        }
        return typer.type(expression);
    }

    private @Nullable ValueType named(TypeSyntax.Kind kind, String name, SourceSpan span) {
        ValueType type = known(kind, name);
        if (type == null) {
            String word =
                    kind == TypeSyntax.Kind.PLAIN
                            ? ""
                            : kind.name().toLowerCase(java.util.Locale.ROOT) + " ";
            typer.globals().error(span, "Cannot resolve unknown type \"" + word + name + "\"");
        }
        return type;
    }

    private @Nullable ValueType known(TypeSyntax.Kind kind, String name) {
        if (kind == TypeSyntax.Kind.PLAIN) {
            switch (name) {
                case "string" -> {
                    return new TextType(0);
                }
                case "buffer" -> {
                    return new BytesType(0);
                }
                default -> {}
            }
        }
        return typer.globals().environment().type(kind, name);
    }
}
