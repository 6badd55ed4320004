package sonde.lang.bpftrace.check;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Statement;
import sonde.lang.type.Type;

/** Maps whose values are put together from many: {@code @ = hist(x)}. */
final class AggregateTypes {
    private static final int MOST_BUCKETS = 1000;

    private final Typer typer;

    AggregateTypes(Typer typer) {
        this.typer = typer;
    }

    void assign(Statement.Assign a, Expression.Call c) {
        Signature signature = Signature.of(c.function());
        String fault =
                signature == null ? null : signature.fault(c.function(), c.arguments().size());
        if (fault != null) {
            typer.globals().error(c.span(), fault);
            return;
        }
        Type argument = c.arguments().isEmpty() ? null : typer.type(c.arguments().getFirst());
        c.arguments().stream().skip(1).forEach(typer::type);
        if (!c.arguments().isEmpty() && argument == null) {
            return;
        }
        if (argument != null && !OperatorTypes.isNumber(argument)) {
            typer.globals()
                    .error(
                            c.span(),
                            c.function()
                                    + "() only supports integer arguments ("
                                    + argument
                                    + " provided)");
            return;
        }
        MapSymbol map = target(a);
        if (map == null) {
            return;
        }
        Type type = type(c, argument, map);
        if (type != null && map.plain && !(map.value instanceof Type.Aggregate)) {
            typer.globals().mismatch(map, type, a.span());
        } else if (type != null) {
            typer.globals().store(map, type, a.span());
            typer.clause().type(c, type);
        }
    }

    private @Nullable MapSymbol target(Statement.Assign a) {
        switch (a.target()) {
            case Expression.MapName m -> {
                MapSymbol map = typer.globals().map(m.name());
                return typer.globals().shape(map, false, m.span()) ? map : null;
            }
            case Expression.MapElement m -> {
                typer.element(m);
                return typer.globals().map(m.map().name());
            }
            default -> {
                String function = ((Expression.Call) callOf(a.value())).function();
                typer.globals().error(a.span(), function + "() must be assigned directly to a map");
                return null;
            }
        }
    }

    private static Expression callOf(Expression value) {
        return value instanceof Expression.Block b && b.result() != null ? b.result() : value;
    }

    private @Nullable Type type(Expression.Call c, @Nullable Type argument, MapSymbol map) {
        boolean signed = argument != null && Promotion.isSigned(argument);
        if (argument != null && Signature.AGGREGATES.contains(c.function())) {
            Type promoted = Promotion.of(map.argument, argument);
            map.argument = promoted == null ? argument : promoted;
            signed = Promotion.isSigned(map.argument);
        }
        return switch (c.function()) {
            case "count" -> new Type.Count();
            case "sum" -> new Type.Sum(signed);
            case "min" -> new Type.Extreme(false, signed);
            case "max" -> new Type.Extreme(true, signed);
            case "avg" -> new Type.Average(false, signed);
            case "stats" -> new Type.Average(true, signed);
            case "hist" -> hist(c);
            case "lhist" -> lhist(c);
            default -> series(c, signed);
        };
    }

    private @Nullable Type hist(Expression.Call c) {
        if (c.arguments().size() == 1) {
            return new Type.Hist(0);
        }
        Long bits = number(c.arguments().get(1));
        if (bits == null) {
            return wrong(c, "hist() expects an integer literal as the second argument");
        }
        return bits < 0 || bits > 5
                ? wrong(c, "hist: bits " + bits + " must be 0..5")
                : new Type.Hist(bits.intValue());
    }

    private @Nullable Type wrong(Expression.Call c, String message) {
        return typer.globals().error(c.span(), message);
    }

    private @Nullable Long number(Expression e) {
        return typer.comptimes().value(e) instanceof Long n ? n : null;
    }

    private @Nullable Type lhist(Expression.Call c) {
        Long min = number(c.arguments().get(1));
        Long max = number(c.arguments().get(2));
        Long step = number(c.arguments().get(3));
        if (min == null || max == null || step == null) {
            return wrong(c, "lhist() expects integer literals for min, max and step");
        }
        if (step <= 0) {
            return wrong(c, "lhist() step must be >= 1 (" + step + " provided)");
        }
        if (max <= min) {
            return wrong(c, "lhist() min must be less than max");
        }
        long buckets = (max - min) / step;
        if (buckets > MOST_BUCKETS) {
            return wrong(
                    c,
                    "lhist() too many buckets, must be <= "
                            + MOST_BUCKETS
                            + " (would need "
                            + buckets
                            + ")");
        }
        if (max - min < step) {
            return wrong(
                    c,
                    "lhist() step is too large for the given range (provided step "
                            + step
                            + " for range "
                            + (max - min)
                            + ")");
        }
        return new Type.Lhist(min, max, step);
    }

    private @Nullable Type series(Expression.Call c, boolean signed) {
        Long interval = number(c.arguments().get(1));
        Long buckets = number(c.arguments().get(2));
        if (interval == null || buckets == null) {
            return wrong(c, "tseries() expects integer literals for interval and buckets");
        }
        if (interval <= 0) {
            return wrong(c, "tseries() interval_ns must be >= 1 (" + interval + " provided)");
        }
        if (buckets <= 0 || buckets > 1_000_000) {
            return wrong(
                    c,
                    "tseries() num_intervals must be >= 1 and <= 1000000 ("
                            + buckets
                            + " provided)");
        }
        Type.SeriesKind kind = Type.SeriesKind.LAST;
        if (c.arguments().size() == 4) {
            Object name = typer.comptimes().value(c.arguments().get(3));
            Type.SeriesKind found = kind(String.valueOf(name));
            if (found == null) {
                return wrong(
                        c,
                        "tseries() expects one of the following aggregation functions: avg, max,"
                                + " min, sum (\""
                                + name
                                + "\" provided)");
            }
            kind = found;
        }
        return new Type.Series(interval, buckets.intValue(), signed, kind);
    }

    private static Type.@Nullable SeriesKind kind(String name) {
        return switch (name) {
            case "avg" -> Type.SeriesKind.AVERAGE;
            case "max" -> Type.SeriesKind.MAX;
            case "min" -> Type.SeriesKind.MIN;
            case "sum" -> Type.SeriesKind.SUM;
            default -> null;
        };
    }

    /** How an aggregate is made, for hints. */
    static String example(Type type) {
        return switch (type) {
            case Type.Count _ -> "count()";
            case Type.Sum _ -> "sum(retval)";
            case Type.Extreme e -> (e.max() ? "max" : "min") + "(retval)";
            case Type.Average a -> a.full() ? "stats(arg2)" : "avg(retval)";
            case Type.Hist _ -> "hist(retval)";
            case Type.Lhist _ -> "lhist(rand %10, 0, 10, 1)";
            default -> "tseries(rand %10, 10s, 1)";
        };
    }
}
