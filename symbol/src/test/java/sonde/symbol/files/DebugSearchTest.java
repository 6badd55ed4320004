package sonde.symbol.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.elf.DebugAltLink;
import sonde.symbol.files.Attempt.AttemptResult;
import sonde.symbol.files.DebugFile.Kind;
import sonde.testkit.ElfWriter;

class DebugSearchTest {
    private static final byte[] ID = HexFormat.of().parseHex("abcdef0123456789");

    @TempDir Path root;

    /** A binary at /opt/app/prog with a build-id, and a debug link when a name is given. */
    private Path binary(byte[] id, @Nullable String link, int crc) throws IOException {
        ElfWriter writer = new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 64);
        if (id.length > 0) {
            writer.buildId(id);
        }
        if (link != null) {
            int length = (link.length() + 4 & ~3) + 4;
            ByteBuffer bytes = writer.buffer(length).put(link.getBytes(StandardCharsets.UTF_8));
            bytes.putInt(length - 4, crc);
            writer.section(".gnu_debuglink", 1, 0, bytes.array());
        }
        return write("opt/app/prog", writer.bytes());
    }

    private static byte[] debug(byte[] id) {
        ElfWriter writer = new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 64);
        if (id.length > 0) {
            writer.buildId(id);
        }
        return writer.section(".debug_info", 1, 0, new byte[32])
                .symbol("main", ElfWriter.TEXT_ADDRESS, 16, 0x12)
                .bytes();
    }

    private Path write(String path, byte[] bytes) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        return Files.write(file, bytes);
    }

    private DebugSearch search(List<Path> user) {
        return new DebugSearch(
                new SearchFolders(
                        user.stream().map(Path::toString).toList(),
                        List.of(root.resolve("sys").toString()),
                        null,
                        true,
                        Optional.empty()));
    }

    private DebugFile find(Path binary, Path... user) {
        return search(List.of(user))
                .debugFile(FilePlace.named(binary.toString()), RequiredContent.DEBUG_INFORMATION);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sys/.build-id/ab/cdef0123456789.debug",
                "sys/.build-id/ab/cdef0123456789/debug",
                "sys/.build-id/ab/cdef0123456789/elf",
                "opt/app/prog.debug",
                "opt/app/.debug/prog.debug",
                "opt/app/.debug/prog",
                "sys/prog.debug",
            })
    void findsADebugFileInTheUsualPlaces(String place) throws IOException {
        Path expected = write(place, debug(ID));
        DebugFile found = find(binary(ID, null, 0));
        assertThat(found.path()).contains(expected);
        assertThat(found.tried().getFirst())
                .isEqualTo(
                        new Attempt(
                                root + "/opt/app/prog",
                                AttemptResult.LACKING,
                                "debugging information"));
        assertThat(found.tried().getLast().outcome()).isEqualTo(AttemptResult.FOUND);
        try (OpenElf file = found.open()) {
            assertThat(file.elf().buildId()).hasValue(ID);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "user/.build-id/ab/cdef0123456789.debug",
                "user/usr/lib/debug/.build-id/ab/cdef0123456789.debug",
                "user/prog.debug",
                "user/prog",
                "user/staging/deep/down/prog",
                "user/work/prog/1.0/.debug/prog",
            })
    void findsADebugFileInFoldersOfTheUser(String place) throws IOException {
        Path expected = write(place, debug(ID));
        DebugFile found = find(binary(ID, null, 0), root.resolve("user"));
        assertThat(found.path()).contains(expected);
    }

    @Test
    void findsAnUnstrippedBinaryUnderASysroot() throws IOException {
        Path binary = binary(ID, null, 0);
        Path expected = write("user" + binary, debug(ID));
        DebugFile found = find(binary, root.resolve("user"));
        assertThat(found.path()).contains(expected);
        assertThat(found.kind()).isEqualTo(Kind.USER_FOLDER);
    }

    @Test
    void aBinaryWithDebuggingInformationIsItsOwnAnswer() throws IOException {
        Path binary = write("opt/app/prog", debug(ID));
        DebugFile found = find(binary);
        assertThat(found.kind()).isEqualTo(Kind.ITSELF);
        assertThat(found.path()).contains(binary);
    }

    @Test
    void aLinkCountsByItsChecksumWhereThereIsNoBuildId() throws IOException {
        byte[] debug = debug(new byte[0]);
        CRC32 crc = new CRC32();
        crc.update(debug);
        Path wrong = write("opt/app/other.dbg", debug(ID));
        Path right = write("opt/app/.debug/other.dbg", debug);
        DebugFile found = find(binary(new byte[0], "other.dbg", (int) crc.getValue()));
        assertThat(found.path()).contains(right);
        assertThat(found.kind()).isEqualTo(Kind.DEBUG_LINK);
        assertThat(found.refusals())
                .anySatisfy(attempt -> {
                    assertThat(attempt.place()).isEqualTo(wrong.toString());
                    assertThat(attempt.detail()).startsWith("wanted checksum ");
                });
    }

    @Test
    void aFileOfAnotherBuildIsRefusedWithBothIds() throws IOException {
        Path other = write("opt/app/prog.debug", debug(new byte[] {1, 2, 3}));
        DebugFile found = find(binary(ID, "prog.debug", 0));
        assertThat(found.isFound()).isFalse();
        assertThat(found.path()).isEmpty();
        assertThat(found.refusals())
                .extracting(Attempt::sentence)
                .contains(
                        other
                                + " is of another build: wanted build-id abcdef0123456789, found"
                                + " 010203");
    }

    @Test
    void whatIsNoElfFileIsSaidToBeDamaged() throws IOException {
        write("opt/app/prog.debug", "no ELF".getBytes(StandardCharsets.UTF_8));
        Files.createDirectories(root.resolve("opt/app/.debug/prog.debug"));
        DebugFile found = find(binary(ID, null, 0));
        assertThat(found.refusals())
                .extracting(Attempt::outcome)
                .contains(AttemptResult.BROKEN, AttemptResult.REFUSED);
    }

    @Test
    void aMissingBinaryIsAnAnswerToo() {
        DebugFile found = find(root.resolve("none"));
        assertThat(found.isFound()).isFalse();
        assertThat(found.tried())
                .containsExactly(new Attempt(root + "/none", AttemptResult.ABSENT, ""));
    }

    @Test
    void onAnotherMachineTheFolderOfTheBinaryIsNotLookedInto() throws IOException {
        write("opt/app/prog.debug", debug(ID));
        SearchFolders away = new SearchFolders(List.of(), List.of(), null, false, Optional.empty());
        DebugFileRequest wanted =
                DebugFileRequest.of(
                        root.resolve("opt/app/prog").toString(),
                        ID,
                        RequiredContent.DEBUG_INFORMATION);
        assertThat(new DebugSearch(away).separate(wanted).isFound()).isFalse();
    }

    @Test
    void findsTheBinaryItselfByItsBuildId() throws IOException {
        Path cached = write("sys/.build-id/ab/cdef0123456789/elf", debug(ID));
        DebugFileRequest gone = DebugFileRequest.of("/nowhere/prog", ID, RequiredContent.ANY);
        assertThat(search(List.of()).binary(gone).path()).contains(cached);
        byte[] padded = Arrays.copyOf(ID, 20);
        Path moved = write("user/nowhere/prog", debug(ID));
        DebugFileRequest asRecorded =
                DebugFileRequest.of("/nowhere/prog", padded, RequiredContent.ANY);
        assertThat(search(List.of(root.resolve("user"))).binary(asRecorded).path()).contains(moved);
    }

    @Test
    void buildIdsAreTheSameAlsoAsPerfHoldsThem() {
        byte[] whole = HexFormat.of().parseHex("0123456789abcdef".repeat(4));
        assertThat(DebugFileRequest.isSame(whole, whole.clone())).isTrue();
        assertThat(DebugFileRequest.isSame(Arrays.copyOf(whole, 20), whole)).isTrue();
        assertThat(DebugFileRequest.isSame(Arrays.copyOf(ID, 20), ID)).isTrue();
        assertThat(DebugFileRequest.isSame(Arrays.copyOf(whole, 16), whole)).isFalse();
        assertThat(DebugFileRequest.isSame(new byte[20], new byte[0])).isFalse();
    }

    @Test
    void findsTheFileThatDwzMade() throws IOException {
        Path owner = write("sys/.build-id/ab/cdef0123456789.debug", debug(ID));
        Path shared = write("sys/.dwz/pkg.debug", debug(new byte[] {7, 7, 7}));
        DebugAltLink link = new DebugAltLink("../../.dwz/pkg.debug", new byte[] {7, 7, 7});
        DebugFile found = search(List.of()).alternate(FilePlace.named(owner.toString()), link);
        assertThat(found.path().orElseThrow().toRealPath()).isEqualTo(shared.toRealPath());
        DebugAltLink other = new DebugAltLink("../../.dwz/pkg.debug", new byte[] {8, 8});
        assertThat(search(List.of()).alternate(FilePlace.named(owner.toString()), other).refusals())
                .anySatisfy(attempt ->
                        assertThat(attempt.detail())
                                .isEqualTo("wanted build-id 0808, found 070707"));
    }

    @Test
    void whatDwzMadeIsLookedForInTheRootOfTheProcess() throws IOException {
        write("box/usr/lib/prog.debug", debug(ID));
        Path shared = write("box/usr/.dwz/pkg.debug", debug(new byte[] {7, 7, 7}));
        FilePlace owner = FilePlace.in(root.resolve("box").toString(), "/usr/lib/prog.debug");
        for (String name : List.of("../.dwz/pkg.debug", "/usr/.dwz/pkg.debug")) {
            DebugAltLink link = new DebugAltLink(name, new byte[] {7, 7, 7});
            DebugFile found = search(List.of()).alternate(owner, link);
            assertThat(found.path().orElseThrow().toRealPath()).isEqualTo(shared.toRealPath());
        }
    }

    @Test
    void findsSplitUnits() throws IOException {
        Path binary = binary(ID, null, 0);
        Path dwp = write("opt/app/prog.dwp", debug(new byte[0]));
        DebugFile none = find(binary);
        assertThat(search(List.of()).splitPackage(FilePlace.named(binary.toString()), none).path())
                .contains(dwp);
        Path dwo = write("user/build/obj/a.dwo", debug(new byte[0]));
        DebugSearch search = search(List.of(root.resolve("user")));
        assertThat(
                        search.splitUnit(FilePlace.named(binary.toString()), "/gone", "obj/a.dwo")
                                .path())
                .contains(dwo);
    }

    @Test
    void findsKernelsAndModules() throws IOException {
        Path vmlinux = write("user/usr/lib/debug/boot/vmlinux-6.1.0", debug(ID));
        KernelSearch search = new KernelSearch(search(List.of(root.resolve("user"))));
        assertThat(search.kernel("6.1.0", ID, RequiredContent.DEBUG_INFORMATION).path())
                .contains(vmlinux);
        assertThat(search.kernel("6.1.0", new byte[] {1, 2}, RequiredContent.SYMBOLS).refusals())
                .anySatisfy(
                        attempt -> assertThat(attempt.detail()).contains("found abcdef0123456789"));
        write(
                "user/lib/modules/6.1.0/modules.dep",
                "kernel/fs/my-fs.ko.gz:\n".getBytes(StandardCharsets.UTF_8));
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(debug(ID));
        }
        Path module = write("user/lib/modules/6.1.0/kernel/fs/my-fs.ko.gz", packed.toByteArray());
        DebugFile found = search.module("my_fs", "6.1.0", ID, RequiredContent.DEBUG_INFORMATION);
        assertThat(found.path()).contains(module);
        try (OpenElf file = found.open()) {
            assertThat(file.isUnpacked()).isTrue();
            assertThat(file.elf().buildId()).hasValue(ID);
        }
    }
}
