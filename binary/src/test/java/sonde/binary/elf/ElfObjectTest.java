package sonde.binary.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.dwarf.location.DebugEntries;
import sonde.binary.dwarf.location.LineSearch;
import sonde.binary.dwarf.location.NamedEntries;

/** What compilers and binutils make, for many machines. */
class ElfObjectTest {
    @TempDir Path folder;

    private static ElfFile read(Path file) throws IOException {
        return ElfFile.of(Files.readAllBytes(file));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "x86_64-linux-gnu",
                "i386-linux-gnu",
                "aarch64-linux-gnu",
                "arm-linux-gnueabi",
                "riscv64-linux-gnu",
                "riscv32-linux-gnu",
                "powerpc64-linux-musl",
                "powerpc64le-linux-gnu",
                "powerpc-linux-gnu",
                "s390x-linux-gnu",
                "mips-linux-gnu",
                "mips64-linux-gnuabi64",
                "mips64el-linux-gnuabi64",
                "sparc64-linux-gnu",
                "bpf",
                "hexagon-unknown-linux-musl",
                "m68k-linux-gnu",
                "msp430",
                "ve-linux-gnu",
                "lanai",
            })
    void relocatableFilesAreLinked(String target) throws IOException, InterruptedException {
        for (String version : List.of("-gdwarf-4", "-gdwarf-5")) {
            Path object =
                    ObjectFiles.compile(
                            folder,
                            target + version + ".o",
                            "clang",
                            "--target=" + target,
                            version,
                            "-ffunction-sections",
                            "-c");
            ElfFile elf = read(object).linked();
            ElfSymbols symbols = elf.symbols(ElfFile.SHT_SYMTAB).orElseThrow();
            long second = -1;
            long first = -1;
            for (int i = 0; i < symbols.count(); i++) {
                second = symbols.name(i).equals("second_function") ? symbols.value(i) : second;
                first = symbols.name(i).equals("first_function") ? symbols.value(i) : first;
            }
            assertThat(second).isNotEqualTo(first).isNotNegative();
            NamedEntries names = new NamedEntries(DebugEntries.read(elf));
            assertThat(names.function("second_function")).as(target + version).isPresent();
            LineSearch.Answer line = LineSearch.find(elf, "p.c", ObjectFiles.SECOND_LINE, 0);
            assertThat(line.address().orElse(-1)).isBetween(second, second + 128);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"zlib-gnu", "zlib-gabi", "zstd"})
    void compressedSectionsAreDecompressed(String form) throws IOException, InterruptedException {
        Path object = ObjectFiles.compile(folder, "plain.o", "gcc", "-g", "-c");
        ObjectFiles.must(
                folder, "objcopy", "--compress-debug-sections=" + form, "plain.o", "packed.o");
        ElfFile plain = read(object);
        ElfFile packed = read(folder.resolve("packed.o"));
        int compressed = 0;
        for (ElfSection section : plain.sections()) {
            if (section.name().startsWith(".debug_")) {
                ElfSection other = packed.section(section.name()).orElseThrow();
                compressed += packed.isCompressed(other) ? 1 : 0;
                byte[] expected = plain.content(section).toArray(ValueLayout.JAVA_BYTE);
                byte[] found = packed.content(other).toArray(ValueLayout.JAVA_BYTE);
                assertThat(Arrays.equals(found, expected)).as(section.name()).isTrue();
                assertThat(packed.contentBytes(other)).isEqualTo(section.sizeBytes());
            }
        }
        assertThat(compressed).isPositive();
    }

    @Test
    void miniDebugInfoIsRead() throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/xz")), "no xz");
        Path object = ObjectFiles.compile(folder, "p.o", "gcc", "-c");
        ObjectFiles.must(folder, "xz", "-k", "p.o");
        ObjectFiles.must(
                folder, "objcopy", "--add-section", ".gnu_debugdata=p.o.xz", "p.o", "mini.o");
        ElfFile mini = read(folder.resolve("mini.o")).miniDebugInfo().orElseThrow();
        assertThat(mini.symbols(ElfFile.SHT_SYMTAB).orElseThrow().count())
                .isEqualTo(read(object).symbols(ElfFile.SHT_SYMTAB).orElseThrow().count());
    }

    /** gABI "Section Header Table": more sections than 16 bits count. */
    @Test
    void extendedNumberingIsRead() throws IOException, InterruptedException {
        StringBuilder source = new StringBuilder();
        int count = 70_000;
        for (int i = 0; i < count; i++) {
            source.append(".section .t")
                    .append(i)
                    .append(",\"ax\"\ns")
                    .append(i)
                    .append(":\nnop\n");
        }
        source.append(".globl last\nlast: nop\n");
        Files.writeString(folder.resolve("many.s"), source);
        ObjectFiles.run(folder, List.of("as", "many.s", "-o", "many.o"));
        ElfFile elf = read(folder.resolve("many.o"));
        assertThat(elf.header().sectionCount()).isZero();
        assertThat(elf.sections()).hasSizeGreaterThan(count);
        ElfSymbols symbols = elf.symbols(ElfFile.SHT_SYMTAB).orElseThrow();
        int last = -1;
        for (int i = 0; i < symbols.count(); i++) {
            last = symbols.name(i).equals("last") ? i : last;
        }
        assertThat(elf.sections().get(symbols.section(last)).name()).isEqualTo(".t69999");
        assertThat(symbols.isReserved(last)).isFalse();
    }
}
