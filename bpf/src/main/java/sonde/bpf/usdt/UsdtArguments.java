package sonde.bpf.usdt;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UnreadableOperand;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UsdtConstant;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UsdtMemory;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UsdtRegister;
import sonde.bpf.usdt.UsdtRegisters.RegisterPart;
import sonde.sys.Arch;

/**
 * Reads the arguments of a note: {@code SIZE@OPERAND}, separated by blanks, as the assembler of the
 * program's machine writes operands. A size below 0 is of a signed number, one with {@code f} of a
 * floating-point number; without a size it is that of a word.
 */
final class UsdtArguments {
    private static final int MOST = 32;
    private static final int MOST_TEXT = 4096;

    private static final Pattern SIZE = Pattern.compile("(-?)([1248])(f?)@(.+)");
    private static final String NUMBER = "[-+]?(?:0[xX][0-9a-fA-F]{1,16}|\\d{1,20})";
    private static final Pattern CONSTANT = Pattern.compile("[$#]?(" + NUMBER + ")");

    /** {@code SYMBOL+DISPLACEMENT(%BASE,%INDEX,SCALE)}, each part but the brackets optional. */
    private static final Pattern X86_MEMORY =
            Pattern.compile(
                    "([A-Za-z_.$][\\w.$@]*)?((?:[-+]?\\d\\w*)(?:[-+]\\d\\w*)*)?"
                            + "\\((?:%(\\w+))?(?:,\\s*%(\\w+)(?:,\\s*([1248]))?)?\\)");

    /** {@code [x1, x2, lsl 3]}, {@code [sp, 16]}, {@code [x0]}. */
    private static final Pattern ARM_MEMORY =
            Pattern.compile(
                    "\\[\\s*(\\w+)\\s*(?:,\\s*(?:#?("
                            + NUMBER
                            + ")|(\\w+)(?:\\s*,\\s*(?:lsl|sxtw|uxtw|sxtx)(?:\\s*#?([0-3]))?)?))?"
                            + "\\s*\\]");

    private final Arch arch;
    private final ToLongFunction<String> distances;

    /**
     * Reads the arguments of a note.
     *
     * @param distances how far a symbol is from the marker, in bytes; 0 where there is no such
     *     symbol
     */
    UsdtArguments(Arch arch, ToLongFunction<String> distances) {
        this.arch = arch;
        this.distances = distances;
    }

    List<UsdtArgument> parse(String text) {
        List<UsdtArgument> arguments = new ArrayList<>();
        for (String word : words(text)) {
            if (arguments.size() < MOST) {
                arguments.add(argument(word));
            }
        }
        return arguments;
    }

    /** At blanks that are in no brackets and follow no comma. */
    private static List<String> words(String text) {
        List<String> words = new ArrayList<>();
        StringBuilder word = new StringBuilder();
        int open = 0;
        for (int i = 0; i < Math.min(text.length(), MOST_TEXT); i++) {
            char c = text.charAt(i);
            open += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
            if (c == ' ' && open <= 0) {
                if (!word.isEmpty()) {
                    words.add(word.toString());
                    word.setLength(0);
                }
                open = 0;
            } else {
                word.append(c);
            }
        }
        if (!word.isEmpty()) {
            words.add(word.toString());
        }
        return words;
    }

    private UsdtArgument argument(String word) {
        Matcher sized = SIZE.matcher(word);
        if (!sized.matches()) {
            UsdtOperand operand = operand(word);
            int size = operand instanceof UsdtRegister ? partSize(word) : 8;
            return new UsdtArgument(size, false, false, operand);
        }
        boolean isFloat = !sized.group(3).isEmpty();
        return new UsdtArgument(
                Integer.parseInt(sized.group(2)),
                !sized.group(1).isEmpty(),
                isFloat,
                operand(sized.group(4)));
    }

    private int partSize(String word) {
        String name = word.startsWith("%") ? word.substring(1) : word;
        RegisterPart register = UsdtRegisters.find(arch, name);
        return register == null ? 8 : register.sizeBytes();
    }

    private UsdtOperand operand(String text) {
        try {
            Matcher constant = CONSTANT.matcher(text);
            if (constant.matches()) {
                return new UsdtConstant(number(constant.group(1)));
            }
            String name = arch == Arch.X86_64 && text.startsWith("%") ? text.substring(1) : text;
            boolean named = arch != Arch.X86_64 || text.startsWith("%");
            RegisterPart register = named ? UsdtRegisters.find(arch, name) : null;
            if (register != null) {
                return new UsdtRegister(register.whole(), register.offset(), register.shift());
            }
            @Nullable UsdtOperand memory = arch == Arch.X86_64 ? x86Memory(text) : armMemory(text);
            return memory == null ? new UnreadableOperand(text) : memory;
        } catch (NumberFormatException e) {
            return new UnreadableOperand(text);
        }
    }

    private @Nullable UsdtOperand x86Memory(String text) {
        Matcher matcher = X86_MEMORY.matcher(text);
        if (!matcher.matches()) {
            return null;
        }
        long displacement = sum(matcher.group(2));
        String symbol = matcher.group(1);
        String base = matcher.group(3);
        if (symbol != null) {
            long distance = "rip".equals(base) ? distances.applyAsLong(symbol) : 0;
            if (distance == 0) {
                return null;
            }
            displacement += distance;
        }
        String index = matcher.group(4);
        int scale = matcher.group(5) == null ? 1 : Integer.parseInt(matcher.group(5));
        return memory(base, index, scale, displacement);
    }

    private @Nullable UsdtOperand armMemory(String text) {
        Matcher matcher = ARM_MEMORY.matcher(text);
        if (!matcher.matches()) {
            return null;
        }
        long displacement = matcher.group(2) == null ? 0 : number(matcher.group(2));
        int scale = matcher.group(4) == null ? 1 : 1 << Integer.parseInt(matcher.group(4));
        return memory(matcher.group(1), matcher.group(3), scale, displacement);
    }

    private @Nullable UsdtOperand memory(
            @Nullable String base, @Nullable String index, int scale, long displacement) {
        RegisterPart b = base == null ? null : UsdtRegisters.find(arch, base);
        RegisterPart i = index == null ? null : UsdtRegisters.find(arch, index);
        if (base != null && b == null || index != null && i == null || b == null && i == null) {
            return null;
        }
        return new UsdtMemory(
                b == null ? "" : b.whole(),
                b == null ? 0 : b.offset(),
                i == null ? "" : i.whole(),
                i == null ? 0 : i.offset(),
                scale,
                displacement);
    }

    /** The sum of {@code "8+16-4"}; 0 for nothing. */
    private static long sum(@Nullable String text) {
        if (text == null) {
            return 0;
        }
        long sum = 0;
        int from = 0;
        for (int i = 1; i <= text.length(); i++) {
            if (i == text.length() || text.charAt(i) == '+' || text.charAt(i) == '-') {
                sum += number(text.substring(from, i));
                from = i;
            }
        }
        return sum;
    }

    /** Signed or unsigned 64 bits, decimal or hexadecimal. */
    private static long number(String text) {
        boolean negative = text.startsWith("-");
        String digits = negative || text.startsWith("+") ? text.substring(1) : text;
        boolean hexadecimal = digits.startsWith("0x") || digits.startsWith("0X");
        long value =
                hexadecimal
                        ? Long.parseUnsignedLong(digits.substring(2), 16)
                        : Long.parseUnsignedLong(digits);
        return negative ? -value : value;
    }
}
