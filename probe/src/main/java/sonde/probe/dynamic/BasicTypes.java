package sonde.probe.dynamic;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** C's own types, whose words may stand in any order. */
final class BasicTypes {
    private BasicTypes() {}

    static @Nullable SourceType find(String words, int addressBytes) {
        List<String> all = Arrays.asList(words.split(" ", -1));
        if (all.size() == 1 && all.getFirst().equals("void")) {
            return new SourceType.Opaque("void");
        }
        int longs = 0;
        boolean isUnsigned = false;
        boolean isSigned = false;
        String base = "";
        for (String word : all) {
            switch (word) {
                case "long" -> longs++;
                case "unsigned" -> isUnsigned = true;
                case "signed" -> isSigned = true;
                case "int" -> base = base.isEmpty() ? "int" : base;
                case "char", "short", "float", "double", "bool", "_Bool" -> base = word;
                default -> {
                    return null;
                }
            }
        }
        if (base.isEmpty() && longs == 0 && !isUnsigned && !isSigned) {
            return null;
        }
        return switch (base) {
            case "char" -> new SourceType.Number(words, 1, SourceType.Kind.CHARACTER, !isUnsigned);
            case "bool", "_Bool" -> new SourceType.Number(words, 1, SourceType.Kind.BOOLEAN, false);
            case "float" -> new SourceType.Number(words, 4, SourceType.Kind.FLOATING, true);
            case "double" -> new SourceType.Number(words, 8, SourceType.Kind.FLOATING, true);
            case "short" -> integer(words, 2, isUnsigned);
            default -> integer(words, longs > 1 ? 8 : longs == 1 ? addressBytes : 4, isUnsigned);
        };
    }

    private static SourceType integer(String words, int bytes, boolean isUnsigned) {
        return new SourceType.Number(
                words,
                bytes,
                isUnsigned ? SourceType.Kind.UNSIGNED : SourceType.Kind.SIGNED,
                !isUnsigned);
    }
}
