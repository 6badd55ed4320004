package sonde.recording.perfdata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.airlift.compress.v3.zstd.ZstdNativeCompressor;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import sonde.binary.ZstdLibrary;
import sonde.sys.ZstdStream;
import sonde.sys.ZstdStream.ZstdStep;

class CompressedRecordsTest {
    private static byte[] compress(byte[] plain) {
        ZstdNativeCompressor zstd = new ZstdNativeCompressor();
        byte[] room = new byte[zstd.maxCompressedLength(plain.length)];
        int size = zstd.compress(plain, 0, plain.length, room, 0, room.length);
        return java.util.Arrays.copyOf(room, size);
    }

    @Test
    void bundledLibraryDecompressesPiecesAsTheSystemsDoes() throws IOException {
        byte[] plain =
                "record after record "
                        .repeat(500)
                        .getBytes(java.nio.charset.StandardCharsets.UTF_8);
        byte[] compressed = compress(plain);
        try (Arena arena = Arena.ofConfined();
                ZstdStream bundled = ZstdLibrary.bundled().stream()) {
            MemorySegment source = arena.allocateFrom(ValueLayout.JAVA_BYTE, compressed);
            MemorySegment target = arena.allocate(plain.length + 100);
            long half = compressed.length / 2;
            ZstdStep first = bundled.decompress(source.asSlice(0, half), target);
            ZstdStep second =
                    bundled.decompress(source.asSlice(half), target.asSlice(first.produced()));
            long size = first.produced() + second.produced();
            assertThat(target.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(plain);
        }
    }

    @Test
    void windowGrowsAndMovesDown() throws IOException {
        byte[] plain = new byte[3 << 20];
        for (int i = 0; i < plain.length; i++) {
            plain[i] = (byte) (i >>> 10);
        }
        try (CompressedRecords records = new CompressedRecords(false)) {
            records.append(MemorySegment.ofArray(compress(plain)));
            assertThat(records.filled()).isEqualTo(plain.length);
            records.next = 2 << 20;
            records.moveDown(2 << 20);
            assertThat(records.next).isZero();
            assertThat(records.filled()).isEqualTo(1 << 20);
            assertThat(records.view().u32(5 << 10)).isEqualTo(0x05050505);
        }
    }

    @Test
    void garbageIsRefused() throws IOException {
        try (CompressedRecords records = new CompressedRecords(false)) {
            assertThatThrownBy(() -> records.append(MemorySegment.ofArray(new byte[100])))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("zstd");
        }
    }
}
