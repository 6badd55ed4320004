package sonde.recording.ftrace;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.recording.ftrace.PrintArgument.ConstantText;
import sonde.recording.ftrace.PrintArgument.StackTraceText;
import sonde.recording.ftrace.PrintArgument.TextMemo;
import sonde.recording.ftrace.PrintExpression.ArrayLength;
import sonde.recording.ftrace.PrintExpression.BinaryExpression;
import sonde.recording.ftrace.PrintExpression.BitFunction;
import sonde.recording.ftrace.PrintExpression.CastExpression;
import sonde.recording.ftrace.PrintExpression.ConditionalExpression;
import sonde.recording.ftrace.PrintExpression.ConstantExpression;
import sonde.recording.ftrace.PrintExpression.NumberExpression;
import sonde.recording.ftrace.PrintExpression.PayloadArray;
import sonde.recording.ftrace.PrintExpression.PrintOperator;
import sonde.recording.ftrace.PrintExpression.SwapExpression;

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
    static PrintExpression call(PrintParser in, String name) throws UnsupportedPrintException {
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
                    new ArrayLength(named(in), 1, CIntegerType.INT);
            case "__get_bitmask", "__get_rel_bitmask" ->
                    new PrintArgument.Bitmask(named(in), in.context());
            case "__get_cpumask", "__get_rel_cpumask" ->
                    new PrintArgument.CpuList(named(in), in.context());
            case "__print_ns_to_secs" -> scaled(in, PrintOperator.DIVIDE);
            case "__print_ns_without_secs" -> scaled(in, PrintOperator.MODULO);
            case "__fswab16", "__swab16", "__builtin_bswap16" -> swapped(in, 2);
            case "__fswab32", "__swab32", "__builtin_bswap32" -> swapped(in, 4);
            case "__fswab64", "__swab64", "__builtin_bswap64" -> swapped(in, 8);
            case "be16_to_cpu", "ntohs", "htons", "cpu_to_be16" -> ordered(in, "16", true);
            case "be32_to_cpu", "ntohl", "htonl", "cpu_to_be32" -> ordered(in, "32", true);
            case "be64_to_cpu", "cpu_to_be64" -> ordered(in, "64", true);
            case "MAJOR" -> joined(in, PrintOperator.RIGHT, 20);
            case "MINOR" -> joined(in, PrintOperator.BIT_AND, (1 << 20) - 1);
            // HZ is not in the file; trace-cmd's plugin shows jiffies too.
            case "jiffies_to_msecs", "jiffies_to_usecs", "ERR_PTR" -> closed(in, in.argument());
            case "le16_to_cpu", "le32_to_cpu", "le64_to_cpu" -> ordered(in, name, false);
            case "sizeof" -> sizeof(in);
            case "__builtin_expect" -> first(in);
            case "__builtin_constant_p" -> {
                boolean constant = in.argument() instanceof ConstantExpression;
                yield closed(in, new ConstantExpression(constant ? 1 : 0, CIntegerType.INT));
            }
            case "__get_stacktrace", "__get_rel_stacktrace" ->
                    new StackTraceText(named(in), in.context());
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
            case "min", "max" ->
                    limit(in, name.equals("min") ? PrintOperator.LESS : PrintOperator.GREATER);
            case "__builtin_choose_expr" -> choose(in);
            default -> {
                BitFunction.Kind bits = bits(name);
                if (bits != null) {
                    NumberExpression operand = in.number();
                    if (name.endsWith("ll") || name.endsWith("64")) {
                        operand = PrintParser.cast(operand, CIntegerType.UNSIGNED_LONG_LONG);
                    }
                    yield closed(in, folded(bits, operand));
                }
                yield name.startsWith("__print_") ? byFieldType(in) : in.opaque(name);
            }
        };
    }

    private static BitFunction.@Nullable Kind bits(String name) {
        return switch (name) {
            case "__builtin_clz", "__builtin_clzl", "__builtin_clzll" ->
                    BitFunction.Kind.LEADING_ZEROS;
            case "__builtin_ctz", "__builtin_ctzl", "__builtin_ctzll", "__ffs" ->
                    BitFunction.Kind.TRAILING_ZEROS;
            case "ffs", "__builtin_ffs", "__builtin_ffsl", "__builtin_ffsll" ->
                    BitFunction.Kind.FIRST_SET;
            case "fls", "fls64", "fls_long" -> BitFunction.Kind.LAST_SET;
            case "ilog2", "__ilog2_u32", "__ilog2_u64", "__fls" -> BitFunction.Kind.LOG2;
            case "order_base_2", "__order_base_2" -> BitFunction.Kind.LOG2_UP;
            case "hweight8",
                    "hweight16",
                    "hweight32",
                    "hweight64",
                    "hweight_long",
                    "__builtin_popcount",
                    "__builtin_popcountl",
                    "__builtin_popcountll" ->
                    BitFunction.Kind.COUNT;
            default -> null;
        };
    }

    private static NumberExpression folded(BitFunction.Kind kind, NumberExpression operand) {
        int width = 8 * operand.type().promoted().sizeBytes();
        return operand instanceof ConstantExpression constant
                ? new ConstantExpression(
                        BitFunction.kind(kind, constant.value(), width), CIntegerType.INT)
                : new BitFunction(kind, operand);
    }

    private static PrintExpression absolute(PrintParser in) throws UnsupportedPrintException {
        NumberExpression value = in.number();
        NumberExpression zero = new ConstantExpression(0, CIntegerType.INT);
        NumberExpression negative = PrintParser.joined(PrintOperator.LESS, value, zero);
        NumberExpression turned = PrintParser.joined(PrintOperator.MINUS, zero, value);
        return closed(
                in, new ConditionalExpression(negative, turned, value, value.type().promoted()));
    }

    private static PrintExpression limit(PrintParser in, PrintOperator operator)
            throws UnsupportedPrintException {
        NumberExpression a = in.number();
        in.expect(",");
        NumberExpression b = in.number();
        NumberExpression first = PrintParser.joined(operator, a, b);
        return closed(in, new ConditionalExpression(first, a, b, a.type().with(b.type())));
    }

    /** A number of the recorded machine taken as big- or little-endian. */
    private static PrintExpression ordered(PrintParser in, String name, boolean big)
            throws UnsupportedPrintException {
        int bytes = name.contains("16") ? 2 : name.contains("32") ? 4 : 8;
        if (in.context().isBigEndian() == big) {
            NumberExpression operand = in.number();
            return closed(in, PrintParser.cast(operand, new CIntegerType(bytes, true)));
        }
        return swapped(in, bytes);
    }

    private static PrintExpression closed(PrintParser in, PrintExpression expression)
            throws UnsupportedPrintException {
        in.expect(")");
        return expression;
    }

    private static PayloadArray named(PrintParser in) throws UnsupportedPrintException {
        PayloadArray place = in.place(in.take().text());
        in.expect(")");
        return place;
    }

    private static PayloadArray placed(PrintExpression expression)
            throws UnsupportedPrintException {
        if (expression instanceof PayloadArray place) {
            return place;
        }
        throw PrintParser.unsupported("an array that is none");
    }

    private static PrintExpression first(PrintParser in) throws UnsupportedPrintException {
        PrintExpression first = in.argument();
        in.expect(",");
        in.argument();
        return closed(in, first);
    }

    private static PrintExpression choose(PrintParser in) throws UnsupportedPrintException {
        NumberExpression condition = in.number();
        in.expect(",");
        PrintExpression yes = in.argument();
        in.expect(",");
        PrintExpression no = in.argument();
        in.expect(")");
        if (condition instanceof ConstantExpression constant) {
            return constant.value() != 0 ? yes : no;
        }
        NumberExpression a = PrintParser.value(yes);
        NumberExpression b = PrintParser.value(no);
        return new ConditionalExpression(condition, a, b, a.type().with(b.type()));
    }

    private static PrintExpression sizeof(PrintParser in) throws UnsupportedPrintException {
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
                        case NumberExpression value -> value.type().promoted().sizeBytes();
                        case PayloadArray place -> place.field().sizeBytes();
                        default -> 0;
                    };
            in.expect(")");
            if (bytes == 0 || in.position() != end || in.wasUnresolved()) {
                throw PrintParser.unsupported("sizeof " + name);
            }
        }
        return new ConstantExpression(
                bytes, longBytes == 4 ? CIntegerType.UNSIGNED : CIntegerType.UNSIGNED_LONG_LONG);
    }

    private static PrintExpression swapped(PrintParser in, int bytes)
            throws UnsupportedPrintException {
        NumberExpression operand = in.number();
        return closed(in, new SwapExpression(operand, new CIntegerType(bytes, true)));
    }

    private static PrintExpression joined(PrintParser in, PrintOperator operator, int right)
            throws UnsupportedPrintException {
        NumberExpression operand = new CastExpression(in.number(), CIntegerType.UNSIGNED);
        NumberExpression constant = new ConstantExpression(right, CIntegerType.INT);
        return closed(
                in, new BinaryExpression(operator, operand, constant, CIntegerType.UNSIGNED, true));
    }

    private static PrintExpression scaled(PrintParser in, PrintOperator operator)
            throws UnsupportedPrintException {
        NumberExpression billion = new ConstantExpression(1_000_000_000, CIntegerType.INT);
        CIntegerType type = CIntegerType.UNSIGNED_LONG_LONG;
        return closed(in, new BinaryExpression(operator, in.number(), billion, type, true));
    }

    private static PrintExpression flags(PrintParser in) throws UnsupportedPrintException {
        NumberExpression value = in.number();
        in.expect(",");
        PrintExpression delimiter = in.argument();
        byte[] between = delimiter instanceof ConstantText literal ? literal.text() : new byte[0];
        Pairs pairs = pairs(in);
        return new PrintArgument.Flags(value, between, pairs.values, pairs.names, new TextMemo());
    }

    private static PrintExpression symbolic(PrintParser in) throws UnsupportedPrintException {
        NumberExpression value = in.number();
        Pairs pairs = pairs(in);
        return new PrintArgument.Symbolic(value, pairs.values, pairs.names);
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
            PrintExpression value = in.argument();
            boolean unknown = in.wasUnresolved();
            in.expect(",");
            PrintExpression name = in.argument();
            in.expect("}");
            if (!(value instanceof ConstantExpression constant)) {
                throw PrintParser.unsupported("a name for no constant: " + value);
            }
            // { -1, NULL } ends some tables.
            if (!unknown && name instanceof ConstantText literal) {
                values.add(constant.value());
                names.add(literal.text());
            }
        }
        long[] all = values.stream().mapToLong(Long::longValue).toArray();
        return new Pairs(all, names.toArray(new byte[0][]));
    }

    private static PrintExpression hex(PrintParser in, boolean spaced)
            throws UnsupportedPrintException {
        PayloadArray bytes = placed(in.argument());
        in.expect(",");
        NumberExpression count = in.number();
        return closed(in, new PrintArgument.Hex(bytes, count, spaced));
    }

    private static PrintExpression array(PrintParser in) throws UnsupportedPrintException {
        PayloadArray array = placed(in.argument());
        in.expect(",");
        NumberExpression count = in.number();
        in.expect(",");
        NumberExpression element = in.number();
        in.expect(")");
        return integers(array, count, element);
    }

    private static PrintExpression dynamicArray(PrintParser in) throws UnsupportedPrintException {
        PayloadArray array = in.place(in.take().text());
        in.expect(",");
        NumberExpression element = in.number();
        in.expect(")");
        int bytes = element instanceof ConstantExpression constant ? (int) constant.value() : 1;
        return integers(
                array, new ArrayLength(array, Math.max(1, bytes), CIntegerType.INT), element);
    }

    private static PrintExpression integers(
            PayloadArray array, NumberExpression count, NumberExpression element)
            throws UnsupportedPrintException {
        if (element instanceof ConstantExpression constant) {
            int bytes = (int) constant.value();
            if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) {
                return new PrintArgument.Integers(array, count, bytes);
            }
        }
        throw PrintParser.unsupported("elements of unknown size");
    }

    /** A helper we do not know, of a vendor's kernel: its first argument is most often an array. */
    private static PrintExpression byFieldType(PrintParser in) throws UnsupportedPrintException {
        PayloadArray array = placed(in.argument());
        NumberExpression count =
                in.takes(",")
                        ? in.number()
                        : new ArrayLength(array, array.elementBytes(), CIntegerType.INT);
        while (in.takes(",")) {
            in.argument();
        }
        in.expect(")");
        return integers(
                array, count, new ConstantExpression(array.elementBytes(), CIntegerType.INT));
    }
}
