package sonde.recording;

/** JSON strings (RFC 8259, section 7). */
public final class JsonString {
    private JsonString() {}

    /** Appends a text in quotes. */
    public static StringBuilder append(StringBuilder out, String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"', '\\' -> out.append('\\').append(c);
                case '\n' -> out.append("\\n");
                case '\t' -> out.append("\\t");
                case '\r' -> out.append("\\r");
                default -> {
                    if (c < ' ' || Character.isSurrogate(c) && !isPaired(text, i)) {
                        out.append(String.format("\\u%04x", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        return out.append('"');
    }

    private static boolean isPaired(String text, int at) {
        return Character.isHighSurrogate(text.charAt(at))
                ? at + 1 < text.length() && Character.isLowSurrogate(text.charAt(at + 1))
                : at > 0 && Character.isHighSurrogate(text.charAt(at - 1));
    }

    /** Appends a number as JSON can have it: what is not finite becomes null. */
    public static StringBuilder append(StringBuilder out, double value) {
        if (!Double.isFinite(value)) {
            return out.append("null");
        }
        if (value == Math.rint(value) && Math.abs(value) < 1L << 53) {
            return out.append((long) value);
        }
        return out.append(value);
    }
}
