package sonde.recording.library;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.recording.library.LibraryPrototype.CValueKind;
import sonde.recording.library.LibraryPrototype.CValueType;
import sonde.recording.syscall.CallRecord;
import sonde.recording.syscall.CaptureOp;
import sonde.sys.SignalNames;

/**
 * Arguments and results of a call as ltrace writes them.
 *
 * @param limit bytes of a string that are shown
 */
public record LibraryText(int limit) {
    private static final VarHandle U32 =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle U64 =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private static final int REGISTERS = 6;
    private static final int HEADER = 8;

    /** Of a function that no table knows, so many registers are shown. */
    private static final int GUESSED = 4;

    private static final String SPECIAL = "\n\r\t\b\f\u000b\u0007\\";
    private static final String LETTERS = "nrtbfva\\";

    /**
     * The arguments from one on, with commas between.
     *
     * @param exit null at the begin of the call: the text ends before the first argument that the
     *     function writes
     */
    String arguments(LibraryPrototype type, CallRecord entry, @Nullable CallRecord exit, int from) {
        List<String> words = words(type, entry, exit, from);
        return (from == 0 || words.isEmpty() ? "" : ", ") + String.join(", ", words);
    }

    /** The same, each for itself. */
    List<String> words(
            LibraryPrototype type, CallRecord entry, @Nullable CallRecord exit, int from) {
        List<String> words = new ArrayList<>();
        StringBuilder out = new StringBuilder();
        if (!type.known()) {
            for (int i = from; i < GUESSED; i++) {
                guess(out, entry.argument(i));
                add(words, out);
            }
            return words;
        }
        for (int i = from; i < type.arguments().size(); i++) {
            CValueType one = type.arguments().get(i);
            if (one.written() && exit == null) {
                return words;
            }
            if (one.kind() == CValueKind.HIDDEN
                    || one.kind() == CValueKind.MODE && !creates(entry.argument(i - 1))) {
                continue;
            }
            argument(out, type, i, entry, exit);
            add(words, out);
        }
        int format = format(type);
        if (format >= 0) {
            variadic(words, type, entry, string(entry, type.register(format)));
        }
        return words;
    }

    private static void add(List<String> words, StringBuilder out) {
        words.add(out.toString());
        out.setLength(0);
    }

    /** How many arguments are complete when the call begins. */
    static int complete(LibraryPrototype type) {
        for (int i = 0; i < type.arguments().size(); i++) {
            if (type.arguments().get(i).written()) {
                return i;
            }
        }
        return Integer.MAX_VALUE;
    }

    /** O_CREAT, or what O_TMPFILE has besides O_DIRECTORY. */
    private static boolean creates(long flags) {
        return (flags & 020000100) != 0;
    }

    private static int format(LibraryPrototype type) {
        for (int i = 0; i < type.arguments().size(); i++) {
            if (type.arguments().get(i).kind() == CValueKind.FORMAT) {
                return i;
            }
        }
        return -1;
    }

    private static void guess(StringBuilder out, long value) {
        if (value >= -0xffff && value <= 0xffff) {
            out.append(value);
        } else {
            out.append("0x").append(Long.toHexString(value));
        }
    }

    private void argument(
            StringBuilder out,
            LibraryPrototype type,
            int index,
            CallRecord entry,
            @Nullable CallRecord exit) {
        CValueType one = type.arguments().get(index);
        int register = type.register(index);
        if (one.kind() == CValueKind.AGGREGATE) {
            out.append("{...}");
        } else if (register < 0) {
            out.append('?');
        } else if (one.isMemory()) {
            CallRecord source = one.written() && exit != null ? exit : entry;
            memory(out, source, register, entry.argument(register), length(type, one, entry, exit));
        } else {
            number(out, one, entry.argument(register));
        }
    }

    private static long length(
            LibraryPrototype type, CValueType one, CallRecord entry, @Nullable CallRecord exit) {
        if (one.length() == LibraryPrototype.BY_NUL) {
            return Long.MAX_VALUE;
        }
        if (one.length() == LibraryPrototype.BY_RESULT) {
            return exit == null ? 0 : Math.max(0, exit.result());
        }
        int register = type.register(one.length() - 1);
        return register < 0 ? 0 : entry.argument(register);
    }

    /** The result as text. */
    String result(LibraryPrototype type, CallRecord exit) {
        CValueType one = type.result();
        StringBuilder out = new StringBuilder();
        switch (one.kind()) {
            case NOTHING -> out.append("<void>");
            case FLOATING -> out.append('?');
            case AGGREGATE -> out.append("{...}");
            case STRING, FORMAT ->
                    memory(out, exit, CaptureOp.RESULT, exit.result(), Long.MAX_VALUE);
            case UNKNOWN -> guess(out, exit.result());
            default -> number(out, one, exit.result());
        }
        return out.toString();
    }

    private static void number(StringBuilder out, CValueType type, long value) {
        switch (type.kind()) {
            case CHAR -> character(out, (int) value);
            case OCTAL, MODE ->
                    out.append(value == 0 ? "" : "0")
                            .append(Long.toOctalString(value & 0xffffffffL));
            case ADDRESS, FUNCTION -> address(out, value);
            case SIGNAL -> out.append(value == 0 ? "0" : SignalNames.of(value & 0xffffffffL));
            case INTEGER -> integer(out, type, value);
            default -> guess(out, value);
        }
    }

    private static void integer(StringBuilder out, CValueType type, long value) {
        long cut = value << 64 - type.bits();
        long number = type.signed() ? cut >> 64 - type.bits() : cut >>> 64 - type.bits();
        String name = type.names().get(number);
        if (name != null) {
            out.append(name);
        } else if (type.signed()) {
            out.append(number);
        } else {
            out.append(Long.toUnsignedString(number));
        }
    }

