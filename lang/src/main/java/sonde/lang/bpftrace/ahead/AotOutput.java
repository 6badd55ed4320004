package sonde.lang.bpftrace.ahead;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import sonde.lang.source.SourceSpan;
import sonde.lang.source.SourceText;

/** Numbers little-endian, texts and lists with their length in front. */
final class AotOutput {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final Map<SourceText, Integer> sources = new HashMap<>();

    /** Texts that places may refer to. */
    AotOutput(List<SourceText> known) {
        known.forEach(source -> sources.put(source, sources.size()));
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }

    AotOutput u8(int value) {
        bytes.write(value);
        return this;
    }

    AotOutput flag(boolean value) {
        return u8(value ? 1 : 0);
    }

    AotOutput u32(int value) {
        for (int shift = 0; shift < 32; shift += 8) {
            bytes.write(value >>> shift);
        }
        return this;
    }

    AotOutput u64(long value) {
        return u32((int) value).u32((int) (value >>> 32));
    }

    AotOutput block(byte[] block) {
        u32(block.length);
        bytes.writeBytes(block);
        return this;
    }

    AotOutput text(String text) {
        return block(text.getBytes(StandardCharsets.UTF_8));
    }

    <T> AotOutput list(List<T> list, BiConsumer<AotOutput, T> each) {
        u32(list.size());
        list.forEach(one -> each.accept(this, one));
        return this;
    }

    AotOutput texts(List<String> texts) {
        return list(texts, AotOutput::text);
    }

    /** 1 and the number of a text, where it begins, where it ends; 0 for none. */
    AotOutput span(@Nullable SourceSpan span) {
        Integer source = span == null ? null : sources.get(span.source());
        if (span == null || source == null) {
            return u32(0);
        }
        return u32(source + 1).u32(span.from()).u32(span.to());
    }
}
