package sonde.format.ftrace;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.format.ftrace.Expression.Cast;
import sonde.format.ftrace.Expression.Choice;
import sonde.format.ftrace.Expression.Constant;
import sonde.format.ftrace.Expression.Length;
import sonde.format.ftrace.Expression.Operator;
import sonde.format.ftrace.Expression.Place;
import sonde.format.ftrace.Expression.Swap;
import sonde.format.ftrace.Expression.Value;

/** What may be called in a {@code print fmt}: the kernel's include/trace/stages/stage3 and more. */
final class PrintFunctions {
    // Enumerators that old kernels left in their formats: include/linux/interrupt.h, hrtimer.h.
    private static final Map<String, Long> CONSTANTS =
            Map.ofEntries(
                    Map.entry("HI_SOFTIRQ", 0L),
                    Map.entry("TIMER_SOFTIRQ", 1L),
                    Map.entry("NET_TX_SOFTIRQ", 2L),
                    Map.entry("NET_RX_SOFTIRQ", 3L),
                    Map.entry("BLOCK_SOFTIRQ", 4L),
                    Map.entry("IRQ_POLL_SOFTIRQ", 5L),
                    Map.entry("BLOCK_IOPOLL_SOFTIRQ", 5L),
                    Map.entry("TASKLET_SOFTIRQ", 6L),
                    Map.entry("SCHED_SOFTIRQ", 7L),
                    Map.entry("HRTIMER_SOFTIRQ", 8L),
                    Map.entry("RCU_SOFTIRQ", 9L),
                    Map.entry("HRTIMER_NORESTART", 0L),
                    Map.entry("HRTIMER_RESTART", 1L),
                    Map.entry("NULL", 0L),
                    Map.entry("true", 1L),
                    Map.entry("false", 0L));

    private PrintFunctions() {}

    static @Nullable Long constant(String name) {
        return CONSTANTS.get(name);
    }

    /** The call of {@code name}; its opening bracket is behind us. */
    static Expression call(PrintParser in, String name) throws UnsupportedPrintException {
        return switch (name) {
            case "__print_flags", "__print_flags_u64" -> flags(in);
            case "__print_symbolic", "__print_symbolic_u64" -> symbolic(in);
            case "__print_hex" -> hex(in, true);
            case "__print_hex_str" -> hex(in, false);
            case "__print_array" -> array(in);
            case "__print_dynamic_array" -> dynamicArray(in);
            case "__get_str",
                    "__get_rel_str",
                    "__get_dynamic_array",
                    "__get_rel_dynamic_array",
                    "__get_sockaddr",
                    "__get_rel_sockaddr" ->
                    named(in);
            case "__get_dynamic_array_len", "__get_rel_dynamic_array_len" ->
                    new Length(named(in), 1, CType.INT);
            case "__get_bitmask", "__get_rel_bitmask" -> new Text.Bitmask(named(in), in.context());
            case "__get_cpumask", "__get_rel_cpumask" -> new Text.CpuList(named(in), in.context());
            case "__print_ns_to_secs" -> scaled(in, Operator.DIVIDE);
            case "__print_ns_without_secs" -> scaled(in, Operator.MODULO);
            case "__fswab16", "be16_to_cpu", "ntohs" -> swapped(in, 2);
            case "__fswab32", "be32_to_cpu", "ntohl" -> swapped(in, 4);
            case "__fswab64", "be64_to_cpu" -> swapped(in, 8);
            case "MAJOR" -> joined(in, Operator.RIGHT, 20);
            case "MINOR" -> joined(in, Operator.BIT_AND, (1 << 20) - 1);
            // HZ is not in the file; trace-cmd's plugin shows jiffies too.
            case "jiffies_to_msecs", "ERR_PTR", "le16_to_cpu", "le32_to_cpu", "le64_to_cpu" ->
                    closed(in, in.argument());
            case "sizeof" -> sizeof(in);
            case "__builtin_expect" -> first(in);
            case "__builtin_constant_p" -> {
                in.skipCall();
                yield new Constant(0, CType.INT);
            }
            case "__builtin_choose_expr" -> choose(in);
            default -> {
                if (name.startsWith("__print_")) {
                    yield byFieldType(in);
                }
                throw PrintParser.unsupported(name + "()");
            }
        };
    }

    private static Expression closed(PrintParser in, Expression expression)
            throws UnsupportedPrintException {
        in.expect(")");
        return expression;
    }

    private static Place named(PrintParser in) throws UnsupportedPrintException {
        Place place = in.place(in.take().text());
        in.expect(")");
        return place;
    }

    private static Place placed(Expression expression) throws UnsupportedPrintException {
        if (expression instanceof Place place) {
            return place;
        }
        throw PrintParser.unsupported("an array that is none");
    }

    private static Expression first(PrintParser in) throws UnsupportedPrintException {
        Expression first = in.argument();
        in.expect(",");
        in.argument();
        return closed(in, first);
    }

