package sonde.symbol.demangle;

/**
 * Rust's first scheme (rustc, library/backtrace "legacy"): an Itanium nested name whose last part
 * is {@code h} and 16 hexadecimal digits, special characters as {@code $LT$} and two dots for
 * {@code ::}.
 */
final class RustLegacy {
    private static final int HASH_LENGTH = 17;

    private RustLegacy() {}

    /** The name without its hash; empty when the name is not of this scheme. */
    static String demangle(String name) {
        if (!name.startsWith("_ZN")) {
            return "";
        }
        MangledCursor c = new MangledCursor(name, 3);
        DemangledText out = new DemangledText();
        String last = "";
        while (MangledCursor.isDigit(c.peek())) {
            if (!last.isEmpty()) {
                if (out.length() > 0) {
                    out.add("::");
                }
                part(out, last);
            }
            last = c.identifier();
        }
        if (!c.accept('E') || !isHash(last) || out.length() == 0) {
            return "";
        }
        // LLVM's suffixes: .llvm.123 is no part of the name
        String suffix = c.atEnd() ? "" : name.substring(c.position());
        if (!suffix.isEmpty() && !suffix.startsWith(".")) {
            return "";
        }
        return suffix.isEmpty() || suffix.startsWith(".llvm.")
                ? out.toString()
                : out.add(suffix).toString();
    }

    private static boolean isHash(String part) {
        if (part.length() != HASH_LENGTH || part.charAt(0) != 'h') {
            return false;
        }
        int seen = 0;
        for (int i = 1; i < HASH_LENGTH; i++) {
            int digit = Character.digit(part.charAt(i), 16);
            if (digit < 0 || Character.isUpperCase(part.charAt(i))) {
                return false;
            }
            seen |= 1 << digit;
        }
        // a C++ name may look alike; sixteen random digits have at least five different ones
        return Integer.bitCount(seen) >= 5;
    }

    private static void part(DemangledText out, String part) {
        // a leading _ only keeps the part from beginning with $
        int at = part.startsWith("_$") ? 1 : 0;
        while (at < part.length()) {
            char c = part.charAt(at);
            if (c == '.') {
                boolean two = part.startsWith("..", at);
                out.add(two ? "::" : ".");
                at += two ? 2 : 1;
            } else if (c == '$') {
                int end = part.indexOf('$', at + 1);
                if (end < 0) {
                    throw UnfitNameException.INSTANCE;
                }
                out.add(escape(part.substring(at + 1, end)));
                at = end + 1;
            } else {
                out.add(String.valueOf(c));
                at++;
            }
        }
    }

    private static String escape(String code) {
        return switch (code) {
            case "SP" -> "@";
            case "BP" -> "*";
            case "RF" -> "&";
            case "LT" -> "<";
            case "GT" -> ">";
            case "LP" -> "(";
            case "RP" -> ")";
            case "C" -> ",";
            default -> {
                if (!code.startsWith("u") || code.length() < 2 || code.length() > 7) {
                    throw UnfitNameException.INSTANCE;
                }
                yield Character.toString(scalar(code));
            }
        };
    }

    private static int scalar(String code) {
        int value = 0;
        for (int i = 1; i < code.length(); i++) {
            int digit = Character.digit(code.charAt(i), 16);
            if (digit < 0) {
                throw UnfitNameException.INSTANCE;
            }
            value = value << 4 | digit;
        }
        if (!Character.isValidCodePoint(value) || Character.isISOControl(value)) {
            throw UnfitNameException.INSTANCE;
        }
        return value;
    }
}
