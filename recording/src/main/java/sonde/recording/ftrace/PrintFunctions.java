package sonde.recording.ftrace;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.recording.ftrace.Expression.Bits;
import sonde.recording.ftrace.Expression.Cast;
import sonde.recording.ftrace.Expression.Choice;
import sonde.recording.ftrace.Expression.Constant;
import sonde.recording.ftrace.Expression.Length;
import sonde.recording.ftrace.Expression.Operator;
import sonde.recording.ftrace.Expression.Place;
import sonde.recording.ftrace.Expression.Swap;
import sonde.recording.ftrace.Expression.Value;

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
            case "__fswab16", "__swab16", "__builtin_bswap16" -> swapped(in, 2);
            case "__fswab32", "__swab32", "__builtin_bswap32" -> swapped(in, 4);
            case "__fswab64", "__swab64", "__builtin_bswap64" -> swapped(in, 8);
            case "be16_to_cpu", "ntohs", "htons", "cpu_to_be16" -> ordered(in, "16", true);
            case "be32_to_cpu", "ntohl", "htonl", "cpu_to_be32" -> ordered(in, "32", true);
            case "be64_to_cpu", "cpu_to_be64" -> ordered(in, "64", true);
            case "MAJOR" -> joined(in, Operator.RIGHT, 20);
            case "MINOR" -> joined(in, Operator.BIT_AND, (1 << 20) - 1);
            // HZ is not in the file; trace-cmd's plugin shows jiffies too.
            case "jiffies_to_msecs", "jiffies_to_usecs", "ERR_PTR" -> closed(in, in.argument());
            case "le16_to_cpu", "le32_to_cpu", "le64_to_cpu" -> ordered(in, name, false);
            case "sizeof" -> sizeof(in);
            case "__builtin_expect" -> first(in);
            case "__builtin_constant_p" -> {
                boolean constant = in.argument() instanceof Constant;
                yield closed(in, new Constant(constant ? 1 : 0, CType.INT));
            }
            case "__get_stacktrace", "__get_rel_stacktrace" ->
                    new Text.Stack(named(in), in.context());
            // Types of page tables: structs around one number, which the field holds.
            case "pte_val",
                    "pmd_val",
                    "pud_val",
                    "p4d_val",
                    "pgd_val",
                    "pgprot_val",
                    "native_make_pte",
                    "native_make_pmd",
                    "native_make_pud",
                    "native_make_p4d",
                    "native_make_pgd" ->
                    closed(in, in.argument());
            case "abs" -> absolute(in);
            case "min", "max" -> limit(in, name.equals("min") ? Operator.LESS : Operator.GREATER);
            case "__builtin_choose_expr" -> choose(in);
            default -> {
                Bits.Kind bits = bits(name);
                if (bits != null) {
                    Value operand = in.number();
                    if (name.endsWith("ll") || name.endsWith("64")) {
                        operand = PrintParser.cast(operand, CType.UNSIGNED_LONG_LONG);
                    }
                    yield closed(in, folded(bits, operand));
                }
                yield name.startsWith("__print_") ? byFieldType(in) : in.opaque(name);
            }
        };
    }

    private static Bits.@Nullable Kind bits(String name) {
        return switch (name) {
            case "__builtin_clz", "__builtin_clzl", "__builtin_clzll" -> Bits.Kind.LEADING_ZEROS;
            case "__builtin_ctz", "__builtin_ctzl", "__builtin_ctzll", "__ffs" ->
                    Bits.Kind.TRAILING_ZEROS;
            case "ffs", "__builtin_ffs", "__builtin_ffsl", "__builtin_ffsll" -> Bits.Kind.FIRST_SET;
            case "fls", "fls64", "fls_long" -> Bits.Kind.LAST_SET;
            case "ilog2", "__ilog2_u32", "__ilog2_u64", "__fls" -> Bits.Kind.LOG2;
            case "order_base_2", "__order_base_2" -> Bits.Kind.LOG2_UP;
            case "hweight8",
                    "hweight16",
                    "hweight32",
                    "hweight64",
                    "hweight_long",
                    "__builtin_popcount",
                    "__builtin_popcountl",
                    "__builtin_popcountll" ->
                    Bits.Kind.COUNT;
            default -> null;
        };
    }

    private static Value folded(Bits.Kind kind, Value operand) {
        int width = 8 * operand.type().promoted().sizeBytes();
        return operand instanceof Constant constant
                ? new Constant(Bits.kind(kind, constant.value(), width), CType.INT)
                : new Bits(kind, operand);
    }

    private static Expression absolute(PrintParser in) throws UnsupportedPrintException {
        Value value = in.number();
        Value zero = new Constant(0, CType.INT);
        Value negative = PrintParser.joined(Operator.LESS, value, zero);
        Value turned = PrintParser.joined(Operator.MINUS, zero, value);
        return closed(in, new Choice(negative, turned, value, value.type().promoted()));
    }

    private static Expression limit(PrintParser in, Operator operator)
            throws UnsupportedPrintException {
        Value a = in.number();
        in.expect(",");
        Value b = in.number();
        Value first = PrintParser.joined(operator, a, b);
        return closed(in, new Choice(first, a, b, a.type().with(b.type())));
    }

    /** A number of the recorded machine taken as big- or little-endian. */
    private static Expression ordered(PrintParser in, String name, boolean big)
            throws UnsupportedPrintException {
        int bytes = name.contains("16") ? 2 : name.contains("32") ? 4 : 8;
        if (in.context().isBigEndian() == big) {
            Value operand = in.number();
            return closed(in, PrintParser.cast(operand, new CType(bytes, true)));
        }
        return swapped(in, bytes);
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
        int longBytes = in.context().longBytes();
        int start = in.position();
        String name = in.types().typeName();
        in.expect(")");
        int bytes = CTypes.sizeBytes(name, longBytes, 0);
        if (name.equals("struct page")) {
            // Which has no fields here: 8 words of 32-bit and of 64-bit kernels.
            bytes = 8 * longBytes;
        }
        if (bytes == 0) {
            int end = in.position();
            in.seek(start);
            bytes =
                    switch (in.argument()) {
                        case Value value -> value.type().promoted().sizeBytes();
                        case Place place -> place.field().sizeBytes();
                        default -> 0;
                    };
            in.expect(")");
            if (bytes == 0 || in.position() != end || in.wasUnresolved()) {
                throw PrintParser.unsupported("sizeof " + name);
            }
        }
        return new Constant(bytes, longBytes == 4 ? CType.UNSIGNED : CType.UNSIGNED_LONG_LONG);
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
