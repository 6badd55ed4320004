package sonde.bpf.verifier;

/** Text of logs and BTF, which is whatever somebody wrote, made harmless for a terminal. */
final class PrintableText {
    private PrintableText() {}

    /** Tabs as blanks, other control characters as {@code \xNN}. */
    static String line(String text) {
        int at = 0;
        while (at < text.length() && !isControl(text.charAt(at))) {
            at++;
        }
        if (at == text.length()) {
            return text;
        }
        StringBuilder out = new StringBuilder(text.length() + 8);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\t') {
                out.append(' ');
            } else if (isControl(c)) {
                out.append("\\x%02x".formatted((int) c));
            } else {
                out.append(c);
            }
        }
        return out.toString();
    }

    private static boolean isControl(char c) {
        return c < 0x20 || c >= 0x7f && c <= 0x9f || c == '\u2028' || c == '\u2029';
    }
}
