package sonde.recording.ftrace;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A text that is written often: eight bytes at a time, which for the few that a listing's pieces
 * have is faster than a copy of an array.
 */
public final class PackedText {
    private static final VarHandle WORD =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final long[] words;
    private final int length;
    private final boolean plain;

    /** A text in UTF-8. */
    public static PackedText of(String text) {
        return new PackedText(text.getBytes(StandardCharsets.UTF_8));
    }

    /** These bytes. */
    public PackedText(byte[] text) {
        byte[] padded = Arrays.copyOf(text, (text.length + 7) / 8 * 8);
        words = new long[padded.length / 8];
        for (int i = 0; i < words.length; i++) {
            words[i] = (long) WORD.get(padded, 8 * i);
        }
        length = text.length;
        TextBuffer look = new TextBuffer(length);
        look.put(text);
        plain = look.isPlain();
    }

    /** Whether it holds printable ASCII, tabs and line feeds only. */
    boolean isPlain() {
        return plain;
    }

    /** Whether it is the same text. */
    boolean isSame(PackedText other) {
        return this == other || length == other.length && Arrays.equals(words, other.words);
    }

    int length() {
        return length;
    }

    /** Bytes that {@link #writeTo} touches. */
    int room() {
        return 8 * words.length;
    }

    /** Writes it, and anything up to the next multiple of eight. */
    void writeTo(byte[] target, int at) {
        long[] all = words;
        for (int i = 0; i < all.length; i++) {
            WORD.set(target, at + 8 * i, all[i]);
        }
    }
}
