package sonde.symbol.ctype;

import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.symbol.ctype.SourceType.Kind;
import sonde.symbol.ctype.SourceType.NumberType;

/** C's own types, whose words may stand in any order: {@code "long unsigned int"}. */
public final class BasicNumbers {
    private BasicNumbers() {}

    /** Whether a word may be one of those that name a basic type together. */
    public static boolean isWord(String word) {
        return switch (word) {
            case "void",
                    "char",
                    "short",
                    "int",
                    "long",
                    "float",
                    "double",
                    "signed",
                    "__signed",
                    "__signed__",
                    "unsigned",
                    "_Bool",
                    "_Complex",
                    "__complex__",
                    "__int128",
                    "__int128_t",
                    "__uint128_t",
                    "_Float128",
                    "__float128",
                    "_Float64",
                    "_Float32" ->
                    true;
            default -> false;
        };
    }

    /**
     * The type of such words; null when they name none. A {@code char} without a word for its sign
     * has one, as on x86-64.
     *
     * @param addressBytes size of a pointer, and of {@code long}
     */
    public static @Nullable SourceType of(List<String> words, int addressBytes) {
        int longs = 0;
        boolean isUnsigned = false;
        boolean isSigned = false;
        boolean isShort = false;
        int parts = 1;
        String base = "";
        for (String word : words) {
            switch (word) {
                case "long" -> longs++;
                case "unsigned" -> isUnsigned = true;
                case "signed", "__signed", "__signed__" -> isSigned = true;
                case "_Complex", "__complex__" -> parts = 2;
                case "short" -> isShort = true;
                default -> {
                    if (!base.isEmpty()) {
                        return null;
                    }
                    base = word;
                }
            }
        }
        if (isSigned && isUnsigned || longs > 2 || isShort && longs > 0) {
            return null;
        }
        String name = String.join(" ", words);
        Kind kind = isUnsigned || base.startsWith("__uint") ? Kind.UNSIGNED : Kind.SIGNED;
        int bytes = isShort ? 2 : longs > 1 ? 8 : longs == 1 ? addressBytes : 4;
        return switch (base) {
            case "void" -> SourceType.Opaque.VOID;
            case "bool", "_Bool" -> number(name, 1, Kind.BOOLEAN);
            case "char" -> new NumberType(name, 1, Kind.CHARACTER, !isUnsigned);
            case "", "int" -> number(name, bytes, kind);
            case "__int128", "__int128_t", "__uint128_t" -> number(name, 16, kind);
            case "float", "_Float32" -> number(name, 4 * parts, Kind.FLOATING);
            case "double" -> number(name, (longs > 0 ? 16 : 8) * parts, Kind.FLOATING);
            case "_Float64" -> number(name, 8 * parts, Kind.FLOATING);
            case "_Float128", "__float128" -> number(name, 16 * parts, Kind.FLOATING);
            default -> null;
        };
    }

    private static SourceType number(String name, int bytes, Kind kind) {
        boolean isSigned = kind == Kind.SIGNED || kind == Kind.FLOATING;
        return new NumberType(name, bytes, kind, isSigned);
    }
}
