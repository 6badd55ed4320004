package sonde.lang.bpftrace.ahead;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/** What {@link AotOutput} wrote, every length checked against what is left. */
final class AotInput {
    private final String name;
    private final ByteBuffer bytes;
    private List<SourceText> sources = List.of();

    AotInput(String name, byte[] bytes) {
        this.name = name;
        this.bytes = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Reads one. */
    @FunctionalInterface
    interface ItemReading<T> {
        T read(AotInput in) throws MalformedInputException;
    }

    MalformedInputException malformed(String field, String found) {
        return new MalformedInputException(name, field, bytes.position(), found);
    }

    void sources(List<SourceText> known) {
        sources = known;
    }

    boolean isAtEnd() {
        return !bytes.hasRemaining();
    }

    private void need(int count, String field) throws MalformedInputException {
        if (count < 0 || count > bytes.remaining()) {
            throw malformed(
                    field,
                    "cut off or damaged: %d bytes wanted, %d left"
                            .formatted(count, bytes.remaining()));
        }
    }

    int u8(String field) throws MalformedInputException {
        need(1, field);
        return bytes.get() & 0xff;
    }

    boolean flag(String field) throws MalformedInputException {
        int value = u8(field);
        if (value > 1) {
            throw malformed(field, value + " for yes or no");
        }
        return value == 1;
    }

    int u32(String field) throws MalformedInputException {
        need(4, field);
        return bytes.getInt();
    }

    long u64(String field) throws MalformedInputException {
        need(8, field);
        return bytes.getLong();
    }

    /** A number with bounds, both included. */
    int number(String field, int least, int most) throws MalformedInputException {
        int value = u32(field);
        if (value < least || value > most) {
            throw malformed(field, value + ", not " + least + " to " + most);
        }
        return value;
    }

    byte[] block(String field) throws MalformedInputException {
        int size = u32(field);
        need(size, field);
        byte[] block = new byte[size];
        bytes.get(block);
        return block;
    }

    String text(String field) throws MalformedInputException {
        return new String(block(field), StandardCharsets.UTF_8);
    }

    /** Each entry takes a byte at least, which bounds their number. */
    <T> List<T> list(String field, ItemReading<T> each) throws MalformedInputException {
        int count = u32(field);
        need(count, field);
        List<T> list = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            list.add(each.read(this));
        }
        return list;
    }

    List<String> texts(String field) throws MalformedInputException {
        return list(field, in -> in.text(field));
    }

    @Nullable SourceSpan span() throws MalformedInputException {
        int source = number("place", 0, sources.size());
        if (source == 0) {
            return null;
        }
        SourceText text = sources.get(source - 1);
        int from = number("place", 0, text.text().length());
        return new SourceSpan(text, from, number("place", from, text.text().length()));
    }

    SourceSpan knownSpan() throws MalformedInputException {
        SourceSpan span = span();
        if (span == null) {
            throw malformed("place", "none");
        }
        return span;
    }

    /** A constant by its name. */
    <E extends Enum<E>> E constant(Class<E> type, String field) throws MalformedInputException {
        String word = text(field);
        for (E one : type.getEnumConstants()) {
            if (one.name().equals(word)) {
                return one;
            }
        }
        throw malformed(field, word.length() > 40 ? "no " + field : word);
    }
}
