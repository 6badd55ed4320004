package sonde.lang.bpftrace.check;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.source.Span;
import sonde.lang.type.Type;

/** Types as they are written. */
final class TypeReader {
    private final Typer typer;

    TypeReader(Typer typer) {
        this.typer = typer;
    }

    /** Null when it is not known, or not yet. */
    @Nullable Type type(TypeSyntax syntax) {
        return switch (syntax) {
            case TypeSyntax.Named n -> named(n.kind(), n.name(), n.span());
            case TypeSyntax.Pointer p -> {
                Type to = type(p.element());
                yield to == null ? null : new Type.Pointer(to, typer.site().space());
            }
            case TypeSyntax.Array a -> array(a);
            case TypeSyntax.Of o -> of(o.expression());
        };
    }

    private @Nullable Type array(TypeSyntax.Array a) {
        if (a.element() instanceof TypeSyntax.Named n && n.kind() == TypeSyntax.Kind.PLAIN) {
            int count = (int) Math.min(Integer.MAX_VALUE / 4, a.count());
            if (n.name().equals("string")) {
                return new Type.Text(count);
            }
            if (n.name().equals("buffer")) {
                return new Type.Bytes(count);
            }
            if (n.name().equals("inet")) {
                return new Type.Named(Type.Special.INET);
            }
        }
        Type element = type(a.element());
        return element == null ? null : new Type.Array(element, (int) a.count());
    }

    private @Nullable Type of(Expression expression) {
        if (expression instanceof Expression.MapName m) {
            MapSymbol map = typer.globals().map(m.name());
            return map.isScalar() ? Type.Int.I64 : map.key;
        }
        if (expression instanceof Expression.Name n && !BuiltinTypes.isBuiltin(n.name())) {
            Type type = known(TypeSyntax.Kind.PLAIN, n.name());
            if (type != null) {
                return type;
            }
        }
        return typer.type(expression);
    }

    private @Nullable Type named(TypeSyntax.Kind kind, String name, Span span) {
        Type type = known(kind, name);
        if (type == null) {
            String word =
                    kind == TypeSyntax.Kind.PLAIN
                            ? ""
                            : kind.name().toLowerCase(java.util.Locale.ROOT) + " ";
            typer.globals().error(span, "Cannot resolve unknown type \"" + word + name + "\"");
        }
        return type;
    }

    private @Nullable Type known(TypeSyntax.Kind kind, String name) {
        if (kind == TypeSyntax.Kind.PLAIN) {
            switch (name) {
                case "string" -> {
                    return new Type.Text(0);
                }
                case "buffer" -> {
                    return new Type.Bytes(0);
                }
                default -> {}
            }
        }
        return typer.globals().environment().type(kind, name);
    }
}
