package sonde.recording.ftrace;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Escapes of C string literals. */
final class CString {
    private CString() {}

    /** The bytes of a literal, given what stands between its quotes. */
    static byte[] unescape(String literal) {
        if (literal.indexOf('\\') < 0) {
            return literal.getBytes(StandardCharsets.UTF_8);
        }
        byte[] raw = literal.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream out = new ByteArrayOutputStream(raw.length);
        for (int i = 0; i < raw.length; i++) {
            if (raw[i] != '\\' || i + 1 == raw.length) {
                out.write(raw[i]);
                continue;
            }
            byte next = raw[++i];
            switch (next) {
                case 'n' -> out.write('\n');
                case 't' -> out.write('\t');
                case 'r' -> out.write('\r');
                case 'x' -> {
                    int value = 0;
                    while (i + 1 < raw.length && Character.digit(raw[i + 1], 16) >= 0) {
                        value = value << 4 | Character.digit(raw[++i], 16);
                    }
                    out.write(value);
                }
                case '0', '1', '2', '3', '4', '5', '6', '7' -> {
                    int value = next - '0';
                    for (int n = 0; n < 2 && i + 1 < raw.length && isOctal(raw[i + 1]); n++) {
                        value = value << 3 | raw[++i] - '0';
                    }
                    out.write(value);
                }
                default -> out.write(next);
            }
        }
        return out.toByteArray();
    }

    private static boolean isOctal(byte b) {
        return b >= '0' && b <= '7';
    }
}
