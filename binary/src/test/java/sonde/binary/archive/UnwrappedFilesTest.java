package sonde.binary.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;

class UnwrappedFilesTest {
    private static final byte[] CONTENT = content();

    @TempDir Path folder;

    private static byte[] content() {
        byte[] bytes = new byte[300_000];
        new Random(7).nextBytes(bytes);
        Arrays.fill(bytes, 100_000, 200_000, (byte) 'a');
        return bytes;
    }

    private static byte[] gzip(byte[] from) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(from);
        }
        return out.toByteArray();
    }

    private static byte[] xz(byte[] from) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream xz = new XZOutputStream(out, new LZMA2Options(0))) {
            xz.write(from);
        }
        return out.toByteArray();
    }

    private static byte[] zip(List<String> names) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(out)) {
            for (String name : names) {
                zip.putNextEntry(new ZipEntry(name));
                zip.write(name.getBytes(StandardCharsets.UTF_8));
            }
        }
        return out.toByteArray();
    }

    /** An LZ4 frame with a literal block, a match into it from the next, and all checksums. */
    private static byte[] lz4() {
        ByteBuffer out = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(0x184d2204).put((byte) 0x5c).put((byte) 0x40); // v1, block sums, size, sum; 64K
        out.putLong(10).put((byte) (xx32(Arrays.copyOfRange(out.array(), 4, 14)) >> 8));
        byte[] plain = {'a', 'b', 'c', 'd'};
        out.putInt(4 | 1 << 31).put(plain).putInt(xx32(plain));
        byte[] match = {0x01, 4, 0, 0x10, 'x'}; // 5 bytes from 4 back; a last literal
        out.putInt(match.length).put(match).putInt(xx32(match));
        out.putInt(0).putInt(xx32("abcdabcdax".getBytes(StandardCharsets.UTF_8)));
        return Arrays.copyOf(out.array(), out.position());
    }

    private static int xx32(byte[] bytes) {
        return XxHash32.of(bytes, 0, bytes.length);
    }

    /** Vectors of xxHash's own tests: XXH32 of texts, seed 0. */
    @Test
    void checksumsOfLz4() {
        assertThat(xx32(new byte[0])).isEqualTo(0x02cc5d05);
        assertThat(xx32("abc".getBytes(StandardCharsets.UTF_8))).isEqualTo(0x32d153ff);
        byte[] text = "Nobody inspects the spammish repetition".getBytes(StandardCharsets.UTF_8);
        assertThat(xx32(text)).isEqualTo(0xe2293b2f);
    }

    @Test
    void lz4Frames() throws IOException {
        byte[] frame = lz4();
        byte[] skipped = {0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9};
        assertThat(text(frame)).isEqualTo("abcdabcdax");
        assertThat(text(concat(frame, skipped, frame))).isEqualTo("abcdabcdaxabcdabcdax");
    }

    @Test
    void damagedLz4GivesWhatStandsBeforeAndSaysSo() throws IOException {
        byte[] frame = lz4();
        for (int at = 15; at < frame.length; at++) {
            byte[] bad = frame.clone();
            bad[at] ^= 1;
            try (UnwrappedFiles unwrapped = unwrap(bad)) {
                assertThat(unwrapped.notes()).as("byte %d", at).hasSize(1);
            } catch (MalformedInputException e) {
                assertThat(e).hasMessageContaining("lz4");
            }
            byte[] cut = Arrays.copyOf(frame, at);
            try (UnwrappedFiles unwrapped = unwrap(cut)) {
                assertThat(unwrapped.notes()).as("cut at %d", at).hasSize(1);
            } catch (MalformedInputException e) {
                assertThat(e).hasMessageContaining("lz4");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bzip2 -k", "lz4 -q", "lz4 -q -l", "lz4 -q -BD -B4 --content-size"})
    void asTheirToolsWrite(String command) throws Exception {
        String tool = command.split(" ")[0];
        assumeTrue(Files.isExecutable(Path.of("/usr/bin", tool)), "no " + tool);
        Files.write(folder.resolve("content"), CONTENT);
        List<String> words = new ArrayList<>(List.of(command.split(" ")));
        words.add("content");
        if (tool.equals("lz4")) {
            words.add("content.lz4");
        }
        String end = tool.equals("lz4") ? ".lz4" : ".bz2";
        byte[] made = made(folder.resolve("content" + end), words.toArray(new String[0]));
        try (UnwrappedFiles unwrapped = unwrap(made)) {
            assertThat(bytes(unwrapped.inputs().getFirst())).isEqualTo(CONTENT);
            assertThat(unwrapped.notes()).isEmpty();
        }
        if (!command.contains("-l")) {
            try (UnwrappedFiles twice = unwrap(concat(made, made))) {
                assertThat(twice.inputs().getFirst().sizeBytes()).isEqualTo(2L * CONTENT.length);
            }
        }
        Random random = new Random(3);
        for (int i = 0; i < 20; i++) {
            byte[] bad =
                    Arrays.copyOf(made, made.length - random.nextInt(2) * random.nextInt(9999));
            bad[14 + random.nextInt(bad.length - 14)] ^= (byte) (1 << random.nextInt(8));
            try (UnwrappedFiles unwrapped = unwrap(bad)) {
                assertThat(unwrapped.inputs()).hasSize(1);
            } catch (MalformedInputException e) {
                assertThat(e).hasMessageContaining(tool);
            }
        }
    }

    private static String text(byte[] from) throws IOException {
        try (UnwrappedFiles unwrapped = unwrap(from)) {
            assertThat(unwrapped.notes()).isEmpty();
            return new String(bytes(unwrapped.inputs().getFirst()), StandardCharsets.UTF_8);
        }
    }

    private static byte[] concat(byte[]... parts) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.write(part);
        }
        return out.toByteArray();
    }

    /** What a program of the system makes of files in the folder. */
    private byte[] made(Path result, String... command) throws Exception {
        Process process =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
        return Files.readAllBytes(result);
    }

    private static UnwrappedFiles unwrap(byte[] bytes) throws IOException {
        return unwrap(bytes, UnwrapLimits.DEFAULT);
    }

    private static UnwrappedFiles unwrap(byte[] bytes, UnwrapLimits limits) throws IOException {
        return UnwrappedFiles.of(Input.of("file", MemorySegment.ofArray(bytes)), limits);
    }

    private static byte[] bytes(Input input) {
        return input.segment().toArray(ValueLayout.JAVA_BYTE);
    }

    private static void assertContent(byte[] wrapped) throws IOException {
        try (UnwrappedFiles unwrapped = unwrap(wrapped)) {
            assertThat(unwrapped.inputs()).hasSize(1);
            assertThat(bytes(unwrapped.inputs().getFirst())).isEqualTo(CONTENT);
            assertThat(unwrapped.inputs().getFirst().name()).isEqualTo("file");
            assertThat(unwrapped.notes()).isEmpty();
            assertThat(unwrapped.isArchive()).isFalse();
        }
    }

    @Test
    void whatIsNotWrappedStays() throws IOException {
        assertContent(CONTENT);
    }

    @Test
    void streamsComeOutWhole() throws Exception {
        assertContent(gzip(CONTENT));
        assertContent(xz(CONTENT));
        assertContent(gzip(xz(CONTENT)));
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/zstd")), "no zstd here");
        Path file = Files.write(folder.resolve("c"), CONTENT);
        assertContent(made(folder.resolve("c.zst"), "zstd", "-q", file.toString()));
    }

    @Test
    void severalMembersAreOneFile() throws Exception {
        byte[] first = gzip(Arrays.copyOf(CONTENT, 1000));
        byte[] second = gzip(Arrays.copyOfRange(CONTENT, 1000, CONTENT.length));
        byte[] both = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        assertContent(both);
    }

    @Test
    void archivesGiveTheirFilesByName() throws Exception {
        String longName = "d".repeat(80) + "/" + "e".repeat(60) + "/" + "f".repeat(60);
        try (UnwrappedFiles zip = unwrap(zip(List.of("a/metadata", "b")))) {
            assertThat(zip.inputs())
                    .extracting(Input::name)
                    .containsExactly("file/a/metadata", "file/b");
            assertThat(bytes(zip.inputs().getFirst())).asString().isEqualTo("a/metadata");
            assertThat(zip.isArchive()).isTrue();
        }
        Files.createDirectories(folder.resolve(longName).getParent());
        Files.writeString(folder.resolve(longName), "long");
        Files.writeString(folder.resolve("short"), "brief");
        for (String form : List.of("gnu", "pax", "ustar")) {
            Path tar = folder.resolve(form + ".tar");
            byte[] archive =
                    made(
                            tar,
                            "tar",
                            "--format=" + form,
                            "-cf",
                            tar.toString(),
                            "short",
                            "d".repeat(80));
            try (UnwrappedFiles files = unwrap(gzip(archive))) {
                assertThat(files.inputs())
                        .extracting(Input::name)
                        .as(form)
                        .containsExactly("file/short", "file/" + longName);
                assertThat(bytes(files.inputs().get(1))).asString().isEqualTo("long");
            }
        }
    }

    @Test
    void aCutStreamGivesWhatItHasAndSaysSo() throws Exception {
        for (byte[] whole : List.of(gzip(CONTENT), xz(CONTENT))) {
            try (UnwrappedFiles cut = unwrap(Arrays.copyOf(whole, whole.length / 2))) {
                byte[] got = bytes(cut.inputs().getFirst());
                assertThat(got.length).isBetween(1000, CONTENT.length - 1);
                assertThat(got).isEqualTo(Arrays.copyOf(CONTENT, got.length));
                assertThat(cut.notes()).singleElement().asString().contains("file", "cut short");
            }
        }
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/zstd")), "no zstd here");
        Path file = Files.write(folder.resolve("c"), CONTENT);
        byte[] zstd = made(folder.resolve("c.zst"), "zstd", "-q", file.toString());
        try (UnwrappedFiles cut = unwrap(Arrays.copyOf(zstd, zstd.length - 10))) {
            assertThat(cut.notes()).singleElement().asString().contains("cut short");
        }
    }

    @Test
    void nothingAtAllIsRefused() {
        byte[] head = {0x1f, (byte) 0x8b, 8, 0, 0, 0};
        assertThatThrownBy(() -> unwrap(head)).isInstanceOf(MalformedInputException.class);
    }

    @Test
    void bombsAreRefused() throws Exception {
        UnwrapLimits tight = new UnwrapLimits(1 << 30, 100, 1 << 20, 10, 2);
        byte[] bomb = gzip(new byte[64 << 20]);
        assertThatThrownBy(() -> unwrap(bomb, tight))
                .isInstanceOf(MalformedInputException.class)
                .hasMessageContaining("bytes and more");
        assertThatThrownBy(() -> unwrap(gzip(gzip(gzip(CONTENT))), tight))
                .hasMessageContaining("more than 2 in one another");
        List<String> many = Arrays.asList("a b c d e f g h i j k".split(" "));
        assertThatThrownBy(() -> unwrap(zip(many), tight)).hasMessageContaining("more than 10");
    }

    /** What follows does not excuse what came out of the first bytes. */
    @Test
    void bombsAreRefusedEarly() throws Exception {
        byte[] content = new byte[48 << 20];
        byte[] rest = new byte[1 << 20];
        new Random(5).nextBytes(rest);
        System.arraycopy(rest, 0, content, content.length - rest.length, rest.length);
        byte[] bomb = gzip(content);
        UnwrapLimits early =
                new UnwrapLimits(1L << 40, 100, 1 << 20, 10, 2, UnwrapLimits.DEFAULT.remedy());
        assertThat(bomb.length * 100L).isGreaterThan(content.length);
        assertThatThrownBy(() -> unwrap(bomb, early))
                .hasMessageMatching(
                        ".*unpacks \\(gzip\\) to [\\d,]+ bytes and more from [\\d,]+;.*")
                .hasMessageContaining("SONDE_UNPACK_MAX=SIZE");
        unwrap(bomb, UnwrapLimits.of("48M"));
        assertThatThrownBy(() -> unwrap(bomb, UnwrapLimits.of("40M")))
                .isInstanceOf(MalformedInputException.class);
        assertThatThrownBy(() -> UnwrapLimits.of("all"))
                .hasMessageContaining("SONDE_UNPACK_MAX=all");
    }

    @Test
    void damageIsTheOnlyThingThatHappens() throws Exception {
        Random random = new Random(11);
        Path tar = folder.resolve("t.tar");
        Files.writeString(folder.resolve("one"), "1");
        byte[] archive = made(tar, "tar", "-cf", tar.toString(), "one");
        byte[] small = Arrays.copyOf(CONTENT, 3000);
        for (byte[] whole : List.of(gzip(small), xz(small), zip(List.of("a", "b")), archive)) {
            for (int i = 0; i < 400; i++) {
                byte[] broken = Arrays.copyOf(whole, 1 + random.nextInt(whole.length));
                for (int flips = random.nextInt(4); flips > 0; flips--) {
                    broken[random.nextInt(broken.length)] ^= (byte) (1 << random.nextInt(8));
                }
                try (UnwrappedFiles unwrapped = unwrap(broken)) {
                    assertThat(unwrapped.inputs()).allMatch(one -> one.sizeBytes() < 1 << 20);
                } catch (MalformedInputException e) {
                    assertThat(e).hasMessageNotContaining("null");
                }
            }
        }
    }
}
