package sonde.bpf.interpreter;

import static sonde.bpf.insn.HelperFunctionId.number;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;

/** Helpers that format or compare text (bpf_bprintf_prepare of kernel/bpf/helpers.c). */
final class TextHelperFunctions {
    private static final int LONGEST_FORMAT = 4096;

    private TextHelperFunctions() {}

    static void addTo(Map<Integer, HelperFunction> functions) {
        functions.put(number("bpf_trace_printk"), TextHelperFunctions::tracePrintk);
        functions.put(number("bpf_snprintf"), TextHelperFunctions::snprintf);
        functions.put(number("bpf_trace_vprintk"), TextHelperFunctions::traceVprintk);
        functions.put(number("bpf_strncmp"), TextHelperFunctions::strncmp);
    }

    private static long tracePrintk(HelperCall call) throws ProgramFaultException {
        String format = call.text(1, Math.min(call.size(2), LONGEST_FORMAT));
        long[] values = {call.argument(3), call.argument(4), call.argument(5)};
        return trace(call, format, values);
    }

    private static long traceVprintk(HelperCall call) throws ProgramFaultException {
        String format = call.text(1, Math.min(call.size(2), LONGEST_FORMAT));
        return trace(call, format, values(call, 3, call.size(4)));
    }

    private static long trace(HelperCall call, String format, long[] values)
            throws ProgramFaultException {
        String line = format(call, format, values);
        if (line == null) {
            return -Errno.EINVAL;
        }
        call.environment().trace(line);
        return line.length();
    }

    private static long[] values(HelperCall call, int argument, int bytes)
            throws ProgramFaultException {
        if (bytes == 0) {
            return new long[0];
        }
        if (bytes % 8 != 0 || bytes > 12 * 8) {
            throw call.fault("%d bytes of values".formatted(bytes));
        }
        long[] values = new long[bytes / 8];
        ByteBuffer.wrap(call.bytes(argument, bytes))
                .order(ByteOrder.LITTLE_ENDIAN)
                .asLongBuffer()
                .get(values);
        return values;
    }

    /** Arguments: str, its size, format, values, their size. Result: length with the NUL. */
    private static long snprintf(HelperCall call) throws ProgramFaultException {
        String text = format(call, call.text(3, LONGEST_FORMAT), values(call, 4, call.size(5)));
        if (text == null) {
            return -Errno.EINVAL;
        }
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        int room = call.size(2);
        if (room > 0) {
            byte[] out = Arrays.copyOf(bytes, Math.min(room, bytes.length + 1));
            out[out.length - 1] = 0;
            call.write(1, out);
        }
        return bytes.length + 1L;
    }

    private static long strncmp(HelperCall call) throws ProgramFaultException {
        int most = call.size(2);
        byte[] left = call.bytes(1, most);
        String right = call.text(3, most);
        for (int i = 0; i < most; i++) {
            int a = left[i] & 0xff;
            int b = i < right.length() ? right.charAt(i) : 0;
            if (a != b) {
                return a < b ? -1 : 1;
            }
            if (a == 0) {
                break;
            }
        }
        return 0;
    }

    /** Null where the kernel says EINVAL: a conversion that it does not know, too few values. */
    private static @Nullable String format(HelperCall call, String format, long[] values)
            throws ProgramFaultException {
        StringBuilder out = new StringBuilder();
        int next = 0;
        int i = 0;
        while (i < format.length()) {
            char c = format.charAt(i++);
            if (c != '%') {
                out.append(c);
                continue;
            }
            if (i < format.length() && format.charAt(i) == '%') {
                out.append('%');
                i++;
                continue;
            }
            int start = i;
            while (i < format.length() && "-+ #0123456789".indexOf(format.charAt(i)) >= 0) {
                i++;
            }
            String flags = format.substring(start, i);
            int longs = 0;
            while (i < format.length() && format.charAt(i) == 'l' && longs < 2) {
                longs++;
                i++;
            }
            if (i == format.length() || next == values.length || flags.length() > 4) {
                return null;
            }
            String one = conversion(call, format.charAt(i++), flags, longs > 0, values[next++]);
            if (one == null) {
                return null;
            }
            out.append(one);
        }
        return out.toString();
    }

    private static @Nullable String conversion(
            HelperCall call, char kind, String flags, boolean wide, long value)
            throws ProgramFaultException {
        long unsigned = wide ? value : value & 0xffffffffL;
        return switch (kind) {
            case 'd', 'i' -> padded(Long.toString(wide ? value : (int) value), flags);
            case 'u' -> padded(Long.toUnsignedString(unsigned), flags);
            case 'x' -> padded(prefix(flags, "0x") + Long.toHexString(unsigned), flags);
            case 'X' ->
                    padded(
                            prefix(flags, "0X")
                                    + Long.toHexString(unsigned).toUpperCase(java.util.Locale.ROOT),
                            flags);
            case 'c' -> padded(String.valueOf((char) (value & 0xff)), flags);
            case 's' -> padded(textAt(call, value), flags);
            case 'p' -> padded("%016x".formatted(value), flags);
            default -> null;
        };
    }

    private static String prefix(String flags, String prefix) {
        return flags.indexOf('#') >= 0 ? prefix : "";
    }

    /** Memory that cannot be read prints as nothing. */
    private static String textAt(HelperCall call, long address) {
        StringBuilder text = new StringBuilder();
        byte[] one = new byte[1];
        while (text.length() < LONGEST_FORMAT
                && call.read(address + text.length(), one, false)
                && one[0] != 0) {
            text.append((char) (one[0] & 0xff));
        }
        return text.toString();
    }

    private static String padded(String text, String flags) {
        String digits = flags.replaceAll("^[-+ #0]*", "");
        int width = digits.isEmpty() ? 0 : Integer.parseInt(digits);
        String padding = " ".repeat(Math.max(0, width - text.length()));
        if (flags.indexOf('-') >= 0) {
            return text + padding;
        }
        boolean zeros = flags.startsWith("0") || flags.startsWith("#0");
        boolean negative = text.startsWith("-");
        if (zeros && negative) {
            return "-" + padding.replace(' ', '0') + text.substring(1);
        }
        return (zeros ? padding.replace(' ', '0') : padding) + text;
    }
}