    private static void address(StringBuilder out, long value) {
        if (value == 0) {
            out.append('0');
        } else {
            out.append("0x").append(Long.toHexString(value));
        }
    }

    private static void character(StringBuilder out, int value) {
        if (value == -1) {
            out.append("EOF");
            return;
        }
        out.append('\'');
        escape(out, (byte) value);
        out.append('\'');
    }

    private static void escape(StringBuilder out, byte b) {
        int special = SPECIAL.indexOf(b & 0xff);
        if (special >= 0) {
            out.append('\\').append(LETTERS.charAt(special));
        } else if (b >= ' ' && b < 127) {
            out.append((char) b);
        } else if (b == 0) {
            out.append("\\0");
        } else {
            String octal = Integer.toOctalString(b & 0xff);
            out.append('\\').append("000", octal.length(), 3).append(octal);
        }
    }

    private void memory(
            StringBuilder out, CallRecord source, int register, long address, long length) {
        if (address == 0) {
            out.append("nil");
            return;
        }
        int piece = source.piece(register, 0, 0);
        piece = piece < 0 ? source.piece(register, 0, CallRecord.CUT) : piece;
        if (piece < 0) {
            if (length == 0) {
                out.append("\"\"");
            } else {
                address(out, address);
            }
            return;
        }
        byte[] bytes = source.bytes();
        int size = (int) U32.get(bytes, piece + 4);
        boolean ends = length == Long.MAX_VALUE;
        int end = ends ? terminated(bytes, piece + HEADER, size) : (int) Math.min(size, length);
        int shown = Math.min(end, limit);
        out.append('"');
        for (int i = 0; i < shown; i++) {
            escapeIn(out, bytes[piece + HEADER + i]);
        }
        out.append('"').append(end > shown || !ends && length > end ? "..." : "");
    }

    private static void escapeIn(StringBuilder out, byte b) {
        if (b == 0) {
            out.append("\\0");
        } else {
            escape(out, b);
        }
    }

    private static int terminated(byte[] bytes, int start, int size) {
        for (int i = 0; i < size; i++) {
            if (bytes[start + i] == 0) {
                return i;
            }
        }
        return size;
    }

    /** The whole string as captured; null when it was not. */
    private static @Nullable String string(CallRecord record, int register) {
        int piece = register < 0 ? -1 : record.piece(register, 0, 0);
        if (piece < 0) {
            return null;
        }
        byte[] bytes = record.bytes();
        int size = (int) U32.get(bytes, piece + 4);
        int length = terminated(bytes, piece + HEADER, size);
        return new String(bytes, piece + HEADER, length, StandardCharsets.ISO_8859_1);
    }

    /** Arguments by the conversions of a format (printf(3)). */
    private void variadic(
            List<String> words, LibraryPrototype type, CallRecord entry, @Nullable String format) {
        StringBuilder out = new StringBuilder();
        int next = type.registers();
        for (CValueType one : conversions(format == null ? "" : format)) {
            if (one.kind() == CValueKind.FLOATING) {
                words.add("?");
                continue;
            }
            Long value = value(entry, next);
            if (value == null) {
                words.add("...");
                return;
            }
            if (one.kind() == CValueKind.STRING && next < REGISTERS) {
                memory(out, entry, next, value, Long.MAX_VALUE);
            } else if (one.kind() == CValueKind.UNKNOWN) {
                address(out, value & (one.bits() == 32 ? 0xffffffffL : -1));
            } else if (one.kind() == CValueKind.STRING) {
                address(out, value);
            } else {
                number(out, one, value);
            }
            add(words, out);
            next++;
        }
    }

    /** A register, or a word of the stack behind the return address. */
    private static @Nullable Long value(CallRecord entry, int index) {
        if (index < REGISTERS) {
            return entry.argument(index);
        }
        int piece = entry.piece(CallRecord.STACK_POINTER, 0, 0);
        int at = 8 * (index - REGISTERS);
        byte[] bytes = entry.bytes();
        return piece < 0 || at + 8 > (int) U32.get(bytes, piece + 4)
                ? null
                : (long) U64.get(bytes, piece + HEADER + at);
    }

    /** What a format asks for; of kind UNKNOWN is what is written in hexadecimal. */
    static List<CValueType> conversions(String format) {
        List<CValueType> all = new ArrayList<>();
        for (int i = format.indexOf('%');
                i >= 0 && i < format.length();
                i = format.indexOf('%', i)) {
            i++;
            int longs = 0;
            boolean isDone = false;
            while (i < format.length() && !isDone) {
                char c = format.charAt(i++);
                switch (c) {
                    case 'l', 'z', 'j', 't', 'q', 'L' -> longs++;
                    case '*' -> all.add(CValueType.parse("i"));
                    case 'd', 'i' -> all.add(CValueType.parse(longs > 0 ? "l" : "i"));
                    case 'u' -> all.add(CValueType.parse(longs > 0 ? "ul" : "u"));
                    case 'x', 'X', 'o', 'p' ->
                            all.add(
                                    CValueType.number(
                                            CValueKind.UNKNOWN,
                                            longs > 0 || c == 'p' ? 64 : 32,
                                            false));
                    case 'c' -> all.add(CValueType.parse("c"));
                    case 's' -> all.add(CValueType.parse(longs > 0 ? "p" : "s"));
                    case 'n' -> all.add(CValueType.parse("p"));
                    case 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A' -> all.add(CValueType.parse("d"));
                    default -> {}
                }
                isDone = "diuxXopcsneEfFgGaA%m".indexOf(c) >= 0;
            }
        }
        return all;
    }
}
