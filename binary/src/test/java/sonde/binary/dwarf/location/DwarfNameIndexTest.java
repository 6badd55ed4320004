package sonde.binary.dwarf.location;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.testkit.Property;

/** Indexes that compilers and linkers make, whole and with bytes changed. */
class DwarfNameIndexTest {
    private static final String COMMANDS_OF_NAMES =
            "clang -g -gdwarf-5 -gpubnames -fno-eliminate-unused-debug-types";
    private static final String COMMANDS_OF_GDB =
            "gcc -g -gdwarf-4 -ggnu-pubnames -fuse-ld=gold -Wl,--gdb-index";

    @TempDir Path folder;

    /** The program; skips the test where its index was not made. */
    private byte[] program(String command, String index) throws IOException, InterruptedException {
        Files.writeString(folder.resolve("a.c"), "struct one { int a; } one; int both_a;");
        Files.writeString(
                folder.resolve("b.c"),
                "struct two { long a, b; } two; enum Kind { X } kind; struct one *p;");
        Files.writeString(folder.resolve("c.c"), "struct one { int a; } three; int main() {}");
        List<String> words = new ArrayList<>(List.of(command.split(" ")));
        words.addAll(List.of("-o", "program", "a.c", "b.c", "c.c"));
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/" + words.getFirst())), words::getFirst);
        Process process =
                new ProcessBuilder(words)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        process.getInputStream().readAllBytes();
        assumeTrue(process.waitFor(60, TimeUnit.SECONDS) && process.exitValue() == 0, command);
        byte[] image = Files.readAllBytes(folder.resolve("program"));
        assumeTrue(ElfFile.of(image).section(index).isPresent(), "no " + index);
        return image;
    }

    private static Set<Long> scanned(DebugEntries entries, String name)
            throws MalformedInputException {
        Set<Long> offsets = new TreeSet<>();
        for (EntryUnit unit : entries.units()) {
            for (DebugEntry child : unit.root().children()) {
                if (child.name().equals(name) && !child.flag(DwarfAttribute.DECLARATION)) {
                    offsets.add(unit.offset);
                }
            }
        }
        return offsets;
    }

    @ParameterizedTest
    @ValueSource(strings = {".debug_names", ".gdb_index"})
    void namesTheUnitsThatDefine(String index) throws IOException, InterruptedException {
        boolean gdb = index.equals(".gdb_index");
        byte[] image = program(gdb ? COMMANDS_OF_GDB : COMMANDS_OF_NAMES, index);
        DebugEntries entries = DebugEntries.read(ElfFile.of(image));
        for (String name : List.of("one", "two", "Kind", "main", "both_a", "kind")) {
            Set<Long> scanned = scanned(entries, name);
            assertThat(DwarfNameIndex.units(entries, name))
                    .as(name)
                    .isNotEmpty()
                    .containsAll(scanned);
            assertThat(entries.unitsFor(name).getFirst().offset).isIn(scanned);
            assertThat(entries.unitsFor(name))
                    .hasSameSizeAs(entries.units())
                    .doesNotHaveDuplicates();
        }
        assertThat(DwarfNameIndex.units(entries, "nobody")).isEmpty();
        assertThat(DwarfNameIndex.units(entries, "größe")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {".debug_names", ".gdb_index"})
    void whatItSaysIsOnlyWhereToLookFirst(String index) throws IOException, InterruptedException {
        boolean gdb = index.equals(".gdb_index");
        byte[] image = program(gdb ? COMMANDS_OF_GDB : COMMANDS_OF_NAMES, index);
        ElfSection section = ElfFile.of(image).section(index).orElseThrow();
        Property.forAll(
                5,
                60,
                random -> {
                    byte[] changed = image.clone();
                    for (int i = 0; i < 1 + random.nextInt(8); i++) {
                        int at = (int) (section.offset() + random.nextLong(section.sizeBytes()));
                        changed[at] = (byte) (random.nextBoolean() ? random.nextInt() : 0xff);
                    }
                    NamedEntries names = new NamedEntries(DebugEntries.read(ElfFile.of(changed)));
                    Set<Integer> structures = Set.of(DwarfTag.STRUCTURE_TYPE);
                    assertThat(bytes(names.type(structures, "one"))).isEqualTo(4);
                    assertThat(bytes(names.type(structures, "two"))).isEqualTo(16);
                    assertThat(names.type(structures, "Kind")).isEmpty();
                });
    }

    private static long bytes(Optional<DebugEntry> type) {
        return type.orElseThrow().constant(DwarfAttribute.BYTE_SIZE, -1);
    }
}
