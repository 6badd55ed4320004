package sonde.lang.output;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** Writes values byte by byte as they lie in events and maps. */
final class Little {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    static Little bytes() {
        return new Little();
    }

    /** An integer of so many bytes. */
    Little integer(long value, int sizeBytes) {
        for (int i = 0; i < sizeBytes; i++) {
            out.write((int) (value >> 8 * i));
        }
        return this;
    }

    Little i64(long... values) {
        for (long value : values) {
            integer(value, 8);
        }
        return this;
    }

    Little i32(long... values) {
        for (long value : values) {
            integer(value, 4);
        }
        return this;
    }

    Little i8(long... values) {
        for (long value : values) {
            integer(value, 1);
        }
        return this;
    }

    /** A text with zeros up to its size. */
    Little text(String text, int sizeBytes) {
        byte[] encoded = text.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < sizeBytes; i++) {
            out.write(i < encoded.length ? encoded[i] : 0);
        }
        return this;
    }

    Little zeros(int count) {
        for (int i = 0; i < count; i++) {
            out.write(0);
        }
        return this;
    }

    byte[] get() {
        return out.toByteArray();
    }

    static byte[] i64s(long... values) {
        return bytes().i64(values).get();
    }
}