    private static Expression choose(PrintParser in) throws UnsupportedPrintException {
        Value condition = in.number();
        in.expect(",");
        Expression yes = in.argument();
        in.expect(",");
        Expression no = in.argument();
        in.expect(")");
        if (condition instanceof Constant constant) {
            return constant.value() != 0 ? yes : no;
        }
        Value a = PrintParser.value(yes);
        Value b = PrintParser.value(no);
        return new Choice(condition, a, b, a.type().with(b.type()));
    }

    private static Expression sizeof(PrintParser in) throws UnsupportedPrintException {
        String name = in.typeName();
        in.expect(")");
        int bytes = CTypes.sizeBytes(name, in.context().longBytes(), 0);
        if (bytes == 0) {
            throw PrintParser.unsupported("sizeof " + name);
        }
        return new Constant(bytes, CType.UNSIGNED_LONG_LONG);
    }

    private static Expression swapped(PrintParser in, int bytes) throws UnsupportedPrintException {
        Value operand = in.number();
        return closed(in, new Swap(operand, new CType(bytes, true)));
    }

    private static Expression joined(PrintParser in, Operator operator, int right)
            throws UnsupportedPrintException {
        Value operand = new Cast(in.number(), CType.UNSIGNED);
        Value constant = new Constant(right, CType.INT);
        return closed(in, new Expression.Binary(operator, operand, constant, CType.UNSIGNED, true));
    }

    private static Expression scaled(PrintParser in, Operator operator)
            throws UnsupportedPrintException {
        Value billion = new Constant(1_000_000_000, CType.INT);
        CType type = CType.UNSIGNED_LONG_LONG;
        return closed(in, new Expression.Binary(operator, in.number(), billion, type, true));
    }

    private static Expression flags(PrintParser in) throws UnsupportedPrintException {
        Value value = in.number();
        in.expect(",");
        Expression delimiter = in.argument();
        byte[] between = delimiter instanceof Text.Literal literal ? literal.text() : new byte[0];
        Pairs pairs = pairs(in);
        return new Text.Flags(value, between, pairs.values, pairs.names, new Text.Memo());
    }

    private static Expression symbolic(PrintParser in) throws UnsupportedPrintException {
        Value value = in.number();
        Pairs pairs = pairs(in);
        return new Text.Symbolic(value, pairs.values, pairs.names);
    }

    private record Pairs(long[] values, byte[][] names) {}

    // , { 1, "A" }, { 2, "B" })
    private static Pairs pairs(PrintParser in) throws UnsupportedPrintException {
        List<Long> values = new ArrayList<>();
        List<byte[]> names = new ArrayList<>();
        while (!in.takes(")")) {
            in.expect(",");
            in.expect("{");
            if (in.takes("}")) {
                continue;
            }
            in.wasUnresolved();
            Expression value = in.argument();
            boolean unknown = in.wasUnresolved();
            in.expect(",");
            Expression name = in.argument();
            in.expect("}");
            if (!(value instanceof Constant constant)) {
                throw PrintParser.unsupported("a name for no constant: " + value);
            }
            // { -1, NULL } ends some tables.
            if (!unknown && name instanceof Text.Literal literal) {
                values.add(constant.value());
                names.add(literal.text());
            }
        }
        long[] all = values.stream().mapToLong(Long::longValue).toArray();
        return new Pairs(all, names.toArray(new byte[0][]));
    }

    private static Expression hex(PrintParser in, boolean spaced) throws UnsupportedPrintException {
        Place bytes = placed(in.argument());
        in.expect(",");
        Value count = in.number();
        return closed(in, new Text.Hex(bytes, count, spaced));
    }

    private static Expression array(PrintParser in) throws UnsupportedPrintException {
        Place array = placed(in.argument());
        in.expect(",");
        Value count = in.number();
        in.expect(",");
        Value element = in.number();
        in.expect(")");
        return integers(array, count, element);
    }

    private static Expression dynamicArray(PrintParser in) throws UnsupportedPrintException {
        Place array = in.place(in.take().text());
        in.expect(",");
        Value element = in.number();
        in.expect(")");
        int bytes = element instanceof Constant constant ? (int) constant.value() : 1;
        return integers(array, new Length(array, Math.max(1, bytes), CType.INT), element);
    }

    private static Expression integers(Place array, Value count, Value element)
            throws UnsupportedPrintException {
        if (element instanceof Constant constant) {
            int bytes = (int) constant.value();
            if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) {
                return new Text.Integers(array, count, bytes);
            }
        }
        throw PrintParser.unsupported("elements of unknown size");
    }

    /** A helper we do not know, of a vendor's kernel: its first argument is most often an array. */
    private static Expression byFieldType(PrintParser in) throws UnsupportedPrintException {
        Place array = placed(in.argument());
        Value count =
                in.takes(",") ? in.number() : new Length(array, array.elementBytes(), CType.INT);
        while (in.takes(",")) {
            in.argument();
        }
        in.expect(")");
        return integers(array, count, new Constant(array.elementBytes(), CType.INT));
    }
}
