package sonde.binary.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.testkit.Property;

class CompressionCodecTest {
    private static final byte[] TEXT = text();

    private static byte[] text() {
        byte[] bytes = new byte[300_000];
        Random random = new Random(7);
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] =
                    i > 5000 && random.nextInt(4) > 0 ? bytes[i - 4999] : (byte) random.nextInt(20);
        }
        return bytes;
    }

    /** Compressed by the program that is the standard for it. */
    private static byte[] packed(CompressionCodec codec, byte[] bytes)
            throws IOException, InterruptedException {
        List<String> command =
                switch (codec) {
                    case ZLIB -> List.of();
                    case GZIP -> List.of("gzip", "-c");
                    case ZSTD -> List.of("zstd", "-c", "-q");
                    case XZ -> List.of("xz", "--check=crc32", "--x86", "--lzma2=dict=32MiB", "-c");
                    case LZMA -> List.of("lzma", "-c");
                    case BZIP2 -> List.of("bzip2", "-c");
                    case LZ4_LEGACY -> List.of("lz4", "-l", "-c", "-q");
                };
        if (command.isEmpty()) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            try (DeflaterOutputStream zlib = new DeflaterOutputStream(out)) {
                zlib.write(bytes);
            }
            return out.toByteArray();
        }
        assumeTrue(
                Files.isExecutable(Path.of("/usr/bin", command.getFirst()))
                        || Files.isExecutable(Path.of("/bin", command.getFirst())),
                "no " + command.getFirst());
        Path file = Files.createTempFile("codec", null);
        try {
            Files.write(file, bytes);
            Process process = new ProcessBuilder(command).redirectInput(file.toFile()).start();
            byte[] out = process.getInputStream().readAllBytes();
            assertThat(process.waitFor()).isZero();
            return out;
        } finally {
            Files.delete(file);
        }
    }

    @ParameterizedTest
    @EnumSource
    void readsWhatTheProgramsWrite(CompressionCodec codec)
            throws IOException, InterruptedException {
        byte[] packed = packed(codec, TEXT);
        try (InputStream in = codec.stream(MemorySegment.ofArray(packed))) {
            assertThat(Arrays.equals(in.readAllBytes(), TEXT)).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource
    void damageIsOneException(CompressionCodec codec) throws IOException, InterruptedException {
        byte[] packed = packed(codec, TEXT);
        Property.forAll(
                100,
                60,
                random -> {
                    byte[] bad = packed.clone();
                    for (int i = random.nextInt(6); i >= 0; i--) {
                        bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
                    }
                    int length = random.nextInt(3) == 0 ? random.nextInt(bad.length) : bad.length;
                    MemorySegment cut = MemorySegment.ofArray(bad).asSlice(0, length);
                    try (InputStream in = codec.stream(cut)) {
                        assertThat(in.readNBytes(TEXT.length * 4)).isNotNull();
                    } catch (MalformedInputException e) {
                        assertThat(e.reason()).isNotEmpty();
                    }
                });
    }

    /**
     * boot.rst: setup_sects at 0x1f1, HdrS at 0x202, payload_offset and payload_length at 0x248.
     */
    private static byte[] bzImage(byte[] payload, int unpackedBytes) {
        int setup = 3;
        int start = (setup + 1) * 512;
        ByteBuffer out =
                ByteBuffer.allocate(start + 100 + payload.length + 4 + 50)
                        .order(ByteOrder.LITTLE_ENDIAN);
        out.put(0x1f1, (byte) setup).putInt(0x202, 0x53726448).putShort(0x206, (short) 0x20f);
        out.putInt(0x248, 100).putInt(0x24c, payload.length + 4);
        out.position(start + 100).put(payload).putInt(unpackedBytes);
        return out.array();
    }

    @ParameterizedTest
    @EnumSource(
            value = CompressionCodec.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"ZLIB"})
    void kernelsComeOutOfTheirBootImages(CompressionCodec codec)
            throws IOException, InterruptedException {
        byte[] image = bzImage(packed(codec, TEXT), TEXT.length);
        try (Input kernel = BootImage.unpack(input(image)).orElseThrow()) {
            byte[] found = kernel.segment().toArray(ValueLayout.JAVA_BYTE);
            assertThat(Arrays.equals(found, TEXT)).isTrue();
        }
    }

    private static Input input(byte[] bytes) {
        return Input.of("vmlinuz", MemorySegment.ofArray(bytes));
    }

    @Test
    void whatIsNoBootImageIsLeftAlone() throws IOException {
        assertThat(BootImage.unpack(input(new byte[2000]))).isEqualTo(Optional.empty());
        assertThat(BootImage.unpack(input(new byte[0]))).isEqualTo(Optional.empty());
        byte[] unknown = bzImage(new byte[100], 0);
        assertThatThrownBy(() -> BootImage.unpack(input(unknown)))
                .isInstanceOf(MalformedInputException.class)
                .hasMessageContaining("unknown way");
    }
}
