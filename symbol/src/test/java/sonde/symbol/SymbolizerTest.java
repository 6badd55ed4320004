package sonde.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.Frame;
import sonde.testkit.ElfWriter;

class SymbolizerTest {
    private static final long BASE = 0x7f0000000000L;
    private static final byte[] ID = {1, 2, 3, 4, 5, 6, 7, 8};

    @TempDir Path folder;

    private final ProcessMaps maps = new ProcessMaps();
    private final Symbolizer symbolizer = symbolizer(maps, SymbolOptions.here());

    /** Of programs alone, by the names that they link to. */
    static Symbolizer symbolizer(ProcessMaps maps, SymbolOptions options) {
        return new Symbolizer(
                maps,
                KernelSymbols::none,
                pid -> new byte[0],
                options,
                FunctionTable.Aliases.LINKED);
    }

    private Frame frame(Path file, byte[] buildId, long fileOffset) {
        maps.mapped(0, 0, new CodeMapping(BASE, 1L << 32, 0, file.toString(), buildId, 0, 0));
        return symbolizer.frame(maps.location(0, BASE + fileOffset));
    }

    private Path elf(ElfWriter writer) throws IOException {
        return Files.write(folder.resolve("libtest.so"), writer.bytes());
    }

    private static ElfWriter writer() {
        long text = ElfWriter.TEXT_ADDRESS;
        return new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 0x400)
                .symbol("outer", text, 0x100, 0x02)
                .symbol("inner", text + 0x40, 0x10, 0x02)
                .symbol("alias_local", text + 0x100, 0x20, 0x02)
                .symbol("__alias", text + 0x100, 0x20, 0x12)
                .symbol("alias_global@@V1", text + 0x100, 0x20, 0x12)
                .symbol("unsized", text + 0x200, 0, 0x10)
                .symbol("_Z3fooi", text + 0x300, 0x10, 0x12)
                .symbol("evil\u001b[31m", text + 0x320, 0x10, 0x12)
                .buildId(ID);
    }

    private String at(Path file, long textOffset) {
        return frame(file, ID, ElfWriter.TEXT_OFFSET + textOffset).name();
    }

    @Test
    void choosesTheInnermostAndBestSymbol() throws IOException {
        Path file = elf(writer());
        assertThat(at(file, 0)).isEqualTo("outer");
        assertThat(at(file, 0x4f)).isEqualTo("inner");
        assertThat(at(file, 0x50)).isEqualTo("outer");
        assertThat(at(file, 0x110)).isEqualTo("alias_global");
        assertThat(at(file, 0x130)).isEqualTo("[libtest.so+0x1330]");
        assertThat(at(file, 0x250)).isEqualTo("unsized");
        assertThat(at(file, 0x305)).isEqualTo("foo(int)");
        assertThat(at(file, 0x325)).isEqualTo("evil?[31m");
        assertThat(frame(file, ID, ElfWriter.TEXT_OFFSET))
                .isEqualTo(new Frame("outer", "libtest.so", Frame.Kind.USER));
    }

    @Test
    void givesNoNamesFromAnotherBuild() throws IOException {
        Path file = elf(writer());
        Frame frame = frame(file, new byte[] {9, 9, 9}, ElfWriter.TEXT_OFFSET);
        assertThat(frame.name()).isEqualTo("[libtest.so+0x200]");
        assertThat(symbolizer.notes())
                .anySatisfy(note ->
                        assertThat(note)
                                .contains("wanted build-id 090909", "found 0102030405060708"));
    }

    @Test
    void givesNoNamesFromAFileChangedSince() throws IOException {
        Path file = elf(writer());
        SymbolOptions options = new SymbolOptions(List.of(), List.of(), true, 1);
        maps.mapped(0, 0, new CodeMapping(BASE, 1 << 20, 0, file.toString()));
        Symbolizer late = symbolizer(maps, options);
        assertThat(late.frame(maps.location(0, BASE + 0x200)).name())
                .isEqualTo("[libtest.so+0x200]");
        assertThat(late.notes()).singleElement().asString().contains("was changed since");
    }

    @Test
    @Timeout(20)
    void survivesFilesThatAreNone() throws Exception {
        Path fifo = folder.resolve("fifo");
        Assumptions.assumeTrue(
                new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor() == 0,
                "no mkfifo here");
        Path sparse = folder.resolve("sparse");
        try (RandomAccessFile file = new RandomAccessFile(sparse.toFile(), "rw")) {
            file.setLength(10L << 30);
        }
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("/etc/passwd"));
        Path text = Files.writeString(folder.resolve("text"), "not an ELF file");
        for (Path path : List.of(fifo, sparse, link, text, Path.of("/dev/full"), folder)) {
            assertThat(frame(path, new byte[0], 0x200).name())
                    .isEqualTo("[" + path.getFileName() + "+0x200]");
        }
        maps.mapped(0, 9, new CodeMapping(BASE, 1 << 20, 0, "/dev/zero"));
        assertThat(symbolizer.frame(maps.location(9, BASE)).module()).isEqualTo("[anon]");
        assertThat(symbolizer.notes()).hasSizeGreaterThanOrEqualTo(6);
    }

    @Test
    void readsSymbolsOfFoldersOfTheUser() throws IOException {
        Path build = Files.createDirectories(folder.resolve("build"));
        Files.write(build.resolve("app"), writer().bytes());
        SymbolOptions options = new SymbolOptions(List.of(build.toString()), List.of(), false, 0);
        maps.mapped(0, 0, new CodeMapping(BASE, 1 << 20, 0, "/opt/gone/app", ID, 0, 0));
        Symbolizer elsewhere = symbolizer(maps, options);
        assertThat(elsewhere.frame(maps.location(0, BASE + 0x200)).name()).isEqualTo("outer");
    }

    @Test
    void namesJitCodeByTheNewestMap() {
        maps.mapped(0, 5, new CodeMapping(BASE, 1 << 20, 0, "//anon"));
        symbolizer.perfMap(5, map("7f0000000010 20 old\n7f0000000040 10 gone\nx y z\n"));
        assertThat(jit(0x10)).isEqualTo("old");
        symbolizer.perfMap(5, map("7f0000000010 20 new\n0x7f0000000018 0x4 inner one\n"));
        assertThat(jit(0x10)).isEqualTo("new");
        assertThat(jit(0x19)).isEqualTo("inner one");
        assertThat(jit(0x1c)).isEqualTo("new");
        assertThat(jit(0x4f)).isEqualTo("[anon+0x7f000000004f]");
        assertThat(jit(0x50)).isEqualTo("[anon+0x7f0000000050]");
    }

    private String jit(long offset) {
        return symbolizer.frame(maps.location(5, BASE + offset)).name();
    }

    private static byte[] map(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void namesTheVdso() {
        Assumptions.assumeTrue(Vdso.ofThisProcess().isPresent(), "no vdso here");
        maps.mapped(0, 0, new CodeMapping(BASE, 0x2000, 0, "[vdso]"));
        long found = 0;
        for (int offset = 0; offset < 0x2000; offset += 16) {
            Frame frame = symbolizer.frame(maps.location(0, BASE + offset));
            found += frame.name().contains("clock_gettime") ? 1 : 0;
        }
        assertThat(found).isPositive();
    }

    @Test
    void knowsWhereStacksEnd() {
        assertThat(StackEnds.isRoot(new Frame("_start", "cat", Frame.Kind.USER))).isTrue();
        assertThat(StackEnds.isRoot(new Frame("__libc_start_main_impl", "", Frame.Kind.USER)))
                .isTrue();
        assertThat(StackEnds.isRoot(new Frame("runtime.goexit.abi0", "", Frame.Kind.USER)))
                .isTrue();
        assertThat(StackEnds.isRoot(new Frame("main", "cat", Frame.Kind.USER))).isFalse();
    }
}
