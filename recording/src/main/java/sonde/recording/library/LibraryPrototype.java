package sonde.recording.library;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.recording.syscall.CaptureOp;
import sonde.recording.syscall.CaptureOp.CallPlan;

/**
 * The type of a C function as far as its calls are shown.
 *
 * @param variadic whether more arguments may follow
 * @param known whether the arguments are known at all
 */
public record LibraryPrototype(
        List<CValueType> arguments, boolean variadic, CValueType result, boolean known) {
    /** What a value is. */
    public enum CValueKind {
        CHAR,
        INTEGER,
        OCTAL,
        /** Octal, and passed only when the argument before asks for a new file. */
        MODE,
        /** In a register of its own; the kernel does not save it where it can be read. */
        SIGNAL,
        FLOATING,
        ADDRESS,
        /** The address of a function, which the called one may call. */
        FUNCTION,
        STRING,
        FORMAT,
        /** More than a number: as many registers as its bits fill, none when it lies in memory. */
        AGGREGATE,
        /** The address of the result, which the caller does not write. */
        HIDDEN,
        NOTHING,
        UNKNOWN,
    }

    /** {@link CValueType#length} when the function's result is the length. */
    public static final int BY_RESULT = 0;

    /** {@link CValueType#length} of a string that ends with a NUL. */
    public static final int BY_NUL = -1;

    /**
     * A value.
     *
     * @param bits of a number
     * @param length of a string: an argument's number from 1, or one of the constants
     * @param written whether the function writes what the address means
     * @param names of numbers
     */
    public record CValueType(
            CValueKind kind,
            int bits,
            boolean signed,
            int length,
            boolean written,
            Map<Long, String> names) {
        static final CValueType UNKNOWN = number(CValueKind.UNKNOWN, 64, true);

        /** Categories of locales (locale.h of glibc). */
        private static final Map<Long, String> CATEGORIES = new HashMap<>();

        static {
            String[] all =
                    ("CTYPE NUMERIC TIME COLLATE MONETARY MESSAGES ALL PAPER NAME ADDRESS TELEPHONE"
                                    + " MEASUREMENT IDENTIFICATION")
                            .split(" ");
            for (int i = 0; i < all.length; i++) {
                CATEGORIES.put((long) i, "LC_" + all[i]);
            }
        }

        public CValueType {
            names = Map.copyOf(names);
        }

        /** One without names, or what is no number. */
        public static CValueType number(CValueKind kind, int bits, boolean signed) {
            return new CValueType(kind, bits, signed, BY_NUL, false, Map.of());
        }

        /** The same number with names. */
        public CValueType named(Map<Long, String> words) {
            return new CValueType(kind, bits, signed, length, written, words);
        }

        static CValueType parse(String word) {
            boolean written = word.startsWith(">");
            String type = written ? word.substring(1) : word;
            if (type.startsWith("s")) {
                int length =
                        type.length() == 1
                                ? BY_NUL
                                : type.equals("s[r]")
                                        ? BY_RESULT
                                        : Integer.parseInt(type, 2, type.length() - 1, 10);
                return new CValueType(CValueKind.STRING, 64, false, length, written, Map.of());
            }
            return switch (type) {
                case "c" -> number(CValueKind.CHAR, 8, true);
                case "uc" -> number(CValueKind.INTEGER, 8, false);
                case "h" -> number(CValueKind.INTEGER, 16, true);
                case "uh" -> number(CValueKind.INTEGER, 16, false);
                case "i", "x" -> number(CValueKind.INTEGER, 32, true);
                case "u" -> number(CValueKind.INTEGER, 32, false);
                case "l" -> number(CValueKind.INTEGER, 64, true);
                case "ul" -> number(CValueKind.INTEGER, 64, false);
                case "L" -> number(CValueKind.INTEGER, 32, true).named(CATEGORIES);
                case "o" -> number(CValueKind.OCTAL, 32, false);
                case "g" -> number(CValueKind.SIGNAL, 32, true);
                case "O" -> number(CValueKind.MODE, 32, false);
                case "f", "d", "ld" -> number(CValueKind.FLOATING, 64, true);
                case "p" -> number(CValueKind.ADDRESS, 64, false);
                case "k" -> number(CValueKind.FUNCTION, 64, false);
                case "F" -> number(CValueKind.FORMAT, 64, false);
                case "v" -> number(CValueKind.NOTHING, 0, false);
                default -> UNKNOWN;
            };
        }

        /** How many registers for numbers it takes. */
        int taken() {
            return switch (kind) {
                case FLOATING -> 0;
                case AGGREGATE -> bits / Long.SIZE;
                default -> 1;
            };
        }

        boolean isMemory() {
            return kind == CValueKind.STRING || kind == CValueKind.FORMAT;
        }
    }

    /** A function that no table knows. */
    public static final LibraryPrototype UNKNOWN =
            new LibraryPrototype(List.of(), false, CValueType.UNKNOWN, false);

    private static final int REGISTERS = 6;

    public LibraryPrototype {
        arguments = List.copyOf(arguments);
    }

    /** The table of functions by name. */
    public static Map<String, LibraryPrototype> table() {
        return PrototypeTable.ALL;
    }

    private static final class PrototypeTable {
        static final Map<String, LibraryPrototype> ALL = read();

        private static Map<String, LibraryPrototype> read() {
            Map<String, LibraryPrototype> all = new HashMap<>(1 << 14);
            try (BufferedReader lines =
                    new BufferedReader(
                            new InputStreamReader(
                                    LibraryPrototype.class.getResourceAsStream("functions.txt"),
                                    StandardCharsets.US_ASCII))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    if (!line.startsWith("#")) {
                        int name = line.indexOf(' ');
                        all.put(line.substring(0, name), parse(line.substring(name + 1)));
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return all;
        }
    }

    /** The type of a line of the table, without its name. */
    static LibraryPrototype parse(String text) {
        List<CValueType> arguments = new ArrayList<>();
        boolean variadic = false;
        String[] words = text.split(" ");
        int at = 0;
        for (; !words[at].equals("="); at++) {
            if (words[at].equals("...")) {
                variadic = true;
            } else {
                arguments.add(CValueType.parse(words[at]));
            }
        }
        return new LibraryPrototype(arguments, variadic, CValueType.parse(words[at + 1]), true);
    }

    /** Whether it may call functions of its caller. */
    public boolean takesFunctions() {
        return !known || arguments.stream().anyMatch(one -> one.kind() == CValueKind.FUNCTION);
    }

    /** The register of an argument; -1 when it is on the stack or of floating point. */
    int register(int argument) {
        int register = arguments.subList(0, argument).stream().mapToInt(CValueType::taken).sum();
        boolean single = arguments.get(argument).taken() == 1;
        return !single || register >= REGISTERS ? -1 : register;
    }

    /** The first register behind the named arguments. */
    int registers() {
        return arguments.stream().mapToInt(CValueType::taken).sum();
    }

    /**
     * What is captured of a call.
     *
     * @param limit bytes of a string
     */
    public CallPlan plan(int limit) {
        List<CaptureOp> entry = new ArrayList<>();
        List<CaptureOp> exit = new ArrayList<>();
        for (int i = 0; i < arguments.size(); i++) {
            CValueType type = arguments.get(i);
            int register = register(i);
            if (type.isMemory() && register >= 0) {
                CaptureOp op = read(type, register, limit);
                if (op != null) {
                    (type.written() ? exit : entry).add(op);
                }
            }
            if (type.kind() == CValueKind.FORMAT) {
                for (int next = registers(); next < REGISTERS; next++) {
                    // Which of them are strings, the format says later.
                    entry.add(string(next, limit));
                }
                entry.add(
                        new CaptureOp(
                                CaptureOp.KIND_BYTES, REGISTERS, CaptureOp.LENGTH_FIXED, 0, 8, 64));
            }
        }
        if (result.kind() == CValueKind.STRING) {
            exit.add(string(CaptureOp.RESULT, limit));
        }
        return new CallPlan(
                entry.subList(0, Math.min(entry.size(), CaptureOp.MOST)),
                exit.subList(0, Math.min(exit.size(), CaptureOp.MOST)));
    }

    private static CaptureOp string(int register, int limit) {
        return new CaptureOp(
                CaptureOp.KIND_STRING, register, CaptureOp.LENGTH_FIXED, 0, 0, limit + 2);
    }

    private @Nullable CaptureOp read(CValueType type, int register, int limit) {
        if (type.length() == BY_NUL) {
            return string(register, limit);
        }
        if (type.length() == BY_RESULT) {
            return new CaptureOp(
                    CaptureOp.KIND_BYTES, register, CaptureOp.LENGTH_RESULT, 0, 1, limit + 1);
        }
        int length = type.length() > arguments.size() ? -1 : register(type.length() - 1);
        return length < 0
                ? null
                : new CaptureOp(
                        CaptureOp.KIND_BYTES,
                        register,
                        CaptureOp.LENGTH_ARGUMENT,
                        length,
                        1,
                        limit + 1);
    }
}
