package sonde.probe.dynamic;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.SourceType.NumberType;
import sonde.symbol.ctype.SourceType.SourceTypedef;

/** Names of the kernel's types of fetch arguments. */
final class FetchType {
    /** MAX_ARRAY_LEN of kernel/trace/trace_probe.h. */
    static final int MOST_ELEMENTS = 64;

    private static final Pattern NAME =
            Pattern.compile(
                    "(?:[sux](?:8|16|32|64)|char|symbol|symstr|string|ustring)(?:\\[\\d{1,3}\\])?"
                            + "|b\\d{1,2}@\\d{1,2}/\\d{1,2}|%pd|%pD|[sux]");

    private FetchType() {}

    /** Where a type begins at the end of an argument, behind its colon; -1 for none. */
    static int start(String argument) {
        int colon = argument.lastIndexOf(':');
        boolean single = colon > 0 && argument.charAt(colon - 1) != ':';
        return single && NAME.matcher(argument.substring(colon + 1)).matches() ? colon + 1 : -1;
    }

    static boolean isText(String name) {
        return name.startsWith("string") || name.startsWith("ustring");
    }

    /** {@code s32}; {@code x64} for pointers; of an odd size that of the next smaller one. */
    static String of(SourceType type) {
        int bits = 8 * Integer.highestOneBit(Math.clamp(type.sizeBytes(), 1, 8));
        return switch (type.plain()) {
            case NumberType number ->
                    number.kind() == SourceType.Kind.FLOATING
                            ? "x" + bits
                            : (number.isSigned() ? "s" : "u") + bits;
            case SourceType.Enumeration value -> (value.isSigned() ? "s" : "u") + bits;
            case SourceType.Pointer _ -> "x" + bits;
            case SourceType.Array _,
                    SourceType.Structure _,
                    SourceType.MemberPointer _,
                    SourceType.Prototype _,
                    SourceTypedef _,
                    SourceType.Qualified _,
                    SourceType.Opaque _ ->
                    "x64";
        };
    }

    /** Whether a value is shown as a floating point number, which the kernel has only as bits. */
    static boolean isReal(SourceType type, String asked) {
        return asked.isEmpty()
                && type.plain() instanceof NumberType number
                && number.kind() == SourceType.Kind.FLOATING
                && !number.name().toLowerCase(Locale.ROOT).contains("complex")
                && (type.sizeBytes() == 4 || type.sizeBytes() == 8);
    }

    /** Where only {@code s}, {@code u} or {@code x} was asked for, with the size of a type. */
    static String sized(String name, SourceType type) {
        if (name.length() != 1) {
            return name;
        }
        Matcher digits = Pattern.compile("\\d+").matcher(of(type));
        return digits.find() ? name + digits.group() : name + "64";
    }
}
