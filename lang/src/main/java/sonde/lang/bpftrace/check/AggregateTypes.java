package sonde.lang.bpftrace.check;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.BlockExpression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.bpftrace.syntax.ScriptStatement;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.AverageType;
import sonde.lang.type.ValueType.CountType;
import sonde.lang.type.ValueType.ExtremeType;
import sonde.lang.type.ValueType.HistType;
import sonde.lang.type.ValueType.LhistType;
import sonde.lang.type.ValueType.SeriesType;
import sonde.lang.type.ValueType.SumType;

/** Maps whose values are put together from many: {@code @ = hist(x)}. */
final class AggregateTypes {
    private static final int MOST_BUCKETS = 1000;

    private final ClauseTyper typer;

    AggregateTypes(ClauseTyper typer) {
        this.typer = typer;
    }

    void assign(ScriptStatement.Assign a, FunctionCall c) {
        CallArity signature = CallArity.of(c.function());
        String fault =
                signature == null ? null : signature.fault(c.function(), c.arguments().size());
        if (fault != null) {
            typer.globals().error(c.span(), fault);
            return;
        }
        ValueType argument = c.arguments().isEmpty() ? null : typer.type(c.arguments().getFirst());
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
        ValueType type = type(c, argument, map);
        if (type != null && map.plain && !(map.value instanceof AggregateType)) {
            typer.globals().mismatch(map, type, a.span());
        } else if (type != null) {
            typer.globals().store(map, type, a.span());
            typer.clause().type(c, type);
        }
    }

    private @Nullable MapSymbol target(ScriptStatement.Assign a) {
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
                String function = ((FunctionCall) callOf(a.value())).function();
                typer.globals().error(a.span(), function + "() must be assigned directly to a map");
                return null;
            }
        }
    }

    private static Expression callOf(Expression value) {
        return value instanceof BlockExpression b && b.result() != null ? b.result() : value;
    }

    private @Nullable ValueType type(FunctionCall c, @Nullable ValueType argument, MapSymbol map) {
        boolean signed = argument != null && TypePromotion.isSigned(argument);
        if (argument != null && CallArity.AGGREGATES.contains(c.function())) {
            ValueType promoted = TypePromotion.of(map.argument, argument);
            map.argument = promoted == null ? argument : promoted;
            signed = TypePromotion.isSigned(map.argument);
        }
        return switch (c.function()) {
            case "count" -> new CountType();
            case "sum" -> new SumType(signed);
            case "min" -> new ExtremeType(false, signed);
            case "max" -> new ExtremeType(true, signed);
            case "avg" -> new AverageType(false, signed);
            case "stats" -> new AverageType(true, signed);
            case "hist" -> hist(c);
            case "lhist" -> lhist(c);
            default -> series(c, signed);
        };
    }

    private @Nullable ValueType hist(FunctionCall c) {
        if (c.arguments().size() == 1) {
            return new HistType(0);
        }
        Long bits = number(c.arguments().get(1));
        if (bits == null) {
            return wrong(c, "hist() expects an integer literal as the second argument");
        }
        return bits < 0 || bits > 5
                ? wrong(c, "hist: bits " + bits + " must be 0..5")
                : new HistType(bits.intValue());
    }

    private @Nullable ValueType wrong(FunctionCall c, String message) {
        return typer.globals().error(c.span(), message);
    }

    private @Nullable Long number(Expression e) {
        return typer.comptimes().value(e) instanceof Long n ? n : null;
    }

    private @Nullable ValueType lhist(FunctionCall c) {
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
        return new LhistType(min, max, step);
    }

    private @Nullable ValueType series(FunctionCall c, boolean signed) {
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
        ValueType.SeriesKind kind = ValueType.SeriesKind.LAST;
        if (c.arguments().size() == 4) {
            Object name = typer.comptimes().value(c.arguments().get(3));
            ValueType.SeriesKind found = kind(String.valueOf(name));
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
        return new SeriesType(interval, buckets.intValue(), signed, kind);
    }

    private static ValueType.@Nullable SeriesKind kind(String name) {
        return switch (name) {
            case "avg" -> ValueType.SeriesKind.AVERAGE;
            case "max" -> ValueType.SeriesKind.MAX;
            case "min" -> ValueType.SeriesKind.MIN;
            case "sum" -> ValueType.SeriesKind.SUM;
            default -> null;
        };
    }

    /** How an aggregate is made, for hints. */
    static String example(ValueType type) {
        return switch (type) {
            case CountType _ -> "count()";
            case SumType _ -> "sum(retval)";
            case ExtremeType e -> (e.max() ? "max" : "min") + "(retval)";
            case AverageType a -> a.full() ? "stats(arg2)" : "avg(retval)";
            case HistType _ -> "hist(retval)";
            case LhistType _ -> "lhist(rand %10, 0, 10, 1)";
            default -> "tseries(rand %10, 10s, 1)";
        };
    }
}
